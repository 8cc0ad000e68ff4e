#include "run/residue/rounded_once.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace heptad {
namespace {

/// A product of two doubles and 184 bits has at most 290 of them; aligned at the top, the larger of two terms lies
/// inside whole, and the smaller one as far as it can matter.
constexpr std::size_t kWords = 10;
using Exact = WideInteger<kWords>;
constexpr int kTop = Exact::kBits - 4;

struct Format {
    int precision, least_exponent, most_exponent;  // bits; of the last place of a subnormal number; of the largest
};
Format format_of(Type type) {
    switch (type) {
        case Type::f64:
            return {53, -1074, 1023};
        case Type::bf16:
            return {8, -133, 127};
        case Type::f16:
            return {11, -24, 15};
        default:
            return {24, -149, 127};
    }
}

struct RoundedTerm {
    Exact magnitude;
    bool negative = false;
    int exponent = 0;  // of its lowest bit

    bool is_zero() const { return magnitude.is_zero(); }
    int top() const { return exponent + magnitude.bit_length(); }
    void times(double factor) {
        int power = 0;
        const double fraction = std::frexp(std::abs(factor), &power);
        const auto significand = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
        Exact product;
        product.add_multiple(magnitude, significand);
        magnitude = product;
        negative = negative != std::signbit(factor);
        exponent += power - 53;
    }
};

RoundedTerm term_of(double x) {
    RoundedTerm term;
    term.magnitude.words[0] = 1;
    term.times(x);
    return term;
}

/// `below`: something smaller than the lowest bit belongs to it.
template <std::size_t Words>
double rounded(const WideInteger<Words>& magnitude, int exponent, bool negative, bool below, Type format) {
    const Format to = format_of(format);
    const int last_place = std::max(exponent + magnitude.bit_length() - to.precision, to.least_exponent);
    const int down = last_place - exponent;
    std::uint64_t significand = down < WideInteger<Words>::kBits ? magnitude.shifted(-down).words[0] : 0;
    const bool half = magnitude.bit(down - 1);
    const bool more = below || magnitude.any_below(down - 1);
    if (half && (more || (significand & 1) != 0)) {
        ++significand;
    }
    double result = std::ldexp(static_cast<double>(significand), last_place);
    if (result >= std::ldexp(1.0, to.most_exponent) * 2) {
        result = std::numeric_limits<double>::infinity();
    }
    return negative ? -result : result;
}

}  // namespace

double rounded_once(double alpha, const ResidueInteger& value, int exponent, double beta, double c, Type format) {
    RoundedTerm larger;
    ResidueInteger magnitude = value;
    larger.negative = value.is_negative();
    if (larger.negative) {
        magnitude.negate();
    }
    if (alpha == 1 && (beta == 0 || c == 0)) {  // the usual case, in fewer words
        return magnitude.is_zero() ? 0 : rounded(magnitude, exponent, larger.negative, false, format);
    }
    larger.magnitude = magnitude.widened<kWords>();
    larger.exponent = exponent;
    larger.times(alpha);
    RoundedTerm smaller = term_of(beta);
    smaller.times(c);
    if (larger.is_zero() || (!smaller.is_zero() && smaller.top() > larger.top())) {
        std::swap(larger, smaller);
    }
    if (larger.is_zero()) {
        return 0;
    }
    const int up = kTop - larger.magnitude.bit_length();
    larger.magnitude = larger.magnitude.shifted(up);
    larger.exponent -= up;
    bool below = false;  // something smaller than the lowest bit belongs to the sum
    if (!smaller.is_zero()) {
        const int by = smaller.exponent - larger.exponent;
        below = by < 0 && smaller.magnitude.any_below(-by);
        const Exact aligned = smaller.magnitude.shifted(by);
        if (larger.negative == smaller.negative) {
            larger.magnitude.add_multiple(aligned, 1);
        } else {
            larger.magnitude.subtract(aligned);
            if (below) {
                Exact one;
                one.words[0] = 1;
                larger.magnitude.subtract(one);
            }
            if (larger.magnitude.is_negative()) {  // of equal tops
                larger.magnitude.negate();
                larger.negative = !larger.negative;
            }
        }
    }
    if (larger.is_zero() && !below) {
        return 0;
    }
    return rounded(larger.magnitude, larger.exponent, larger.negative, below, format);
}

}  // namespace heptad
