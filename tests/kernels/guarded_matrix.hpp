// A matrix for tests: any element type, a choice of layouts, guard bytes around and between the elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "base/half.hpp"
#include "base/view.hpp"

namespace heptad::test {

enum class Layout : std::uint8_t {
    rows,            // row-major, no gaps
    rows_padded,     // row-major with a gap after each row
    columns,         // column-major, no gaps
    columns_padded,  // column-major with a gap after each column
    general,         // neither stride is 1
    reversed,        // row-major, both strides negative
};
inline constexpr Layout all_layouts[] = {Layout::rows,           Layout::rows_padded, Layout::columns,
                                         Layout::columns_padded, Layout::general,     Layout::reversed};

inline void set_element(Type type, std::byte* to, double x) {
    const auto put = [to](auto value) { std::memcpy(to, &value, sizeof value); };
    switch (type) {
        case Type::f64:
            return put(x);
        case Type::f32:
        case Type::tf32:
            return put(static_cast<float>(x));
        case Type::bf16:
            return put(to_bf16(static_cast<float>(x)));
        case Type::f16:
            return put(to_f16(static_cast<float>(x)));
        case Type::i32:
            return put(static_cast<std::int32_t>(x));
        case Type::i64:
            return put(static_cast<std::int64_t>(x));
        case Type::c64:
        case Type::c128:
            break;  // no double
        case Type::gf2:
        case Type::boolean:
            return put(static_cast<std::uint8_t>(static_cast<std::int64_t>(x) & 1));
    }
}

inline double get_element(Type type, const std::byte* from) {
    const auto get = [from]<class T>(T value) {
        std::memcpy(&value, from, sizeof value);
        return value;
    };
    switch (type) {
        case Type::f64:
            return get(double{});
        case Type::f32:
        case Type::tf32:
            return static_cast<double>(get(float{}));
        case Type::bf16:
            return static_cast<double>(to_float(get(bf16{})));
        case Type::f16:
            return static_cast<double>(to_float(get(f16{})));
        case Type::i32:
            return get(std::int32_t{});
        case Type::i64:
            return static_cast<double>(get(std::int64_t{}));
        default:
            return get(std::uint8_t{});
    }
}

/// The same of integers, whole: a double does not hold every i64.
inline void set_integer(Type type, std::byte* to, std::int64_t x) {
    type == Type::i64 ? static_cast<void>(std::memcpy(to, &x, sizeof x))
                      : set_element(type, to, static_cast<double>(x));
}
inline std::int64_t get_integer(Type type, const std::byte* from) {
    std::int64_t x = 0;
    type == Type::i64 ? static_cast<void>(std::memcpy(&x, from, sizeof x))
                      : static_cast<void>(x = static_cast<std::int64_t>(get_element(type, from)));
    return x;
}

class GuardedMatrix {
public:
    static constexpr std::int64_t guard_elements = 64;

    GuardedMatrix(Type type, std::int64_t rows, std::int64_t cols, Layout layout) {
        std::int64_t row_stride = 0, col_stride = 0;
        switch (layout) {
            case Layout::rows:
                row_stride = cols, col_stride = 1;
                break;
            case Layout::rows_padded:
                row_stride = cols + 5, col_stride = 1;
                break;
            case Layout::columns:
                row_stride = 1, col_stride = rows;
                break;
            case Layout::columns_padded:
                row_stride = 1, col_stride = rows + 3;
                break;
            case Layout::general:
                row_stride = 2 * cols + 1, col_stride = 2;
                break;
            case Layout::reversed:
                row_stride = -(cols + 1), col_stride = -1;
                break;
        }
        const std::int64_t row_span = rows > 0 ? (rows - 1) * row_stride : 0;
        const std::int64_t col_span = cols > 0 ? (cols - 1) * col_stride : 0;
        const std::int64_t before = guard_elements - (row_span < 0 ? row_span : 0) - (col_span < 0 ? col_span : 0);
        const std::int64_t elements = 2 * guard_elements + std::abs(row_span) + std::abs(col_span) + 1;
        bytes_.resize(static_cast<std::size_t>(elements) * element_bytes(type), guard_byte);
        view_ = {bytes_.data() + static_cast<std::size_t>(before) * element_bytes(type),
                 type,
                 rows,
                 cols,
                 row_stride,
                 col_stride};
    }
    GuardedMatrix(const GuardedMatrix& other) : bytes_(other.bytes_), view_(other.view_) {
        view_.data = bytes_.data() + (static_cast<std::byte*>(other.view_.data) - other.bytes_.data());
    }
    GuardedMatrix& operator=(const GuardedMatrix&) = delete;

    const View& view() const { return view_; }
    /// Elements and guards.
    std::vector<std::byte>& bytes() { return bytes_; }
    double get(std::int64_t i, std::int64_t j) const { return get_element(view_.type, element_pointer(view_, i, j)); }
    void set(std::int64_t i, std::int64_t j, double x) { set_element(view_.type, element_pointer(view_, i, j), x); }
    void fill(double x) {
        for (std::int64_t i = 0; i < view_.rows; ++i) {
            for (std::int64_t j = 0; j < view_.cols; ++j) {
                set(i, j, x);
            }
        }
    }
    /// Integers from -largest to largest.
    void fill_random(std::mt19937& random, int largest = 3) {
        std::uniform_int_distribution<int> entries(-largest, largest);
        for (std::int64_t i = 0; i < view_.rows; ++i) {
            for (std::int64_t j = 0; j < view_.cols; ++j) {
                set(i, j, entries(random));
            }
        }
    }
    /// Elements and guards alike.
    bool equals_byte_for_byte(const GuardedMatrix& other) const { return bytes_ == other.bytes_; }
    /// Elements as numbers (so -0 equals 0; NaN equals nothing), guards byte for byte.
    bool equals(const GuardedMatrix& other) const {
        if (view_.type == Type::i64) {
            return equals_byte_for_byte(other);
        }
        GuardedMatrix mine = *this, theirs = other;
        for (std::int64_t i = 0; i < view_.rows; ++i) {
            for (std::int64_t j = 0; j < view_.cols; ++j) {
                if (!(mine.get(i, j) == theirs.get(i, j))) {
                    return false;
                }
                mine.set(i, j, 0);
                theirs.set(i, j, 0);
            }
        }
        return mine.equals_byte_for_byte(theirs);
    }

private:
    static constexpr std::byte guard_byte{0xff};  // NaN in every float type: reading it shows
    std::vector<std::byte> bytes_;
    View view_;
};

}  // namespace heptad::test
