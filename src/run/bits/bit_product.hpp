// C = A * B and C (+)= A * B of views in memory: checks, packs, runs, unpacks.
#pragma once

#include "run/bits/bit_plan.hpp"

namespace heptad::bits {

struct BitContext {
    int threads = 1;
    RunHooks hooks = {};
    void* workspace = nullptr;          // of the caller, for multiply_bits() and no other
    std::int64_t workspace_bytes = -1;  // below 0: none was given, and products take memory of their own
};

/// The plan of a product that stays within the context's workspace, or, if it has none, within what is free now: where
/// the levels are not fixed, as many as fit. Throws Error(resource), naming the bytes, where none fits into a workspace
/// of the context.
ProductPlan make_bit_plan(Type algebra, const ProblemSize& size, const BitOptions& options, const BitContext& context);

/// c = a * b, or c (+)= a * b with XOR or OR. Validates; throws Error. Cancelled before the last step, packed products
/// leave c as it was; others leave it undefined.
void multiply_bits(Type algebra, const ConstBitView& a, const ConstBitView& b, const BitView& c, bool accumulate,
                   const BitOptions& options, const BitContext& context);

/// The same, as a plan says. Throws Error(usage) if it is for other sizes. `memory`: plan.workspace_bytes, aligned to
/// 64 bytes; then nothing else is allocated, and a sparse Boolean product goes the way of the others. Null: our own.
void multiply_bits(const ProductPlan& plan, const ConstBitView& a, const ConstBitView& b, const BitView& c,
                   bool accumulate, const RunHooks& hooks, std::uint64_t* memory = nullptr);

/// A product of packed operands: result = left * right. `scratch`: launch.scratch_words().
void multiply_packed(const BitLaunch& launch, const std::uint64_t* left, const std::uint64_t* right,
                     std::uint64_t* result, std::uint64_t* scratch, WorkMeter& meter);

/// Throws Error(input) if C shares a bit with an operand.
void require_apart(const ConstBitView& c, const ConstBitView& operand, const char* name);
/// Throws Error(input) if a view cannot be, such as one whose rows overlap.
void require_view(const ConstBitView& view, const char* name);

/// The three are views of a product, and C lies apart from the other two; or Error(input).
void require_product(const ConstBitView& a, const ConstBitView& b, const ConstBitView& c);

}  // namespace heptad::bits
