#include "text.hpp"

#include <cctype>
#include <charconv>
#include <cmath>
#include <system_error>

#include "base/fail_if.hpp"

namespace heptad::cli {
namespace {

/// Bytes of a unit such as "", "B", "K", "kb", "MiB"; 0 if there is no such unit.
double unit_bytes(std::string unit) {
    for (char& c : unit) {
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    if (unit.empty() || unit == "b") {
        return 1;
    }
    const std::string prefixes = "kmgt";
    const std::size_t power = prefixes.find(unit[0]);
    const std::string rest = unit.substr(1);
    if (power == std::string::npos || !(rest.empty() || rest == "b" || rest == "ib")) {
        return 0;
    }
    return std::ldexp(1.0, 10 * static_cast<int>(power + 1));
}

/// Bytes (or operations) of a unit such as "G", "Gbit" or "MB"; 0 if there is no such unit.
double rate_unit_bytes(const std::string& unit, RateUnit bare) {
    const std::string prefixes = "kMGT";
    const std::size_t power = unit.empty() ? std::string::npos : prefixes.find(unit[0] == 'K' ? 'k' : unit[0]);
    const std::string rest = power == std::string::npos ? unit : unit.substr(1);
    const double scale = power == std::string::npos ? 1 : std::pow(1000.0, static_cast<double>(power + 1));
    if (rest.empty()) {
        return bare == RateUnit::bits ? scale / 8 : scale;
    }
    const bool data = bare != RateUnit::operations;
    return data && rest == "bit" ? scale / 8 : data && rest == "B" ? scale : 0;
}

}  // namespace

std::int64_t parse_integer(const std::string& option, const std::string& word, std::int64_t low, std::int64_t high) {
    std::int64_t value = 0;
    const char* end = word.data() + word.size();
    const auto [stop, status] = std::from_chars(word.data(), end, value);
    const bool complete = status == std::errc() && stop == end;
    if (!complete || value < low || value > high) {
        fail_if(high == std::numeric_limits<std::int64_t>::max(), ErrorCode::usage,
                "{} takes an integer of at least {}, not '{}'", option, low, word);
        fail(ErrorCode::usage, "{} takes an integer from {} to {}, not '{}'", option, low, high, word);
    }
    return value;
}

double parse_real(const std::string& option, const std::string& word) {
    double value = 0;
    const char* end = word.data() + word.size();
    const auto [stop, status] = std::from_chars(word.data(), end, value);
    fail_if(status != std::errc() || stop != end || !std::isfinite(value), ErrorCode::usage,
            "{} takes a finite number such as 1.5, not '{}'", option, word);
    std::int64_t integer = 0;
    const auto [integer_stop, integer_status] = std::from_chars(word.data(), end, integer);
    const bool is_integer = integer_status == std::errc() && integer_stop == end;
    fail_if(is_integer && (value >= 0x1p63 || static_cast<std::int64_t>(value) != integer), ErrorCode::usage,
            "{} takes a number that 64-bit floating point holds, and the nearest to {} is {:.0f}", option, word, value);
    return value;
}

std::complex<double> parse_factor(const std::string& option, const std::string& word) {
    // A sign that is not the first character and not an exponent's parts the real from the imaginary.
    std::size_t split = word.find_last_of("+-");
    while (split != std::string::npos && split > 0 && (word[split - 1] == 'e' || word[split - 1] == 'E')) {
        split = word.find_last_of("+-", split - 1);
    }
    if (word.empty() || (word.back() != 'i' && word.back() != 'j')) {
        return parse_real(option, word);
    }
    const std::size_t begin = split == std::string::npos ? 0 : split;
    std::string imaginary = word.substr(begin, word.size() - 1 - begin);
    if (!imaginary.empty() && imaginary.front() == '+') {
        imaginary.erase(0, 1);
    }
    if (imaginary.empty() || imaginary == "-") {
        imaginary += "1";
    }
    return {begin == 0 ? 0 : parse_real(option, word.substr(0, begin)), parse_real(option, imaginary)};
}

std::int64_t parse_bytes(const std::string& option, const std::string& word) {
    double value = 0;
    const char* end = word.data() + word.size();
    const auto [stop, status] = std::from_chars(word.data(), end, value, std::chars_format::fixed);
    const double bytes = value * unit_bytes(std::string(stop, end));
    constexpr double kLargest = 9.0e18;
    const bool meant = status == std::errc() && value >= 0 && (bytes > 0 || value == 0) && bytes < kLargest &&
                       unit_bytes(std::string(stop, end)) > 0;
    fail_if(!meant, ErrorCode::usage, "{} takes a size such as 8G, 512M or 1.5GiB, not '{}'", option, word);
    return static_cast<std::int64_t>(bytes);
}

double parse_rate(const std::string& option, const std::string& word, RateUnit unit) {
    double value = 0;
    const char* end = word.data() + word.size();
    const auto [stop, status] = std::from_chars(word.data(), end, value, std::chars_format::fixed);
    const double rate = status == std::errc() ? value * rate_unit_bytes(std::string(stop, end), unit) : 0;
    fail_if(!(rate > 0) || !std::isfinite(rate), ErrorCode::usage, "{} takes a rate per second such as {}, not '{}'",
            option,
            unit == RateUnit::bits    ? "10G (bits), 25Gbit or 1.2GB"
            : unit == RateUnit::bytes ? "2G (bytes), 800MB or 3Gbit"
                                      : "500G or 20T (operations)",
            word);
    return rate;
}

std::vector<std::int64_t> parse_shape(const std::string& option, const std::string& word, std::size_t dimensions) {
    const std::vector<std::string> parts = split(word, 'x');
    const char* example = dimensions == 2 ? "1024x512" : "1024x512x2048";
    fail_if(parts.size() != dimensions, ErrorCode::usage, "{} takes {} sizes such as {}, not '{}'", option, dimensions,
            example, word);
    std::vector<std::int64_t> shape;
    for (const std::string& part : parts) {
        std::int64_t size = 0;
        const char* end = part.data() + part.size();
        const auto [stop, status] = std::from_chars(part.data(), end, size);
        fail_if(status != std::errc() || stop != end || size < 0, ErrorCode::usage,
                "{} takes {} sizes such as {}, not '{}'", option, dimensions, example, word);
        shape.push_back(size);
    }
    return shape;
}

Accuracy parse_accuracy(const std::string& option, const std::string& word) {
    const std::string accuracy = parse_choice(option, word, {"exact", "strict", "balanced", "fast"});
    return accuracy == "exact"    ? Accuracy::exact
           : accuracy == "strict" ? Accuracy::strict
           : accuracy == "fast"   ? Accuracy::fast
                                  : Accuracy::balanced;
}

std::string parse_choice(const std::string& option, const std::string& word, const std::vector<std::string>& choices) {
    std::string list;
    for (const std::string& choice : choices) {
        if (word == choice) {
            return word;
        }
        list += (list.empty() ? "" : ", ") + choice;
    }
    fail(ErrorCode::usage, "{} takes one of {}, not '{}'", option, list, word);
}

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts(1);
    for (const char c : text) {
        if (c == separator) {
            parts.emplace_back();
        } else {
            parts.back() += c;
        }
    }
    return parts;
}

std::string visible(const std::string& name) {
    std::string text;
    for (const char c : name) {
        const auto code = static_cast<unsigned char>(c);
        text += c == '\n' ? "\\n" : code < 0x20 || code == 0x7f ? fmt::format("\\x{:02x}", code) : std::string(1, c);
    }
    return text;
}

}  // namespace heptad::cli
