// The table product with 512-bit vectors.
#if defined(__x86_64__)

#include "kernels/bits/avx512_vector.hpp"
#include "kernels/bits/boolean_kernel.hpp"
#include "kernels/bits/leaf_kernels.hpp"
#include "kernels/bits/table_kernel.hpp"
#include "kernels/bits/word_sums_kernel.hpp"

namespace heptad::bits {
TableKernels table_kernels_avx512() {
    return {sum_or_add_words<Avx512Vector>, table_product<Avx512Vector, false>, table_product<Avx512Vector, true>,
            add_listed_rows<Avx512Vector>};
}

}  // namespace heptad::bits

#endif
