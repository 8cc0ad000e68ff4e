// The 8 x 8 block product by GF2P8AFFINEQB on 512-bit vectors: eight block products per instruction.
#if defined(__x86_64__)

#include "kernels/bits/avx512_vector.hpp"
#include "kernels/bits/block_kernel.hpp"
#include "kernels/bits/block_pack.hpp"
#include "kernels/bits/leaf_kernels.hpp"

namespace heptad::bits {
namespace {

/// Which byte goes where: byte 8 j + i of the result is byte 8 i + j, or 8 (7 - i) + j, of the source.
struct ByteOrder {
    std::uint64_t words[8];
};
constexpr ByteOrder byte_order(bool from_last) {
    ByteOrder order{};
    for (int j = 0; j < 8; ++j) {
        for (int i = 0; i < 8; ++i) {
            const int source = 8 * (from_last ? 7 - i : i) + j;
            order.words[j] |= static_cast<std::uint64_t>(source) << (8 * i);
        }
    }
    return order;
}
constexpr ByteOrder kTransposed = byte_order(false), kTransposedFromLast = byte_order(true);

struct GfniVector : Avx512Vector {
    static Register broadcast(std::uint64_t word) { return _mm512_set1_epi64(static_cast<long long>(word)); }
    static Register product(Register x, Register y) { return _mm512_gf2p8affine_epi64_epi8(x, y, 0); }
    static Register load_halves(const std::uint64_t* p, const std::uint64_t* q) {
        const __m256i first = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
        const __m256i second = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(q));
        return _mm512_inserti64x4(_mm512_castsi256_si512(first), second, 1);
    }
    static void store_low(std::uint64_t* to, Register r) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_castsi512_si256(r));
    }
    static void store_high(std::uint64_t* to, Register r) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_extracti64x4_epi64(r, 1));
    }
    static Register low(Register x, Register y) { return _mm512_unpacklo_epi64(x, y); }
    static Register high(Register x, Register y) { return _mm512_unpackhi_epi64(x, y); }
    template <int... index>
    static Register pick(Register x, Register y) {
        static constexpr std::uint64_t order[8] = {index...};
        return _mm512_permutex2var_epi64(x, load(order), y);
    }
    static Register transposed_bytes(Register r) { return _mm512_permutexvar_epi8(load(kTransposed.words), r); }
    static Register transposed_bytes_from_last(Register r) {
        return _mm512_permutexvar_epi8(load(kTransposedFromLast.words), r);
    }
};

}  // namespace

BlockKernels block_kernels_gfni() {
    return {block_product<GfniVector>, block_product_fused<GfniVector>, pack_full_tile<GfniVector>,
            unpack_full_tile<GfniVector>};
}

}  // namespace heptad::bits

#endif
