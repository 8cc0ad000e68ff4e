// Kernels for 64-bit ARM with the matrix instructions on bytes (compiled with these switched on): products of i32 by
// limbs, products of bytes, and everything else as for NEON.
#if defined(__aarch64__)
#define HEPTAD_NEON
#define HEPTAD_VECTOR_BYTES 16
#include "base/shared_state.hpp"
#include "kernels/cpu/microkernel_bytes.hpp"
#include "kernels/cpu/microkernel_limbs.hpp"

namespace heptad::cpu {
namespace {

/// 2 x 2 sums in a register, of two rows of A and two columns of B, eight depths at a time.
void i8mm_tile(std::int64_t chunks, const std::int8_t* a, const std::uint8_t* b, bool add, std::int32_t* sums) {
    constexpr int panel = ByteKernels::panel, rows = 8, cols = 4, chunk = ByteKernels::chunk;
    for (int i = 0; i < panel; i += rows) {
        for (int j = 0; j < panel; j += cols) {
            int32x4_t sum[rows / 2][2] = {};
            for (std::int64_t g = 0; g < chunks; ++g) {
                const std::int8_t* const left = a + g * ByteKernels::chunk_bytes + i * chunk;
                const std::uint8_t* const right = b + g * ByteKernels::chunk_bytes + 4 * j;
                for (int p = 0; p < chunk; p += 8) {
                    // Four depths of four columns, and the next four: eight depths of two columns twice.
                    const uint32x4_t first = vreinterpretq_u32_u8(vld1q_u8(right + p * panel));
                    const uint32x4_t second = vreinterpretq_u32_u8(vld1q_u8(right + (p + 4) * panel));
                    const uint8x16_t lower = vreinterpretq_u8_u32(vzip1q_u32(first, second));
                    const uint8x16_t upper = vreinterpretq_u8_u32(vzip2q_u32(first, second));
                    HEPTAD_UNROLL
                    for (int r = 0; r < rows; r += 2) {
                        const int8x16_t two =
                            vcombine_s8(vld1_s8(left + r * chunk + p), vld1_s8(left + (r + 1) * chunk + p));
                        sum[r / 2][0] = vusmmlaq_s32(sum[r / 2][0], lower, two);
                        sum[r / 2][1] = vusmmlaq_s32(sum[r / 2][1], upper, two);
                    }
                }
            }
            for (int r = 0; r < rows; r += 2) {
                for (int v = 0; v < 2; ++v) {
                    const int32x4_t x = sum[r / 2][v];  // by columns
                    std::int32_t* const to = sums + (i + r) * panel + j + 2 * v;
                    to[0] = x[0] + (add ? to[0] : 0);
                    to[panel] = x[1] + (add ? to[panel] : 0);
                    to[1] = x[2] + (add ? to[1] : 0);
                    to[panel + 1] = x[3] + (add ? to[panel + 1] : 0);
                }
            }
        }
    }
}

KernelTable neon_with_limbs() {
    KernelTable table = kernels_neon();
    table.bytes = byte_kernels("i8mm", i8mm_tile);
    GemmKernels<std::uint32_t>& i32 = table.gemm_i32;  // small products stay with NEON
    i32.tile_rows = limb_tile_rows;
    i32.tile_cols = limb_tile_cols;
    i32.block_rows = 252;
    i32.block_depth = 512;
    i32.block_cols = 2040;
    i32.panels_in_l1 = 4;  // as wide as a cache line of C
    i32.depth_unit = limb_depths;
    i32.least_depth = 40;  // below, storing the tiles and the filled-up depth cost more than the loop gains
    i32.fallback = &kernels_neon().gemm_i32;
    i32.tile = limb_tile;
    i32.pack_a = pack_limbs<limb_tile_rows>;
    i32.pack_b = pack_limbs<limb_tile_cols>;
    return table;
}

}  // namespace

const KernelTable& kernels_i8mm() {
    static constinit Once<KernelTable> table;
    return table.get(neon_with_limbs);
}

}  // namespace heptad::cpu
#endif
