// The portable kernels: what the compiler makes of 16-byte vectors for the baseline of any architecture.

#define HEPTAD_VECTOR_BYTES 16
#include "kernels/cpu/microkernel_table.hpp"

namespace heptad::cpu {

const KernelTable& kernels_scalar() {
    static constexpr KernelTable table = kernel_table(
        "scalar", gemm_kernels<float, 4, 2>({128, 256, 2048}), gemm_kernels<double, 4, 2>({128, 192, 1024}),
        gemm_kernels<std::uint32_t, 4, 2>({128, 256, 2048}), gemm_kernels<std::uint64_t, 4, 2>({128, 192, 1024}));
    return table;
}

}  // namespace heptad::cpu
