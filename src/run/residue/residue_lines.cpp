#include "run/residue/residue_lines.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "base/moduli.hpp"
#include "base/stored_type.hpp"
#include "run/dense/line_sample.hpp"

namespace heptad {
namespace {

/// Of doubles: an integer below 2^53 and the exponent of its last place.
constexpr int kFractionBits = 52, kBias = 1023 + kFractionBits;
struct Parts {
    std::uint64_t significand;
    int exponent;
};
Parts parts_of(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const int biased = static_cast<int>(bits >> kFractionBits & 0x7ff);
    const std::uint64_t fraction = bits & ((std::uint64_t{1} << kFractionBits) - 1);
    return {biased == 0 ? fraction : fraction | std::uint64_t{1} << kFractionBits, std::max(biased, 1) - kBias};
}

template <class T>
double load(T x, Type type) {
    if constexpr (std::is_same_v<T, float>) {
        if (type == Type::tf32) {
            return static_cast<double>(round_to_tf32(x));
        }
    }
    return to_double(x);
}

constexpr std::int64_t kLinesTogether = 64;

/// What one line was found to be.
struct Line {
    double lowest = std::numeric_limits<double>::infinity(), largest = 0;  // of set bits; of values
    double squares = 0;
    bool not_finite = false;

    /// Without branches: random data cannot be guessed.
    void note(double x) {
        const bool finite = x - x == 0;
        not_finite = not_finite || !finite;
        x = finite ? std::abs(x) : 0;
        // All but the lowest set bit; a power of two has no other.
        const auto bits = std::bit_cast<std::uint64_t>(x);
        const bool is_power = (bits & ((std::uint64_t{1} << kFractionBits) - 1)) == 0;
        const double low = is_power ? x : x - std::bit_cast<double>(bits & (bits - 1));
        const double set = low == 0 ? std::numeric_limits<double>::infinity() : low;
        lowest = set < lowest ? set : lowest;
        largest = x > largest ? x : largest;
        squares += x * x;
    }
    bool is_zero() const { return largest == 0 || not_finite; }
    /// Are the squares in the range of a double, as far as they count?
    bool has_squares() const { return is_zero() || (largest > 0x1p-400 && largest < 0x1p400); }
};

/// Powers of two modulo a number, as far as shifts of integers of 184 bits go.
constexpr int kMostShift = 192;
std::array<std::uint32_t, kMostShift> powers_modulo(int modulus) {
    std::array<std::uint32_t, kMostShift> powers{};
    std::uint32_t power = 1;
    for (std::uint32_t& x : powers) {
        x = power;
        power = power * 2 % static_cast<std::uint32_t>(modulus);
    }
    return powers;
}

}  // namespace

IntegerLines integer_rows(Backend& backend, const ConstView& view) {
    const auto count = static_cast<std::size_t>(view.rows);
    std::vector<Line> found(count);
    share_lines(backend, view.rows, kLinesTogether, [&](std::int64_t begin, std::int64_t end) {
        with_stored_type(view.type, [&]<class T>() {
            const auto* const data = static_cast<const T*>(view.data);
            const auto for_each = [&](auto&& visit) {
                const bool across = std::abs(view.row_stride) < std::abs(view.col_stride);
                for (std::int64_t outer = across ? 0 : begin; outer < (across ? view.cols : end); ++outer) {
                    for (std::int64_t inner = across ? begin : 0; inner < (across ? end : view.cols); ++inner) {
                        const std::int64_t i = across ? inner : outer, j = across ? outer : inner;
                        visit(found[static_cast<std::size_t>(i)],
                              load(data[i * view.row_stride + j * view.col_stride], view.type));
                    }
                }
            };
            for_each([](Line& line, double x) { line.note(x); });
            const auto line = [&](std::int64_t at) -> Line& { return found[static_cast<std::size_t>(at)]; };
            for (std::int64_t i = begin; i < end; ++i) {
                if (!line(i).has_squares()) {  // of the values over the largest then
                    const int top = std::ilogb(line(i).largest);
                    line(i).squares = 0;
                    for (std::int64_t j = 0; j < view.cols; ++j) {
                        const double x = load(data[i * view.row_stride + j * view.col_stride], view.type);
                        const double y = std::ldexp(x, -top);
                        line(i).squares += y * y;
                    }
                }
            }
        });
    });
    IntegerLines lines;
    // Rounding of the squares and their sum, and of the logarithm.
    const double above = (static_cast<double>(view.cols) + 8) * std::numeric_limits<double>::epsilon() + 1e-9;
    for (const Line& line : found) {
        const int last_bit = line.not_finite ? IntegerLines::kNoBit : line.largest == 0 ? 0 : std::ilogb(line.lowest);
        const int top = line.has_squares() ? 0 : std::ilogb(line.largest);
        lines.last_bit.push_back(last_bit);
        lines.log2_norm.push_back(line.is_zero() ? -std::numeric_limits<double>::infinity()
                                                 : std::log2(line.squares) / 2 + top - last_bit + above);
        lines.not_finite.push_back(line.not_finite);
        lines.all_finite = lines.all_finite && !line.not_finite;
    }
    return lines;
}

void write_residues(Backend& backend, const ConstView& window, const IntegerLines& lines, std::int64_t first_line,
                    bool by_columns, int modulus, const View& to) {
    const std::array<std::uint32_t, kMostShift> powers = powers_modulo(modulus);
    const Modulus p(modulus);
    const auto unsigned_modulus = static_cast<std::uint64_t>(modulus);
    auto* const out = static_cast<std::int32_t*>(to.data);
    share_lines(backend, to.rows, kLinesTogether, [&](std::int64_t begin, std::int64_t end) {
        with_stored_type(window.type, [&]<class T>() {
            const auto* const data = static_cast<const T*>(window.data);
            for (std::int64_t i = begin; i < end; ++i) {
                std::int32_t* const row = out + i * to.row_stride;
                const std::int64_t filled = i < window.rows ? window.cols : 0;
                for (std::int64_t j = 0; j < filled; ++j) {
                    const double x = load(data[i * window.row_stride + j * window.col_stride], window.type);
                    const Parts parts = parts_of(x);
                    const int shift =
                        parts.exponent - lines.last_bit[static_cast<std::size_t>(first_line + (by_columns ? j : i))];
                    // Without branches: signs and shifts of random data cannot be guessed. Nothing is left of lines
                    // that are not finite.
                    const std::uint64_t r = p.remainder(p.remainder(parts.significand >> std::clamp(-shift, 0, 63)) *
                                                        powers[static_cast<std::size_t>(std::max(shift, 0))]);
                    const auto above_half = static_cast<std::int32_t>(2 * r > unsigned_modulus);
                    const std::int32_t sign = -static_cast<std::int32_t>(std::signbit(x));
                    row[j] = ((static_cast<std::int32_t>(r) - above_half * modulus) ^ sign) - sign;
                }
                std::fill(row + filled, row + to.cols, 0);
            }
        });
    });
}

}  // namespace heptad
