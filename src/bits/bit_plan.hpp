// What is decided for a product of packed bit matrices: algorithm, levels, leaf and the sizes they are padded to.
#pragma once

#include <string>
#include <vector>

#include <heptad/bits.hpp>

#include "bits/interleave.hpp"
#include "bits/level_runner.hpp"

namespace heptad::bits {

struct BitPlan {
    Type algebra = Type::gf2;
    ProblemSize size;
    const LevelProgram* program = nullptr;  // null: classical
    int levels = 0;
    const Leaf* leaf = nullptr;
    LeafShape shape;  // of a leaf; 2^levels times that is the padded product
    int task_levels = 0;
    int threads = 1;

    PackedShape left() const { return {Role::left, shape.m, shape.k, levels}; }
    PackedShape right() const { return {Role::right, shape.k, shape.n, levels}; }
    PackedShape result() const { return {Role::result, shape.m, shape.n, levels}; }
    LevelJob job(const CancelToken* cancel) const {
        return {program, leaf, shape, levels, task_levels, threads, cancel};
    }
    /// Bytes of packed operands and scratch memory.
    std::int64_t workspace_bytes() const;
    std::string to_string() const;
};

/// Throws Error(usage) for options that cannot be meant and Error(input) for sizes that overflow.
BitPlan make_bit_plan(Type algebra, const ProblemSize& size, const BitOptions& options, int threads);

/// Reads what to_string() printed; the sizes of leaves and the workspace follow from the rest. Throws Error(input).
BitPlan parse_bit_plan(const std::string& text);

/// Plans for the products (...(F1 * F2) * F3...) of a chain whose factors are sizes[0] x sizes[1], sizes[1] x sizes[2]
/// ...: the same levels, leaf and program, one that chains, and leaf sizes with which a result is the next operand.
std::vector<BitPlan> make_chain_plans(Type algebra, const std::vector<std::int64_t>& sizes, const BitOptions& options,
                                      int threads);

}  // namespace heptad::bits
