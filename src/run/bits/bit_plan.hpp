// What is decided for a product of packed bit matrices: algorithm, levels, leaf and the sizes they are padded to.
#pragma once

#include <string>
#include <vector>

#include <heptad/bits.hpp>

#include "kernels/bits/interleave.hpp"
#include "run/bits/bit_level_runner.hpp"

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
    double predicted_s = 0;  // of a Boolean product whose rows do not fill up

    PackedShape left() const { return {Role::left, shape.m, shape.k, levels}; }
    PackedShape right() const { return {Role::right, shape.k, shape.n, levels}; }
    PackedShape result() const { return {Role::result, shape.m, shape.n, levels}; }
    /// Changes of basis of the operands and of the result.
    std::span<const Change> into() const { return changes(&LevelProgram::into); }
    std::span<const Change> out_of() const { return changes(&LevelProgram::out_of); }
    LevelJob job(WorkMeter* meter) const { return {program, leaf, shape, levels, task_levels, threads, meter}; }
    /// What the meter of this product counts up to.
    double work() const;
    /// Words beside the packed operands.
    std::int64_t scratch_words() const { return levels > 0 ? bits::scratch_words(job(nullptr)) : 0; }
    /// Bytes of packed operands and scratch memory.
    std::int64_t workspace_bytes() const;
    std::string to_string() const;

private:
    std::span<const Change> changes(std::vector<Change> LevelProgram::*which) const {
        return program != nullptr ? std::span<const Change>(program->*which) : std::span<const Change>();
    }
};

/// Several products one after another.
struct ChainPlan {
    std::vector<BitPlan> plans;
    bool packed = false;  // nothing leaves the packed layout between two products
    double predicted_s = 0;
};

/// Throws Error(usage) for options that cannot be meant and Error(input) for sizes that overflow.
BitPlan make_bit_plan(Type algebra, const ProblemSize& size, const BitOptions& options, int threads);

/// The same with as many levels as pay and stay within so many bytes of workspace; with none where not even those do,
/// as the packed copies of the matrices are needed anyway. A number of levels in the options is kept.
BitPlan make_fitting_bit_plan(Type algebra, const ProblemSize& size, const BitOptions& options, int threads,
                              std::int64_t limit_bytes);

/// Reads what to_string() printed; the sizes of leaves and the workspace follow from the rest. Throws Error(input).
BitPlan parse_bit_plan(const std::string& text);

/// For the products (...(F1 * F2) * F3...) of a chain whose factors are sizes[0] x sizes[1], sizes[1] x sizes[2] ...
/// What is predicted to be the fastest of: products in a basis that chains; products in the usual basis that is
/// left and entered again within the packed layout; separate products. An algorithm in the options leaves the last two.
ChainPlan make_chain_plan(Type algebra, const std::vector<std::int64_t>& sizes, const BitOptions& options, int threads);

}  // namespace heptad::bits
