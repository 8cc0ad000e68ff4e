// The f64 kernels by the layouts of their operands, each pair compiled in a file of its own, and what their launch
// needs.
#pragma once

namespace heptad::cuda::fused_f64 {

/// Tiles of M are 128 x 128, made 16 of k at a time from a slab of either operand.
inline constexpr int kTile = 128, kStep = 16;
inline constexpr int kSlabBytes = kTile * kStep * 8, kStageBytes = 2 * kSlabBytes;
inline constexpr int kThreads = 256;
/// A slab is multiplied, the next one is complete or nearly so, the one after that is being filled, and one more may
/// still be read by warps that are behind.
inline constexpr int kStages = 4;
/// Shared memory begins with a barrier and the number of the next tile.
inline constexpr int kHeadBytes = 128, kSharedBytes = kHeadBytes + kStages * kStageBytes;

const void* kernel_rows_rows();  // left and right in C's orientation: neighbours along k, along n
const void* kernel_rows_cols();  // along k, along k
const void* kernel_cols_rows();  // along m, along n
const void* kernel_cols_cols();  // along m, along k

}  // namespace heptad::cuda::fused_f64
