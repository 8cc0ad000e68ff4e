// Checks of what a caller hands over, before anything is read or written.
#pragma once

#include <complex>

#include "base/view.hpp"
#include "plan/model/plan.hpp"

namespace heptad {

/// Shapes, strides, types, overlap, scalars. Throws Error(input) or Error(usage) with a sentence.
void validate_product(std::complex<double> alpha, const ConstView& a, const ConstView& b, std::complex<double> beta,
                      const View& c);

/// Of that, the factors: elements of the type; or Error(usage).
void validate_factors(std::complex<double> alpha, std::complex<double> beta, Type type);

/// The plan is for a product of these sizes and this type (already validated); or Error(usage).
void validate_plan_of(const ProductPlan& plan, const ConstView& a, const ConstView& b, double beta);
/// And fits together, as one of a whole product; or Error(usage), Error(input).
void validate_plan(const ProductPlan& plan, const ConstView& a, const ConstView& b, double beta, const View& c);

/// The caller's scratch memory meets none of A, B and C (already validated), or Error(input). Gaps between rows count.
void validate_workspace(const void* memory, std::int64_t bytes, const ConstView& a, const ConstView& b, const View& c);

/// Can A and B be overwritten, one without harm to the other?
bool may_serve_as_scratch(const ConstView& a, const ConstView& b);

/// A quick yes for the common case of real floats in matrices of moderate size, rows or columns side by side, that lie
/// apart. False says nothing: ask validate_product.
bool is_plainly_valid(const ConstView& a, const ConstView& b, const View& c);

/// Do two views share an element? Exact for views with the same strides; otherwise true whenever their ranges meet.
bool may_overlap(const ConstView& x, const ConstView& y);

}  // namespace heptad
