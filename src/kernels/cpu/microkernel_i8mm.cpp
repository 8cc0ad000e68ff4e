// Kernels for 64-bit ARM with the matrix instructions on bytes (compiled with these switched on): products of i32 by
// limbs, and everything else as for NEON.
#if defined(__aarch64__)
#define HEPTAD_NEON
#define HEPTAD_VECTOR_BYTES 16
#include "base/shared_state.hpp"
#include "kernels/cpu/microkernel_limbs.hpp"

namespace heptad::cpu {
namespace {

KernelTable neon_with_limbs() {
    KernelTable table = kernels_neon();
    GemmKernels<std::uint32_t>& i32 = table.gemm_i32;  // small products stay with NEON
    i32.tile_rows = limb_tile_rows;
    i32.tile_cols = limb_tile_cols;
    i32.block_rows = 252;
    i32.block_depth = 512;
    i32.block_cols = 2040;
    i32.panels_in_l1 = 4;  // as wide as a cache line of C
    i32.depth_unit = limb_depths;
    i32.least_depth = 40;  // below, storing the tiles and the filled-up depth cost more than the loop gains
    i32.shallow = &kernels_neon().gemm_i32;
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
