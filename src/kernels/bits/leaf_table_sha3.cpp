// The table product on ARM processors that can XOR three vectors at once (EOR3, of the SHA-3 extension).
#if defined(__aarch64__)

#include "kernels/bits/leaf_kernels.hpp"
#include "kernels/bits/table_kernel.hpp"
#include "kernels/bits/word_sums_kernel.hpp"

namespace heptad::bits {
namespace {

using Words __attribute__((vector_size(16))) = std::uint64_t;
struct Vector : PlainRegister<Words> {};  // the compiler makes EOR3 of x ^ y ^ z under this file's flags

}  // namespace

TableKernels table_kernels_sha3() {
    return {sum_or_add_words<Vector>, table_product<Vector, false>, nullptr, nullptr};
}

}  // namespace heptad::bits

#endif
