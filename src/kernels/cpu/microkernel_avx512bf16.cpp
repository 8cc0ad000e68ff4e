// Products of bf16 for x86-64 with AVX-512 and its instructions on bf16 (compiled with these switched on).
//
//   vdpbf16ps:  sum = fma(even a, even b, fma(odd a, odd b, sum)),  below 2^-126 zero
#if defined(__x86_64__)
#define HEPTAD_AVX512
#define HEPTAD_VECTOR_BYTES 64
#include "kernels/cpu/microkernel_pairs.hpp"
#include "kernels/cpu/pack_pairs.hpp"

namespace heptad::cpu {
namespace {

constexpr int pair_rows = 14, pair_vectors = 2, pair_cols = pair_vectors * lanes<float>;

enum class Numbers : std::uint8_t { not_tiny, any };

HEPTAD_INLINE Vector<float> add_pairs(Vector<float> sum, Vector<std::uint32_t> a, Vector<std::uint32_t> b) {
    return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b));
}
HEPTAD_INLINE Vector<float> add_any_pairs(Vector<float> sum, Vector<std::uint32_t> a, Vector<std::uint32_t> b) {
    const Halves x = halves(a), y = halves(b);
    return multiply_add<float>(x.even, y.even, multiply_add<float>(x.odd, y.odd, sum));
}

template <Numbers numbers>
void pair_tile(std::int64_t chunks, const std::uint16_t* a, const std::uint16_t* b, bool add, float* sums,
               std::int64_t row_stride) {
    Array<Array<Vector<float>, pair_vectors>, pair_rows> sum;
    HEPTAD_UNROLL
    for (int i = 0; i < pair_rows; ++i) {
        HEPTAD_UNROLL
        for (int j = 0; j < pair_vectors; ++j) {
            sum[i][j] = add ? load(sums + i * row_stride + j * lanes<float>) : Vector<float>{};
        }
    }
    for (std::int64_t g = 0; g < chunks; ++g) {
        for (std::int64_t p = 0; p < Bf16Kernels::chunk; p += 2) {
            Array<Vector<std::uint32_t>, pair_vectors> y;
            HEPTAD_UNROLL
            for (int j = 0; j < pair_vectors; ++j) {
                y[j] = load_pairs(b + p * pair_cols + 2 * j * lanes<float>);
            }
            HEPTAD_UNROLL
            for (int i = 0; i < pair_rows; ++i) {
                const Vector<std::uint32_t> x = repeat_pair(a + i * Bf16Kernels::chunk + p);
                HEPTAD_UNROLL
                for (int j = 0; j < pair_vectors; ++j) {
                    sum[i][j] =
                        numbers == Numbers::any ? add_any_pairs(sum[i][j], x, y[j]) : add_pairs(sum[i][j], x, y[j]);
                }
            }
        }
        a += pair_rows * Bf16Kernels::chunk;
        b += pair_cols * Bf16Kernels::chunk;
    }
    HEPTAD_UNROLL
    for (int i = 0; i < pair_rows; ++i) {
        HEPTAD_UNROLL
        for (int j = 0; j < pair_vectors; ++j) {
            store(sums + i * row_stride + j * lanes<float>, sum[i][j]);
        }
    }
}

}  // namespace

const Bf16Kernels& kernels_avx512bf16() {
    static constexpr Bf16Kernels kernels =
        bf16_kernels<pair_rows, pair_cols>(pair_tile<Numbers::not_tiny>, pair_tile<Numbers::any>);
    return kernels;
}

}  // namespace heptad::cpu
#endif
