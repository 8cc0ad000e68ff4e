// Bit matrices for tests: windows inside larger matrices whose other bits must survive, and products by definition.
#pragma once

#include <random>

#include <heptad/bits.hpp>

namespace heptad::test {

/// A window of rows x cols at any column of a random matrix.
class BitWindow {
public:
    BitWindow(std::int64_t rows, std::int64_t cols, std::mt19937_64& random, double density = 0.5)
        : row_(static_cast<std::int64_t>(random() % 3)),
          col_(static_cast<std::int64_t>(random() % 130)),
          all_(BitMatrix::random(rows + 5, cols + 200, random(), density)),
          before_(all_),
          window_(all_.view().block(row_, col_, rows, cols)) {}
    BitWindow(const BitWindow&) = delete;
    BitWindow& operator=(const BitWindow&) = delete;

    const BitView& view() const { return window_; }
    /// Everything outside the window is as it was.
    bool outside_untouched() const {
        BitMatrix now = all_;
        const ConstBitView then = before_.view().block(row_, col_, window_.rows, window_.cols);
        bits::copy(then, now.view().block(row_, col_, window_.rows, window_.cols));
        return now == before_;
    }

private:
    std::int64_t row_, col_;
    BitMatrix all_, before_;
    BitView window_;
};

/// Bit by bit, from the definition.
inline BitMatrix product_by_definition(Type algebra, const ConstBitView& a, const ConstBitView& b) {
    BitMatrix c(a.rows, b.cols);
    const BitMatrix b_copy = BitMatrix::copy_of(b);
    for (std::int64_t i = 0; i < a.rows; ++i) {
        std::uint64_t* row = c.view().words + i * c.stride();
        for (std::int64_t k = 0; k < a.cols; ++k) {
            if (!a(i, k)) {
                continue;
            }
            const std::uint64_t* from = b_copy.view().words + k * b_copy.stride();
            for (std::int64_t w = 0; w < c.stride(); ++w) {
                row[w] = algebra == Type::gf2 ? row[w] ^ from[w] : row[w] | from[w];
            }
        }
    }
    return c;
}

}  // namespace heptad::test
