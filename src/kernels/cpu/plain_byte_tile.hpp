// Products of bytes without instructions of their own: each four bytes of a line become two pairs of 16-bit numbers,
// which every x86-64 and every 64-bit ARM multiplies and adds. Only for microkernel_<set>.cpp.
#pragma once

#include "kernels/cpu/microkernel.hpp"
#include "kernels/cpu/microkernel_vector.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace heptad::cpu {
namespace {

/// Sums of first x * first y + second x * second y, of pairs in 32-bit lanes.
struct PairSums {
    using V = Vector<std::int32_t>;
#if defined(HEPTAD_NEON)
    V lower = {}, upper = {};  // each of two lanes, which lie side by side
    HEPTAD_INLINE void add(V x, V y) {
        const auto x_pairs = reinterpret_cast<int16x8_t>(x), y_pairs = reinterpret_cast<int16x8_t>(y);
        lower = vmlal_s16(lower, vget_low_s16(x_pairs), vget_low_s16(y_pairs));
        upper = vmlal_high_s16(upper, x_pairs, y_pairs);
    }
    HEPTAD_INLINE V total() const {
        return vpaddq_s32(lower, upper);
    }
#else
    V sum = {};
    HEPTAD_INLINE void add(V x, V y) {
#if defined(HEPTAD_AVX512)
        sum += reinterpret_cast<V>(_mm512_madd_epi16(reinterpret_cast<__m512i>(x), reinterpret_cast<__m512i>(y)));
#elif defined(HEPTAD_AVX2)
        sum += reinterpret_cast<V>(_mm256_madd_epi16(reinterpret_cast<__m256i>(x), reinterpret_cast<__m256i>(y)));
#elif defined(__x86_64__)
        sum += reinterpret_cast<V>(_mm_madd_epi16(reinterpret_cast<__m128i>(x), reinterpret_cast<__m128i>(y)));
#else
        sum += (x << 16 >> 16) * (y << 16 >> 16) + (x >> 16) * (y >> 16);
#endif
    }
    HEPTAD_INLINE V total() const {
        return sum;
    }
#endif
};

void plain_tile(std::int64_t chunks, const std::int8_t* a, const std::uint8_t* b, bool add, std::int32_t* sums) {
    using V = Vector<std::int32_t>;
    constexpr int fours = ByteKernels::chunk / 4, panel = ByteKernels::panel;
    constexpr int rows = vector_registers == 32 && sizeof(PairSums) == sizeof(V) ? 8 : 4, cols = 2,
                  width = lanes<std::int32_t>;
    for (std::int64_t g = 0; g < chunks; ++g, a += ByteKernels::chunk_bytes, b += ByteKernels::chunk_bytes) {
        // First and third byte of each four, second and fourth.
        alignas(64) std::int32_t even[panel * fours], odd[panel * fours];
        for (int i = 0; i < panel * fours; i += width) {
            const V four = load_as<V>(a + 4 * i);
            store(even + i, ((four << 24 >> 24) & 0xffff) | (four << 8 >> 24 << 16));
            store(odd + i, ((four << 16 >> 24) & 0xffff) | (four >> 24 << 16));
        }
        for (int i = 0; i < panel; i += rows) {
            for (int j = 0; j < panel; j += cols * width) {
                Array<Array<PairSums, cols>, rows> sum = {};
                for (int p = 0; p < fours; ++p) {
                    HEPTAD_UNROLL
                    for (int v = 0; v < cols; ++v) {
                        const V four = load_as<V>(b + 4 * (p * panel + j + v * width));
                        const V b_even = four & 0xff00ff, b_odd = (four >> 8) & 0xff00ff;
                        HEPTAD_UNROLL
                        for (int r = 0; r < rows; ++r) {
                            const int at = (i + r) * fours + p;
                            sum[r][v].add(broadcast(even[at]), b_even);
                            sum[r][v].add(broadcast(odd[at]), b_odd);
                        }
                    }
                }
                for (int r = 0; r < rows; ++r) {
                    for (int v = 0; v < cols; ++v) {
                        std::int32_t* const to = sums + (i + r) * panel + j + v * width;
                        store(to, add || g > 0 ? load(to) + sum[r][v].total() : sum[r][v].total());
                    }
                }
            }
        }
    }
}

}  // namespace
}  // namespace heptad::cpu
