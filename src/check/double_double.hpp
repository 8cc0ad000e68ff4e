// Sums of products in about 106 bits: an unevaluated pair hi + lo. A product is split exactly into its rounded value
// and its error (by a fused multiply-add, or by splitting the factors where the machine has none), and so is a sum
// (Knuth). The relative error of a sum of k products is about k * 2^-105.
//
// Source: Ogita, Rump, Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26 (2005), algorithm 5.3 (Dot2).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace heptad::check {

struct DoubleDouble {
    double hi = 0, lo = 0;
    double value() const { return hi + lo; }
};

inline double value_of(double x) {
    return x;
}
inline double value_of(const DoubleDouble& x) {
    return x.value();
}

/// The error of the rounded product p = x * y: x * y - p, exactly, away from over- and underflow.
inline double product_error(double x, double y, double p) {
#if defined(__FP_FAST_FMA) || defined(__FMA__) || defined(__ARM_FEATURE_FMA)  // one instruction
    return std::fma(x, y, -p);
#else
    // x = xh + xl, the upper 26 bits of the significand (cut off, so that nothing overflows) and the lower 27. All
    // partial products are exact but xl * yl, which needs 54 bits: an error of 2^-106 of the product at most.
    constexpr std::uint64_t upper = ~std::uint64_t{0x7ffffff};
    const auto xh = std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & upper);
    const auto yh = std::bit_cast<double>(std::bit_cast<std::uint64_t>(y) & upper);
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
