// What a product of packed bit matrices is carried out with: made from its plan, where it runs.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "kernels/bits/interleave.hpp"
#include "kernels/bits/leaf.hpp"
#include "kernels/bits/level_program.hpp"
#include "plan/model/plan.hpp"
#include "run/work_meter.hpp"

namespace heptad::bits {

inline constexpr int kMostLevels = 12;

/// Bit products of a leaf.
inline double leaf_work(const LeafShape& shape) {
    return static_cast<double>(shape.m) * static_cast<double>(shape.k) * static_cast<double>(shape.n);
}

struct BitLaunch {
    Type algebra = Type::gf2;
    ProblemSize size;
    const LevelProgram* program = nullptr;  // null: classical
    int levels = 0;
    const Leaf* leaf = nullptr;
    LeafShape shape;  // of a leaf; 2^levels times that is the padded product
    int threads = 1;
    int task_levels = 0;  // the topmost so many are made of tasks

    PackedShape left() const { return {Role::left, shape.m, shape.k, levels}; }
    PackedShape right() const { return {Role::right, shape.k, shape.n, levels}; }
    PackedShape result() const { return {Role::result, shape.m, shape.n, levels}; }
    /// Changes of basis of the operands and of the result.
    std::span<const Change> into() const { return changes(&LevelProgram::into); }
    std::span<const Change> out_of() const { return changes(&LevelProgram::out_of); }
    /// What the meter of this product counts up to: bit products of leaves.
    double work() const;
    /// Words beside the packed operands.
    std::int64_t scratch_words() const;

private:
    std::span<const Change> changes(std::vector<Change> LevelProgram::*which) const {
        return program != nullptr ? std::span<const Change>(program->*which) : std::span<const Change>();
    }
};

/// The topmost so many levels are made of tasks: enough that the last ones, when some threads are idle, are a small
/// part.
int task_levels(int threads, int levels);

/// Of a plan that was made here or passed check_bit_plan().
BitLaunch bit_launch(const ProductPlan& plan);
/// The plan that is carried out so, with the bytes that it takes; nothing is predicted. Throws Error(input) for sizes
/// that overflow.
ProductPlan plan_of(const BitLaunch& launch);

/// Throws Error(input) if a plan, which may come from anywhere, is none of packed bits on this processor.
void check_bit_plan(const ProductPlan& plan);

/// What plans of packed bits have in common, here and on devices.
ProductPlan plan_of_leaves(Type algebra, const ProblemSize& size, const LeafShape& leaf, std::vector<LevelPlan> levels);
/// Throws Error(input) unless what a plan says is made into the same one again, whatever is predicted.
void require_same_plan(const ProductPlan& plan, const std::function<ProductPlan()>& make);

}  // namespace heptad::bits
