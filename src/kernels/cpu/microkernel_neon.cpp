// Kernels for 64-bit ARM, all of which have NEON.
#if defined(__aarch64__)
#define HEPTAD_NEON
#define HEPTAD_VECTOR_BYTES 16
#include "kernels/cpu/microkernel_table.hpp"

namespace heptad::cpu {

const KernelTable& kernels_neon() {
    // Tiles fill the 32 registers: 24 sums, 3 of B, 2 to 4 of A.
    static constexpr KernelTable table = kernel_table(
        "neon", gemm_kernels<float, 8, 3>({256, 512, 2040, 2, 72}), gemm_kernels<double, 8, 3>({256, 256, 2040, 3, 72}),
        gemm_kernels<std::uint32_t, 8, 3>({256, 512, 2040, 2}), gemm_kernels<std::uint64_t, 4, 2>({256, 256, 2040, 3}));
    return table;
}

}  // namespace heptad::cpu
#endif
