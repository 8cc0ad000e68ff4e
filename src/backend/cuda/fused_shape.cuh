// The shapes of the fused f32 kernel: a tile of M per thread block, a part of it in the registers of each thread.
#pragma once

#include <cstdint>

namespace heptad::cuda::fused {

/// Floats after each line of a slab: stores of a transposed slab then meet every bank once.
inline constexpr int kPadding = 4;

/// Lanes of a warp stand 4 down and 8 across; each has thread_rows x thread_cols of M in groups of 4. `depth` is how
/// much of k a slab holds; `resident` the blocks per multiprocessor that registers have to suffice for.
template <int rows, int cols, int thread_rows, int thread_cols, int depth, int steps, int resident>
struct Shape {
    static constexpr int kRows = rows, kCols = cols, kThreadRows = thread_rows, kThreadCols = thread_cols;
    static constexpr int kDepth = depth, kSteps = steps, kResident = resident;
    static constexpr int kWarpRows = 4 * thread_rows, kWarpCols = 8 * thread_cols;
    static constexpr int kWarpsAcross = cols / kWarpCols, kWarps = rows / kWarpRows * kWarpsAcross;
    static constexpr int kThreads = 32 * kWarps;
    static constexpr int kLeftPitch = rows + kPadding, kRightPitch = cols + kPadding;
    /// Two slabs: one is multiplied while the next one comes in.
    static constexpr int kSlabFloats = depth * (kLeftPitch + kRightPitch);
    /// What a warp has made, on its way to the targets.
    static constexpr int kPartPitch = kWarpCols + kPadding, kPartFloats = kWarpRows * kPartPitch;
    static constexpr int kHeadBytes = 128;  // the number of the next tile
    static constexpr int kSharedBytes = kHeadBytes + 4 * (2 * kSlabFloats + kWarps * kPartFloats);
    static_assert(rows % kWarpRows == 0 && cols % kWarpCols == 0 && thread_rows % 4 == 0 && thread_cols % 4 == 0);
    static_assert(depth % 8 == 0 && depth % steps == 0 && rows % 32 == 0 && cols % 32 == 0);
};

}  // namespace heptad::cuda::fused
