// The fused f64 kernel on the tensor cores:  M = (sum of left)(sum of right), then every target = beta * target + g *
// M. Four warps copy terms to shared memory and add them there (fused_f64_feed.cuh, fused_f64_load.cuh); eight warps
// multiply what lies there (fused_f64_multiply.cuh), and at the end of a tile update its targets (fused_f64_store.cuh)
// while the next one is loaded. In one stream of instructions the two would wait for each other.
#include <cuda_runtime.h>

#include "kernels/cuda/device/device_code.cuh"
#include "kernels/cuda/fused/fused_arguments.hpp"
#include "kernels/cuda/fused/fused_f64.hpp"
#include "kernels/cuda/fused/fused_f64_load.cuh"
#include "kernels/cuda/fused/fused_f64_multiply.cuh"
#include "kernels/cuda/fused/fused_pipeline.cuh"

namespace heptad::cuda::fused_f64 {

template <bool left_along_depth, bool right_along_depth>
__global__ void __launch_bounds__(kThreads, 1) fused_kernel(const __grid_constant__ FusedArguments<double> args) {
    if (!should_run(args.guard)) {
        return;
    }
    extern __shared__ __align__(1024) unsigned char memory[];
    constexpr std::uint32_t kPair = 16;  // bytes of two barriers, full and empty
    const std::uint32_t stage_barriers = shared_offset(memory), queue_barriers = stage_barriers + kPair * kStages;
    auto* const numbers = reinterpret_cast<std::int32_t*>(memory + kPair * (kStages + fused::TileQueue::kSlots));
    static_assert(kPair * (kStages + fused::TileQueue::kSlots) + 4 * fused::TileQueue::kSlots <= kHeadBytes);
    if (threadIdx.x == 0) {
        for (std::uint32_t stage = 0; stage < kStages; ++stage) {
            create_barrier(stage_barriers + stage * kPair, kLoading);
            create_barrier(stage_barriers + stage * kPair + 8, kMultiplying);
        }
        for (std::uint32_t slot = 0; slot < fused::TileQueue::kSlots; ++slot) {
            create_barrier(queue_barriers + slot * kPair, 1);
            create_barrier(queue_barriers + slot * kPair + 8, kThreads);
        }
    }
    __syncthreads();
    const std::uint32_t first_stage = stage_barriers + kHeadBytes;
    const fused::TileQueue queue(queue_barriers, numbers);
    if (threadIdx.x >= kMultiplying) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
        asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kLoadingRegisters));
#endif
        Loader<left_along_depth, right_along_depth>(args, first_stage, stage_barriers).run(queue);
    } else {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
        asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kMultiplyingRegisters));
#endif
        multiply_items<left_along_depth, right_along_depth>(args, first_stage, stage_barriers, queue);
    }
}

const void* kernel_of(bool left_along_depth, bool right_along_depth) {
    const auto kernel = left_along_depth    ? (right_along_depth ? fused_kernel<true, true> : fused_kernel<true, false>)
                        : right_along_depth ? fused_kernel<false, true>
                                            : fused_kernel<false, false>;
    return reinterpret_cast<const void*>(kernel);
}

}  // namespace heptad::cuda::fused_f64
