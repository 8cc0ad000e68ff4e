// Exact rational numbers with 64-bit parts; an operation that would overflow throws Error(input).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heptad {

class Rational {
public:
    constexpr Rational() = default;
    constexpr Rational(std::int64_t integer)
        : numerator_(integer) {}                                 // NOLINT(google-explicit-constructor): 1 is a Rational
    Rational(std::int64_t numerator, std::int64_t denominator);  // reduced; denominator != 0

    std::int64_t numerator() const { return numerator_; }
    std::int64_t denominator() const { return denominator_; }  // > 0

    friend Rational operator+(Rational x, Rational y);
    friend Rational operator-(Rational x, Rational y);
    friend Rational operator*(Rational x, Rational y);
    friend Rational operator/(Rational x, Rational y);
    Rational operator-() const;
    friend bool operator==(const Rational&, const Rational&) = default;

    bool is_zero() const { return numerator_ == 0; }
    Rational abs() const;
    double to_double() const { return static_cast<double>(numerator_) / static_cast<double>(denominator_); }
    std::string to_string() const;  // "3", "-1/2"
    /// Throws Error(input) if `text` is not an integer or a fraction.
    static Rational parse(std::string_view text);

private:
    std::int64_t numerator_ = 0;
    std::int64_t denominator_ = 1;
};

}  // namespace heptad
