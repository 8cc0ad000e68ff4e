// Products of complex matrices in memory, made of real ones as a plan says. Three ways:
//
//   three products   P = re A re B,  Q = im A im B,  R = (re A + im A)(re B + im B)
//                    C = (P - Q) + i (R - P - Q): three quarters of the arithmetic, with levels inside. Errors are
//                    relative to norms of rows and columns, so not for `strict`; needs finite A and B and sums that do
//                    not overflow, and is otherwise made another way, without levels.
//   one product      C = A B with B expanded to real numbers (base/complex_as_real.hpp): every word keeps its meaning.
//   in place         re A re B, im A im B, re A im B, im A re B where they lie: no memory at all.
#pragma once

#include <functional>

#include "product/memory/product.hpp"

namespace heptad {

/// c = alpha * a * b + beta * c of real numbers. `planned`: as the plan of the real products says, with its workspace;
/// otherwise classically, without any.
using RealMultiply = std::function<RunReport(double alpha, const ConstView& a, const ConstView& b, double beta,
                                             const View& c, void* workspace, const RunHooks& hooks, bool planned)>;

/// c = alpha * a * b + beta * c of c64 or c128; the workspace is as large as the plan says.
/// Preconditions: the plan is for these operands, which were validated.
RunReport multiply_complex(const ProductPlan& plan, const Factor& alpha, const ConstView& a, const ConstView& b,
                           const Factor& beta, const View& c, void* workspace, const RunHooks& hooks,
                           const RealMultiply& multiply);

/// Is nothing left to round after the real product of the second way? Accuracy `exact` needs that.
bool is_rounded_once(const Factor& alpha, const Factor& beta, const View& c);

}  // namespace heptad
