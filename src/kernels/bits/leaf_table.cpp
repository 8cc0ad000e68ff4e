// The table product with 128-bit vectors, which every 64-bit processor has.
#include "kernels/bits/boolean_kernel.hpp"
#include "kernels/bits/leaf_kernels.hpp"
#include "kernels/bits/table_kernel.hpp"

namespace heptad::bits {
namespace {

using Words __attribute__((vector_size(16))) = std::uint64_t;
struct Vector : PlainRegister<Words> {};

}  // namespace

void multiply_table(const LeafShape& shape, const LeafPart& part, const std::uint64_t* a, const std::uint64_t* b,
                    std::uint64_t* c, bool accumulate) {
    table_product<Vector, false>(shape, part, a, b, c, accumulate);
}

void multiply_table_boolean(const LeafShape& shape, const LeafPart& part, const std::uint64_t* a,
                            const std::uint64_t* b, std::uint64_t* c, bool accumulate) {
    table_product<Vector, true>(shape, part, a, b, c, accumulate);
}

void add_rows(const ListedOnes& ones, int width, const std::uint64_t* b, const std::uint64_t* reachable,
              std::uint64_t* c, std::uint8_t* open) {
    add_listed_rows<Vector>(ones, width, b, reachable, c, open);
}

}  // namespace heptad::bits
