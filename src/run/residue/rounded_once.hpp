// alpha x + beta c, all exact, rounded once to the format of the result: to nearest, ties to even, as IEEE 754 has it
// for one operation. An exact zero is +0.
#pragma once

#include "base/types.hpp"
#include "base/wide_integer.hpp"

namespace heptad {

/// Magnitudes up to 184 bits, with a sign and a power of two.
using ResidueInteger = WideInteger<3>;

/// `value` * 2^`exponent` of the product, `c` the entry that is added; all finite. The result is a double that the
/// format has, or an infinity.
double rounded_once(double alpha, const ResidueInteger& value, int exponent, double beta, double c, Type format);

}  // namespace heptad
