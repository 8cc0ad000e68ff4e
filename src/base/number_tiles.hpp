// What a thread block of a device keeps of every block of an operand by residues, where levels are inside the kernels
// that make bytes of numbers.
#pragma once

namespace heptad {

/// Lines, and places along k, the last few of which keep columns in different banks of shared memory.
inline constexpr int kNumberTileLines = 16, kNumberTilePitch = 64 + 4;

}  // namespace heptad
