// The table product on ARM processors that can XOR three vectors at once (EOR3, of the SHA-3 extension).
#if defined(__aarch64__)

#include "kernels/bits/leaf_kernels.hpp"
#include "kernels/bits/table_kernel.hpp"

namespace heptad::bits {
namespace {

using Words __attribute__((vector_size(16))) = std::uint64_t;
struct Vector : PlainRegister<Words> {};  // the compiler makes EOR3 of x ^ y ^ z under this file's flags

}  // namespace

void multiply_table_sha3(const LeafShape& shape, const LeafPart& part, const std::uint64_t* a, const std::uint64_t* b,
                         std::uint64_t* c, bool accumulate) {
    table_product<Vector, false>(shape, part, a, b, c, accumulate);
}

}  // namespace heptad::bits

#endif
