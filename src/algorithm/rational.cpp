#include "algorithm/rational.hpp"

#include <charconv>
#include <limits>
#include <numeric>

#include "base/fail_if.hpp"

namespace heptad {
namespace {

__extension__ using Wide = __int128;  // products of two 64-bit parts fit

Wide magnitude(Wide x) {
    return x < 0 ? -x : x;
}

Wide greatest_common_divisor(Wide x, Wide y) {
    x = magnitude(x);
    y = magnitude(y);
    while (y != 0) {
        const Wide remainder = x % y;
        x = y;
        y = remainder;
    }
    return x;
}

std::int64_t narrowed(Wide x) {
    // The smallest 64-bit number is left out so that negation can never overflow.
    fail_if(magnitude(x) > std::numeric_limits<std::int64_t>::max(), ErrorCode::input,
            "an exact rational computation does not fit in 64 bits; use smaller coefficients");
    return static_cast<std::int64_t>(x);
}

Rational reduced(Wide numerator, Wide denominator) {
    fail_if(denominator == 0, ErrorCode::input,
            "a fraction has denominator zero; write an integer or a fraction such as -1/2");
    if (denominator < 0) {
        numerator = -numerator;
        denominator = -denominator;
    }
    const Wide divisor = greatest_common_divisor(numerator, denominator);
    return {narrowed(numerator / divisor), narrowed(denominator / divisor)};
}

std::int64_t parse_integer(std::string_view digits, std::string_view whole) {
    std::int64_t value = 0;
    const char* first = digits.data();
    const char* last = first + digits.size();
    if (digits.size() > 1 && *first == '+' && digits[1] != '-') {
        ++first;
    }
    const auto [end, error] = std::from_chars(first, last, value);
    fail_if(error == std::errc::result_out_of_range || value == std::numeric_limits<std::int64_t>::min(),
            ErrorCode::input, "'{}' does not fit in 64 bits", whole);
    fail_if(error != std::errc{} || end != last, ErrorCode::input,
            "'{}' is not a number; write an integer or a fraction such as -1/2", whole);
    return value;
}

}  // namespace

Rational::Rational(std::int64_t numerator, std::int64_t denominator)
    : numerator_(numerator), denominator_(denominator) {
    if (denominator <= 0 || std::gcd(numerator, denominator) != 1) {
        *this = reduced(numerator, denominator);
    }
}

Rational operator+(Rational x, Rational y) {
    if (x.denominator_ == 1 && y.denominator_ == 1) {
        return narrowed(static_cast<Wide>(x.numerator_) + y.numerator_);
    }
    // Over the least common denominator, so that 128 bits suffice for any result that fits.
    const std::int64_t shared = std::gcd(x.denominator_, y.denominator_);
    const Wide numerator = static_cast<Wide>(x.numerator_) * (y.denominator_ / shared) +
                           static_cast<Wide>(y.numerator_) * (x.denominator_ / shared);
    return reduced(numerator, static_cast<Wide>(x.denominator_ / shared) * y.denominator_);
}

Rational operator-(Rational x, Rational y) {
    return x + -y;
}

Rational operator*(Rational x, Rational y) {
    if (y.denominator_ == 1 && (y.numerator_ == 1 || y.numerator_ == -1)) {  // nearly all coefficients are 1 or -1
        return y.numerator_ == 1 ? x : -x;
    }
    return reduced(static_cast<Wide>(x.numerator_) * y.numerator_, static_cast<Wide>(x.denominator_) * y.denominator_);
}

Rational operator/(Rational x, Rational y) {
    if (y.denominator_ == 1 && (y.numerator_ == 1 || y.numerator_ == -1)) {
        return y.numerator_ == 1 ? x : -x;
    }
    return reduced(static_cast<Wide>(x.numerator_) * y.denominator_, static_cast<Wide>(x.denominator_) * y.numerator_);
}

Rational Rational::operator-() const {
    Rational result = *this;
    result.numerator_ = narrowed(-static_cast<Wide>(numerator_));
    return result;
}

Rational Rational::abs() const {
    return numerator_ < 0 ? -*this : *this;
}

std::string Rational::to_string() const {
    return denominator_ == 1 ? fmt::format("{}", numerator_) : fmt::format("{}/{}", numerator_, denominator_);
}

Rational Rational::parse(std::string_view text) {
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) {
        return parse_integer(text, text);
    }
    const std::int64_t numerator = parse_integer(text.substr(0, slash), text);
    const std::int64_t denominator = parse_integer(text.substr(slash + 1), text);
    fail_if(denominator <= 0, ErrorCode::input, "'{}' has a denominator that is not positive", text);
    return {numerator, denominator};
}

}  // namespace heptad
