// Kernels for x86-64 with AVX-512 F, BW, VL and DQ (compiled with these switched on).
#if defined(__x86_64__)
#define HEPTAD_AVX512
#define HEPTAD_VECTOR_BYTES 64
#include "kernels/cpu/microkernel_table.hpp"

namespace heptad::cpu {

const KernelTable& kernels_avx512() {
    // Tiles fill the 32 registers: 28 sums, 2 of B, 1 broadcast of A; integers need one more for the products. A panel
    // of B of depth 512 is larger than the L1 cache, but C is read and written less often: with panels asked for ahead
    // 2 to 5 % faster than 384 at n = 2048 on one core of a Sapphire Rapids, which was 4 % faster than 256, in turns
    // with OpenBLAS.
    static constexpr KernelTable table = kernel_table("avx512", gemm_kernels<float, 14, 2>({336, 512, 2048, 1, 128}),
                                                      gemm_kernels<double, 14, 2>({168, 512, 1024, 1, 112}),
                                                      gemm_kernels<std::uint32_t, 12, 2>({336, 256, 3072}),
                                                      gemm_kernels<std::uint64_t, 12, 2>({168, 256, 1024}));
    return table;
}

}  // namespace heptad::cpu
#endif
