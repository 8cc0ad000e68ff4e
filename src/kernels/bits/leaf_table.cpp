// The table product with 128-bit vectors, which every 64-bit processor has.
#include "kernels/bits/boolean_kernel.hpp"
#include "kernels/bits/leaf_kernels.hpp"
#include "kernels/bits/table_kernel.hpp"
#include "kernels/bits/word_sums_kernel.hpp"

namespace heptad::bits {
namespace {

using Words __attribute__((vector_size(16))) = std::uint64_t;
struct Vector : PlainRegister<Words> {};

}  // namespace

TableKernels table_kernels() {
    return {sum_or_add_words<Vector>, table_product<Vector, false>, table_product<Vector, true>,
            add_listed_rows<Vector>};
}

}  // namespace heptad::bits
