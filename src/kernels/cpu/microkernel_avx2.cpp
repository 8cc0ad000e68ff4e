// Kernels for x86-64 with AVX2 and FMA (compiled with these switched on).
#if defined(__x86_64__)
#define HEPTAD_AVX2
#define HEPTAD_VECTOR_BYTES 32
#include "kernels/cpu/microkernel_table.hpp"

namespace heptad::cpu {

const KernelTable& kernels_avx2() {
    // Tiles fill the 16 registers: 12 sums, 2 of B, 1 broadcast of A.
    static constexpr KernelTable table = kernel_table(
        "avx2", gemm_kernels<float, 6, 2>({144, 256, 3072}), gemm_kernels<double, 6, 2>({72, 256, 1536}),
        gemm_kernels<std::uint32_t, 6, 2>({144, 256, 3072}), gemm_kernels<std::uint64_t, 4, 2>({72, 256, 1536}));
    return table;
}

}  // namespace heptad::cpu
#endif
