// Checks of what a caller hands over, before anything is read or written.
#pragma once

#include "base/view.hpp"

namespace heptad {

/// Shapes, strides, types, overlap, scalars. Throws Error(input) or Error(usage) with a sentence.
void validate_product(double alpha, const ConstView& a, const ConstView& b, double beta, const View& c);

/// Do two views share an element? Exact for views with the same strides; otherwise true whenever their ranges meet.
bool may_overlap(const ConstView& x, const ConstView& y);

}  // namespace heptad
