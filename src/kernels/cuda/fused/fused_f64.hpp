// The f64 kernels by the layouts of their operands, and what their launch needs.
#pragma once

namespace heptad::cuda::fused_f64 {

/// Tiles of M are 128 x 128, made 16 of k at a time from a slab of either operand.
inline constexpr int kTile = 128, kStep = 16;
inline constexpr int kSlabBytes = kTile * kStep * 8;
/// Eight warps multiply, four load and add; registers go from these to those where the chip can do that.
inline constexpr int kMultiplying = 256, kLoading = 128, kThreads = kMultiplying + kLoading;
inline constexpr int kMultiplyingRegisters = 200, kLoadingRegisters = 104;
/// A stage holds a slab of either operand. Second terms go to sides of their own and are added from there.
inline constexpr int kStageBytes = 2 * kSlabBytes, kStages = 4, kSides = 3;
/// Slabs whose copies are under way while an earlier one is added up.
inline constexpr int kAhead = 2;
static_assert(kSides > kAhead);
/// Shared memory begins with barriers and the numbers of tiles.
inline constexpr int kHeadBytes = 256;
inline constexpr int kSharedBytes = kHeadBytes + (kStages + kSides) * kStageBytes;

/// Do neighbours lie along k, with C by rows?
const void* kernel_of(bool left_along_depth, bool right_along_depth);

}  // namespace heptad::cuda::fused_f64
