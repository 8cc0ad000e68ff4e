// The shapes of the regular fused f32 kernel: a tile of M per thread block, a part of it in the registers of each
// thread; all threads load and multiply.
#pragma once

#include "kernels/cuda/fused/fused_shape.cuh"

namespace heptad::cuda::fused {

/// How much of k a slab holds: a sector of 32 bytes of each line.
inline constexpr int kDepth = 8;
/// Slabs in shared memory: one is read, the next one is complete, one is being written, and the slowest warp may still
/// read the one before.
inline constexpr int kStages = 4;
/// Lanes of a warp stand 4 down and 8 across; each has thread_rows x thread_cols of M in groups of 4. `background`:
/// atomic updates go on while the next tile is multiplied (a kernel of its own, because the registers of the
/// multiplication turn out worse beside that code).
template <int rows, int cols, int thread_rows, int thread_cols, int resident, bool background = false>
struct RegularShape {
    static constexpr bool kAddsInBackground = background;
    static constexpr int kRows = rows, kCols = cols, kThreadRows = thread_rows, kThreadCols = thread_cols;
    static constexpr int kResident = resident;  // blocks per multiprocessor that are aimed at
    static constexpr int kWarpRows = 4 * thread_rows, kWarpCols = 8 * thread_cols;
    static constexpr int kWarpsAcross = cols / kWarpCols, kWarps = rows / kWarpRows * kWarpsAcross;
    static constexpr int kThreads = 32 * kWarps, kConsumers = kThreads;
    static constexpr int kLeftPitch = rows + kPadding, kRightPitch = cols + kPadding;
    static constexpr int kLeftFloats = kDepth * kLeftPitch, kStageFloats = kLeftFloats + kDepth * kRightPitch;
    /// What a warp has made, on its way to the targets (WarpPart).
    static constexpr int kPartPitch = kWarpCols + 2, kPartFloats = kWarpRows * kPartPitch;
    /// A barrier and the number of the next tile, then the stages and the parts of all warps.
    static constexpr int kHeadBytes = 128;
    static constexpr int kSharedBytes = kHeadBytes + 4 * (kStages * kStageFloats + kWarps * kPartFloats);
    static_assert(rows % kWarpRows == 0 && cols % kWarpCols == 0 && thread_rows % 4 == 0 && thread_cols == 8);
};

}  // namespace heptad::cuda::fused
