// C = A * B and C (+)= A * B of views in memory: checks, packs, runs, unpacks.
#pragma once

#include "bits/bit_plan.hpp"

namespace heptad::bits {

struct BitContext {
    int threads = 1;
    const CancelToken* cancel = nullptr;  // may be null
};

/// c = a * b, or c (+)= a * b with XOR or OR. Validates; throws Error.
void multiply_bits(Type algebra, const ConstBitView& a, const ConstBitView& b, const BitView& c, bool accumulate,
                   const BitOptions& options, const BitContext& context);

/// The same, as a plan says. Throws Error(usage) if it is for other sizes.
void multiply_bits(const BitPlan& plan, const ConstBitView& a, const ConstBitView& b, const BitView& c, bool accumulate,
                   const CancelToken* cancel);

/// A product of packed operands, as the plan says: result = left * right.
void multiply_packed(const BitPlan& plan, const std::uint64_t* left, const std::uint64_t* right, std::uint64_t* result,
                     const CancelToken* cancel);

/// Throws Error(input) if C shares a bit with an operand.
void require_apart(const ConstBitView& c, const ConstBitView& operand, const char* name);
/// Throws Error(input) if a view cannot be, such as one whose rows overlap.
void require_view(const ConstBitView& view, const char* name);

}  // namespace heptad::bits
