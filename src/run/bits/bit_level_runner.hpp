// C = A * B over GF(2), in the interleaved layout and in the basis of a level program: depth first, with
// the temporaries of one branch; on several threads, the products of the topmost levels are tasks, each of which makes
// its own sums of the blocks of A and B and adds its product to the blocks of C (P3 3.7 and 3.12).
#pragma once

#include "run/bits/bit_launch.hpp"

namespace heptad::bits {

/// How many of the last `levels` levels have their sums inside the leaf.
int fused_levels(const LevelProgram& program, const Leaf& leaf, int levels);

/// The operands as pack() made them, of a launch with levels; `scratch` holds launch.scratch_words(). Throws
/// Error(cancelled).
void run_levels(const BitLaunch& launch, const std::uint64_t* a, const std::uint64_t* b, std::uint64_t* c,
                std::uint64_t* scratch, WorkMeter& meter);

}  // namespace heptad::bits
