// The shapes of the fused f32 kernel: a tile of M per thread block, a part of it in the registers of each multiplying
// thread, and warps of their own that load and sum.
#pragma once

#include <cstdint>

namespace heptad::cuda::fused {

/// Floats after each line of a slab: stores of a transposed slab then meet every bank once.
inline constexpr int kPadding = 4;

/// Lanes of a multiplying warp stand 4 down and 8 across; each has thread_rows x thread_cols of M in groups of 4.
/// Registers are moved from the loading to the multiplying warps where the chip can do that (0: they stay).
template <int rows, int cols, int thread_rows, int thread_cols, int producer_warps, int depth, int stages, int resident,
          int consumer_registers, int producer_registers>
struct Shape {
    static constexpr bool kAddsInBackground = false;
    static constexpr int kRows = rows, kCols = cols, kThreadRows = thread_rows, kThreadCols = thread_cols;
    static constexpr int kDepth = depth, kStages = stages;
    static constexpr int kWarpRows = 4 * thread_rows, kWarpCols = 8 * thread_cols;
    static constexpr int kWarpsAcross = cols / kWarpCols;
    static constexpr int kConsumerWarps = rows / kWarpRows * kWarpsAcross, kProducerWarps = producer_warps;
    static constexpr int kConsumers = 32 * kConsumerWarps, kProducers = 32 * kProducerWarps;
    static constexpr int kThreads = kConsumers + kProducers;
    static constexpr int kResident = resident;  // blocks per multiprocessor that are aimed at
    static constexpr int kConsumerRegisters = consumer_registers, kProducerRegisters = producer_registers;
    static constexpr int kLeftPitch = rows + kPadding, kRightPitch = cols + kPadding;
    static constexpr int kStageFloats = depth * (kLeftPitch + kRightPitch);
    /// What a warp has made, on its way to the targets (WarpPart).
    static constexpr int kPartPitch = kWarpCols + 2, kPartFloats = kWarpRows * kPartPitch;
    /// Barriers of the stages and of the tile queue, then its two numbers, the stages, and the parts of all warps.
    static constexpr int kBarrierBytes = 16 * (stages + 2), kHeadBytes = (kBarrierBytes + 8 + 127) / 128 * 128;
    static constexpr int kSharedBytes = kHeadBytes + 4 * (stages * kStageFloats + kConsumerWarps * kPartFloats);
    static_assert(rows % kWarpRows == 0 && cols % kWarpCols == 0 && thread_rows % 4 == 0 && thread_cols == 8);
    static_assert(depth % 8 == 0 && rows % 32 == 0 && cols % 32 == 0);
    static_assert(consumer_registers == 0 || (kConsumerWarps % 4 == 0 && producer_warps % 4 == 0));
};

}  // namespace heptad::cuda::fused
