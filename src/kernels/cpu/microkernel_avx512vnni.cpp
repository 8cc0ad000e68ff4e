// Products of bytes for x86-64 with AVX-512 and its instruction that multiplies and adds four of them (compiled with
// these switched on).
#if defined(__x86_64__)
#define HEPTAD_AVX512
#define HEPTAD_VECTOR_BYTES 64
#include "kernels/cpu/microkernel_bytes.hpp"

namespace heptad::cpu {
namespace {

void vnni_tile(std::int64_t chunks, const std::int8_t* a, const std::uint8_t* b, bool add, std::int32_t* sums) {
    constexpr int panel = ByteKernels::panel, rows = 8, fours = ByteKernels::chunk / 4, width = lanes<std::int32_t>;
    for (int i = 0; i < panel; i += rows) {
        __m512i sum[rows][2];
        HEPTAD_UNROLL
        for (int r = 0; r < rows; ++r) {
            HEPTAD_UNROLL
            for (int v = 0; v < 2; ++v) {
                sum[r][v] = add ? _mm512_loadu_si512(sums + (i + r) * panel + v * width) : _mm512_setzero_si512();
            }
        }
        for (std::int64_t g = 0; g < chunks; ++g) {
            const std::int8_t* const left = a + g * ByteKernels::chunk_bytes + i * ByteKernels::chunk;
            const std::uint8_t* const right = b + g * ByteKernels::chunk_bytes;
            for (int p = 0; p < fours; ++p) {
                const __m512i first = _mm512_loadu_si512(right + p * 4 * panel);
                const __m512i second = _mm512_loadu_si512(right + p * 4 * panel + 64);
                HEPTAD_UNROLL
                for (int r = 0; r < rows; ++r) {
                    const __m512i four =
                        _mm512_set1_epi32(load_as<std::int32_t>(left + r * ByteKernels::chunk + 4 * p));
                    sum[r][0] = _mm512_dpbusd_epi32(sum[r][0], first, four);
                    sum[r][1] = _mm512_dpbusd_epi32(sum[r][1], second, four);
                }
            }
        }
        HEPTAD_UNROLL
        for (int r = 0; r < rows; ++r) {
            HEPTAD_UNROLL
            for (int v = 0; v < 2; ++v) {
                _mm512_storeu_si512(sums + (i + r) * panel + v * width, sum[r][v]);
            }
        }
    }
}

}  // namespace

const ByteKernels& kernels_avx512vnni() {
    static constexpr ByteKernels kernels = byte_kernels("avx512vnni", vnni_tile);
    return kernels;
}

}  // namespace heptad::cpu
#endif
