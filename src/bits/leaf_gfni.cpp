// The 8 x 8 block product by GF2P8AFFINEQB on 512-bit vectors: eight block products per instruction.
#if defined(__x86_64__)

#include <immintrin.h>

#include "bits/block_kernel.hpp"
#include "bits/leaf_kernels.hpp"

namespace heptad::bits {
namespace {

struct GfniVector {
    using Register = __m512i;

    static Register load(const std::uint64_t* from) { return _mm512_loadu_si512(from); }
    static void store(std::uint64_t* to, Register r) { _mm512_storeu_si512(to, r); }
    static Register zero() { return _mm512_setzero_si512(); }
    static Register broadcast(std::uint64_t word) { return _mm512_set1_epi64(static_cast<long long>(word)); }
    static Register product(Register x, Register y) { return _mm512_gf2p8affine_epi64_epi8(x, y, 0); }
    static Register xor3(Register x, Register y, Register z) { return _mm512_ternarylogic_epi64(x, y, z, 0x96); }
};

}  // namespace

void multiply_gfni(const LeafShape& shape, const LeafPart& part, const std::uint64_t* a, const std::uint64_t* b,
                   std::uint64_t* c, bool accumulate) {
    block_product<GfniVector>(shape, part, a, b, c, accumulate);
}

}  // namespace heptad::bits

#endif
