// Products of f32 for x86-64 with AMX (compiled with AVX-512 and it switched on): both factors are sums of three bf16
// (pack_split.hpp), and of their nine products the six that count are added up in f32 by the instruction for bf16:
//
//   a b = ((((a_low b_high + a_mid b_high) + a_mid b_mid) + a_high b_mid) + a_high b_low) + a_high b_high  + e
//   |e| <= |a_mid b_low| + |a_low b_mid| + |a_low b_low| < 2^-24 |a b|,  one rounding of f32 at most
//
// For sums over k, tdpbf16ps adds up 16 even and 16 odd depths on their own, then both to what was there. In a block of
// up to 256 depths a term meets at most 17 + 6 * 8 roundings, 17 + 6 * 5 if k = 129 is all, and one more for alpha and
// for every block: with e fewer than k + 2 for every k that comes here (least_depth), so that the bound of a classical
// product in f32 holds; measured errors are smaller than those of libraries. On two cores of a Sapphire Rapids the
// tiles take three quarters of the time of vectors: six products at sixteen times the rate, less what caches cannot
// deliver.
//
// The instruction takes what is below 2^-126 for zero, so the numbers must be neither tiny nor huge: Magnitudes.
#if defined(__x86_64__)
#define HEPTAD_AVX512
#define HEPTAD_VECTOR_BYTES 64
#include "kernels/cpu/amx_registers.hpp"
#include "kernels/cpu/microkernel_gemm.hpp"
#include "kernels/cpu/pack_split.hpp"

namespace heptad::cpu {
namespace {

constexpr int half_panel = split_panel / 2;
constexpr int plane_bytes = split_plane_size * static_cast<int>(sizeof(std::uint16_t));
constexpr int b_stride_bytes = 2 * register_bytes;

enum Plane : int { high, middle, low };

/// sums (32 x 32, row by row) = a panel * b panel. Registers: 0 to 3 sums, 4 and 5 rows of A, 6 and 7 columns of B.
/// Each step replaces one factor only, and each half of it as soon as it is free.
HEPTAD_INLINE void multiply_split_panels(std::int64_t chunks, const char* a, const char* b, float* sums) {
    constexpr std::int64_t row_bytes = split_panel * sizeof(float);
    const auto upper_a = [&](Plane plane) __attribute__((always_inline)) {
        _tile_loadd(4, a + plane * plane_bytes, register_bytes);
    };
    const auto lower_a = [&](Plane plane) __attribute__((always_inline)) {
        _tile_loadd(5, a + plane * plane_bytes + half_panel * register_bytes, register_bytes);
    };
    const auto left_b = [&](Plane plane) __attribute__((always_inline)) {
        _tile_loadd(6, b + plane * plane_bytes, b_stride_bytes);
    };
    const auto right_b = [&](Plane plane) __attribute__((always_inline)) {
        _tile_loadd(7, b + plane * plane_bytes + register_bytes, b_stride_bytes);
    };
    const auto next_a = [&](Plane plane) __attribute__((always_inline)) {
        upper_a(plane);
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 4, 7);
        lower_a(plane);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
    };
    const auto next_b = [&](Plane plane) __attribute__((always_inline)) {
        left_b(plane);
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(2, 5, 6);
        right_b(plane);
        _tile_dpbf16ps(1, 4, 7);
        _tile_dpbf16ps(3, 5, 7);
    };
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (std::int64_t g = 0; g < chunks; ++g) {
        left_b(high);
        upper_a(low);
        _tile_dpbf16ps(0, 4, 6);
        right_b(high);
        _tile_dpbf16ps(1, 4, 7);
        lower_a(low);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
        next_a(middle);
        next_b(middle);
        next_a(high);
        next_b(low);
        next_b(high);
        a += split_planes * plane_bytes;
        b += split_planes * plane_bytes;
    }
    asm volatile("" ::: "memory");  // the intrinsics do not say that they read and write memory
    _tile_stored(0, sums, row_bytes);
    _tile_stored(1, sums + half_panel, row_bytes);
    _tile_stored(2, sums + half_panel * split_panel, row_bytes);
    _tile_stored(3, sums + half_panel * split_panel + half_panel, row_bytes);
    asm volatile("" ::: "memory");
}

void split_tile(std::int64_t k, const float* a, const float* b, float alpha, float beta, float* c,
                std::int64_t c_row_stride) {
    for (int i = 0; i < split_panel; ++i) {
        __builtin_prefetch(c + i * c_row_stride, 1);
        __builtin_prefetch(c + i * c_row_stride + lanes<float>, 1);
        __builtin_prefetch(c + i * c_row_stride + split_panel - 1, 1);
    }
    alignas(64) float sums[split_panel * split_panel];
    asm volatile("" ::: "memory");
    multiply_split_panels(k / split_chunk, reinterpret_cast<const char*>(a), reinterpret_cast<const char*>(b), sums);
    for (int i = 0; i < split_panel; ++i) {
        for (int j = 0; j < split_panel; j += lanes<float>) {
            update(c + i * c_row_stride + j, load(sums + i * split_panel + j), alpha, beta);
        }
    }
}

/// Nothing that counts is below 2^-126, and no sum overflows: products of two parts are multiples of 2^-46 of their
/// numbers' product, and sums of these are, too. Blocks of zeros are of any magnitude.
bool is_moderate(const Magnitudes& a, const Magnitudes& b) {
    constexpr int least_product = -126 + 46, largest_product = 100;
    return can_be_split(a) && can_be_split(b) && exponent_of(a.least) + exponent_of(b.least) >= least_product &&
           exponent_of(a.largest) + exponent_of(b.largest) <= largest_product;
}

}  // namespace

GemmKernels<float> kernels_amx_f32(const GemmKernels<float>& of_vectors) {
    GemmKernels<float> kernels = of_vectors;  // small products stay what they are
    kernels.fallback = &of_vectors;
    kernels.least_depth = kernels.small_side + 1;  // so that an element does not depend on its tile's other sizes
    kernels.takes = is_moderate;
    kernels.begin = configure_tiles;
    kernels.end = release_tiles;
    kernels.tile_rows = split_panel;
    kernels.tile_cols = split_panel;
    kernels.depth_unit = split_chunk;
    kernels.packed_bytes = split_planes * static_cast<int>(sizeof(std::uint16_t));
    kernels.block_rows = 256;
    kernels.block_depth = 256;
    kernels.block_cols = 768;  // B stays in the L2 cache: read from the L3, 16 threads were a third slower (n = 4096)
    kernels.panels_in_l1 = 1;
    kernels.tile = split_tile;
    kernels.pack_a = pack_split<true>;
    kernels.pack_b = pack_split<false>;
    return kernels;
}

}  // namespace heptad::cpu
#endif
