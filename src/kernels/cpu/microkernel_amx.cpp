// Products of bf16 for x86-64 with AMX, whose registers hold 16 x 16 sums, beside AVX-512 (compiled with these switched
// on).
//
//   tdpbf16ps, for each sum:  even = odd = 0
//                             for 16 pairs:  even = fma(even a, even b, even),  odd = fma(odd a, odd b, odd)
//                             sum = sum + (even + odd),  below 2^-126 zero throughout
#if defined(__x86_64__)
#define HEPTAD_AVX512
#define HEPTAD_VECTOR_BYTES 64
#include "kernels/cpu/amx_registers.hpp"
#include "kernels/cpu/microkernel_pairs.hpp"
#include "kernels/cpu/pack_pairs.hpp"

namespace heptad::cpu {
namespace {

// Four tiles of sums, two of A and two of B: all eight registers.
constexpr int amx_rows = 2 * register_rows, amx_cols = 2 * register_bytes / 4;

void amx_tile(std::int64_t chunks, const std::uint16_t* a, const std::uint16_t* b, bool add, float* sums,
              std::int64_t row_stride) {
    const std::int64_t stride_bytes = row_stride * static_cast<std::int64_t>(sizeof(float));
    constexpr int b_stride_bytes = 2 * register_bytes;
    float* const lower = sums + register_rows * row_stride;
    constexpr int half = register_bytes / 4;
    asm volatile("" ::: "memory");
    if (add) {
        _tile_loadd(0, sums, stride_bytes);
        _tile_loadd(1, sums + half, stride_bytes);
        _tile_loadd(2, lower, stride_bytes);
        _tile_loadd(3, lower + half, stride_bytes);
    } else {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
    }
    for (std::int64_t g = 0; g < chunks; ++g) {
        _tile_loadd(6, b, b_stride_bytes);
        _tile_loadd(4, a, register_bytes);
        _tile_dpbf16ps(0, 4, 6);
        _tile_loadd(7, b + 2 * half, b_stride_bytes);
        _tile_dpbf16ps(1, 4, 7);
        _tile_loadd(5, a + register_rows * Bf16Kernels::chunk, register_bytes);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
        a += amx_rows * Bf16Kernels::chunk;
        b += amx_cols * Bf16Kernels::chunk;
    }
    _tile_stored(0, sums, stride_bytes);
    _tile_stored(1, sums + half, stride_bytes);
    _tile_stored(2, lower, stride_bytes);
    _tile_stored(3, lower + half, stride_bytes);
    asm volatile("" ::: "memory");
}

/// The same by vectors of f32.
void amx_tile_of_any_numbers(std::int64_t chunks, const std::uint16_t* a, const std::uint16_t* b, bool add, float* sums,
                             std::int64_t row_stride) {
    constexpr int rows = 4, vectors = amx_cols / lanes<float>;  // sums at a time: few enough for the registers
    for (int i = 0; i < amx_rows; i += rows) {
        for (std::int64_t g = 0; g < chunks; ++g) {
            const std::uint16_t* const left = a + (g * amx_rows + i) * Bf16Kernels::chunk;
            const std::uint16_t* const right = b + g * amx_cols * Bf16Kernels::chunk;
            Array<Array<Halves, vectors>, rows> sum = {};
            for (std::int64_t p = 0; p < Bf16Kernels::chunk; p += 2) {
                HEPTAD_UNROLL
                for (int j = 0; j < vectors; ++j) {
                    const Halves y = halves(load_pairs(right + p * amx_cols + 2 * j * lanes<float>));
                    HEPTAD_UNROLL
                    for (int r = 0; r < rows; ++r) {
                        const Halves x = halves(repeat_pair(left + r * Bf16Kernels::chunk + p));
                        sum[r][j].even = multiply_add<float>(x.even, y.even, sum[r][j].even);
                        sum[r][j].odd = multiply_add<float>(x.odd, y.odd, sum[r][j].odd);
                    }
                }
            }
            for (int r = 0; r < rows; ++r) {
                for (int j = 0; j < vectors; ++j) {
                    float* const to = sums + (i + r) * row_stride + j * lanes<float>;
                    const Vector<float> before = add || g > 0 ? load(to) : Vector<float>{};
                    store(to, before + (sum[r][j].even + sum[r][j].odd));
                }
            }
        }
    }
}

constexpr Bf16Kernels kernels_of_tiles() {
    Bf16Kernels kernels = bf16_kernels<amx_rows, amx_cols>(amx_tile, amx_tile_of_any_numbers);
    kernels.may_use = ask_for_tiles;
    kernels.begin = configure_tiles;
    kernels.end = release_tiles;
    return kernels;
}

}  // namespace

const Bf16Kernels& kernels_amx() {
    static constexpr Bf16Kernels kernels = kernels_of_tiles();
    return kernels;
}

}  // namespace heptad::cpu
#endif
