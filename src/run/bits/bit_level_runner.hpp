// C = A * B or C ^= A * B over GF(2), in the interleaved layout and in the basis of a level program: depth first, with
// the temporaries of one branch; on several threads, the products of the topmost levels are tasks, each of which makes
// its own sums of the blocks of A and B and adds its product to the blocks of C (P3 3.7 and 3.12).
#pragma once

#include "base/thread_pool.hpp"
#include "kernels/bits/leaf.hpp"
#include "kernels/bits/level_program.hpp"
#include "run/bits/work_meter.hpp"

namespace heptad::bits {

struct LevelJob {
    const LevelProgram* program = nullptr;
    const Leaf* leaf = nullptr;
    LeafShape shape;      // of a leaf
    int levels = 0;       // at least 1
    int task_levels = 0;  // the topmost so many are made of tasks
    int threads = 1;
    WorkMeter* meter = nullptr;  // counts leaf products
};

/// Bit products of a leaf: the unit of the meter.
inline double leaf_work(const LeafShape& shape) {
    return static_cast<double>(shape.m) * static_cast<double>(shape.k) * static_cast<double>(shape.n);
}

/// How many of the last `levels` levels have their sums inside the leaf.
int fused_levels(const LevelProgram& program, const Leaf& leaf, int levels);

/// Words of scratch memory that run_levels() wants.
std::int64_t scratch_words(const LevelJob& job);

/// The operands as pack() made them; `scratch` holds scratch_words(). Throws Error(cancelled).
void run_levels(const LevelJob& job, const std::uint64_t* a, const std::uint64_t* b, std::uint64_t* c, bool accumulate,
                std::uint64_t* scratch);

}  // namespace heptad::bits
