// Sums of products in about 106 bits: an unevaluated pair hi + lo. A product is split exactly into its rounded value
// and its error (by a fused multiply-add, or Dekker's splitting where the machine has none), and so is a sum (Knuth).
// The relative error of a sum of k products is about k * 2^-105.
//
// Source: Ogita, Rump, Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26 (2005), algorithm 5.3 (Dot2).
#pragma once

#include <cmath>

namespace heptad::check {

struct DoubleDouble {
    double hi = 0, lo = 0;
    double value() const { return hi + lo; }
};

/// The error of the rounded product p = x * y: x * y - p, exactly, away from over- and underflow.
inline double product_error(double x, double y, double p) {
#if defined(__FP_FAST_FMA)
    return std::fma(x, y, -p);
#else
    // x = xh + xl with 26 bits each. The factor is 2^27 + 1; |x| above 2^996 overflows and gives a NaN, which a check
    // reports as not verifiable.
    const double xc = 134217729.0 * x, yc = 134217729.0 * y;
    const double xh = xc - (xc - x), yh = yc - (yc - y);
    const double xl = x - xh, yl = y - yh;
    return xl * yl - (((p - xh * yh) - xl * yh) - xh * yl);
#endif
}

/// sum += x * y, where y is a pair.
inline void add_product(DoubleDouble& sum, double x, double y_hi, double y_lo) {
    const double p = x * y_hi;
    const double low = product_error(x, y_hi, p) + x * y_lo;
    const double s = sum.hi + p;
    const double back = s - sum.hi;
    sum.lo += ((sum.hi - (s - back)) + (p - back)) + low;
    sum.hi = s;
}
inline void add_product(DoubleDouble& sum, double x, double y) {
    const double p = x * y;
    const double low = product_error(x, y, p);
    const double s = sum.hi + p;
    const double back = s - sum.hi;
    sum.lo += ((sum.hi - (s - back)) + (p - back)) + low;
    sum.hi = s;
}

}  // namespace heptad::check
