// The f64 kernels by the layouts of their operands, each pair compiled in a file of its own, and what their launch
// needs.
#pragma once

#include <cstdint>

namespace heptad::cuda::fused_f64 {

/// Tiles of M are 128 x 128, made 16 of k at a time from a slab of either operand.
inline constexpr int kTile = 128, kStep = 16;
inline constexpr int kSlabBytes = kTile * kStep * 8, kStageBytes = 2 * kSlabBytes;
inline constexpr int kThreads = 256;
/// Shared memory begins with the barriers of the stages and of the tile queue and its two numbers.
inline constexpr int kHeadBytes = 1024, kMostStages = 5, kLeastStages = 3;

const void* kernel_rows_rows(int terms);  // left and right in C's orientation: neighbours along k, along n
const void* kernel_rows_cols(int terms);  // along k, along k
const void* kernel_cols_rows(int terms);  // along m, along n
const void* kernel_cols_cols(int terms);  // along m, along k

}  // namespace heptad::cuda::fused_f64
