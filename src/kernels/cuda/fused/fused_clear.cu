#include "kernels/cuda/fused/fused_clear.hpp"

#include <algorithm>

#include "kernels/cuda/device/device_code.cuh"
#include "kernels/cuda/device/launch_order.cuh"

namespace heptad::cuda {
namespace {

constexpr int kThreads = 256;

/// blockIdx.y: which block of C.
__global__ void __launch_bounds__(kThreads) clear(const __grid_constant__ FusedClearing args) {
    let_next_launch_begin();
    if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0) {
        if (args.counter != nullptr) {
            *args.counter = 0;
        }
        if (args.words != nullptr) {
            *args.words = GuardWords{};
        }
    }
    if (static_cast<int>(blockIdx.y) >= args.block_count || !should_run(args.guard)) {
        return;
    }
    const FusedClearing::Block& block = args.blocks[blockIdx.y];
    const bool wide = reinterpret_cast<std::uintptr_t>(block.data) % 16 == 0 && block.line_words % 4 == 0;
    const std::int64_t fours = wide ? block.row_words / 4 : 0;
    for (std::int64_t row = blockIdx.x; row < block.rows; row += gridDim.x) {
        std::uint32_t* const line = block.data + row * block.line_words;
        for (std::int64_t i = threadIdx.x; i < fours; i += kThreads) {
            reinterpret_cast<uint4*>(line)[i] = make_uint4(0, 0, 0, 0);
        }
        for (std::int64_t i = 4 * fours + threadIdx.x; i < block.row_words; i += kThreads) {
            line[i] = 0;
        }
    }
}

}  // namespace

DeviceStatus launch_clearing(const FusedClearing& clearing, StreamHandle stream) {
    std::int64_t rows = 1;
    for (int i = 0; i < clearing.block_count; ++i) {
        rows = std::max(rows, clearing.blocks[i].rows);
    }
    constexpr std::int64_t kMostBlocks = 2048;
    const int across = std::max(clearing.block_count, 1);
    const auto down = static_cast<unsigned>(std::clamp<std::int64_t>(rows, 1, kMostBlocks / across));
    clear<<<dim3(down, static_cast<unsigned>(across)), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(clearing);
    return cudaGetLastError();
}

}  // namespace heptad::cuda
