// Y = A X for a tall, narrow X of random vectors, all of them in one pass over A: the work of Freivalds' test.
//
// Lanes are stored row by row: lane l of row p is data[p * lanes + l]. A is read once, a block of 16 rows by 256
// columns at a time; rows of blocks are dealt to the threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/size.hpp"
#include "base/thread_pool.hpp"
#include "check/double_double.hpp"
#include "check/load.hpp"

namespace heptad::check {

/// `tile` lanes are summed at a time; `lanes` is a multiple of it.
template <class T>
struct LaneArithmetic;
template <>
struct LaneArithmetic<double> {
    using Element = double;
    static constexpr int tile = 8;
    static void add(double& sum, double a, double x) { sum += a * x; }
};
template <>
struct LaneArithmetic<std::uint32_t> {
    using Element = std::uint32_t;
    static constexpr int tile = 16;
    static void add(std::uint32_t& sum, std::uint32_t a, std::uint32_t x) { sum += a * x; }
};
/// An integer mod 2^64; a plain word stands for 64 vectors over GF(2).
struct IntegerMod64 {
    std::uint64_t value = 0;
    bool operator==(const IntegerMod64&) const = default;
};
template <>
struct LaneArithmetic<IntegerMod64> {
    using Element = std::uint64_t;
    static constexpr int tile = 8;
    static void add(IntegerMod64& sum, std::uint64_t a, IntegerMod64 x) { sum.value += a * x.value; }
};
/// GF(2), 64 vectors in the bits of a word.
template <>
struct LaneArithmetic<std::uint64_t> {
    using Element = std::uint8_t;
    static constexpr int tile = 1;
    static void add(std::uint64_t& sum, std::uint8_t a, std::uint64_t x) { sum ^= x & (0U - std::uint64_t{a}); }
};
template <>
struct LaneArithmetic<DoubleDouble> {
    using Element = double;
    static constexpr int tile = 4;
    static void add(DoubleDouble& sum, double a, const DoubleDouble& x) { add_product(sum, a, x.hi, x.lo); }
};

template <class T>
struct Lanes {
    std::int64_t rows = 0;
    int lanes = 0;
    std::vector<T> data;
    Lanes(std::int64_t row_count, int lane_count)
        : rows(row_count), lanes(lane_count), data(static_cast<std::size_t>(checked_mul(row_count, lane_count)), T{}) {}
    T* row(std::int64_t i) { return data.data() + i * lanes; }
    const T* row(std::int64_t i) const { return data.data() + i * lanes; }
};

/// Checks of floats keep what is not finite out of the sums and look at it elsewhere.
inline void replace_non_finite(double* values, std::int64_t count) {
    constexpr double largest = std::numeric_limits<double>::max();
    for (std::int64_t i = 0; i < count; ++i) {
        values[i] = std::fabs(values[i]) <= largest ? values[i] : 0;
    }
}
inline void replace_non_finite(std::uint32_t*, std::int64_t) {}
inline void replace_non_finite(std::uint64_t*, std::int64_t) {}
inline void replace_non_finite(std::uint8_t*, std::int64_t) {}

/// Adds A[rows of the block][columns of the block] X to Y; `block` is dense, rows x cols.
template <class T>
void multiply_block(const typename LaneArithmetic<T>::Element* block, std::int64_t rows, std::int64_t cols, const T* x,
                    T* y, int lanes) {
    constexpr int tile = LaneArithmetic<T>::tile;
    for (int lane = 0; lane < lanes; lane += tile) {
        for (std::int64_t i = 0; i < rows; ++i) {
            std::array<T, static_cast<std::size_t>(tile)> sum;
            std::copy_n(y + i * lanes + lane, tile, sum.begin());
            for (std::int64_t p = 0; p < cols; ++p) {
                const auto a = block[i * cols + p];
                const T* const from = x + p * lanes + lane;
                for (std::size_t l = 0; l < sum.size(); ++l) {
                    LaneArithmetic<T>::add(sum[l], a, from[l]);
                }
            }
            std::copy_n(sum.begin(), tile, y + i * lanes + lane);
        }
    }
}

/// A X. Entries of A that are not finite count as 0.
template <class T>
Lanes<T> multiply_lanes(const ConstView& a, const Lanes<T>& x, ThreadPool& pool) {
    constexpr std::int64_t block_rows = 16, block_cols = 256;
    Lanes<T> y(a.rows, x.lanes);
    pool.run(ceil_div(a.rows, block_rows), [&](std::int64_t task) {
        std::array<typename LaneArithmetic<T>::Element, static_cast<std::size_t>(block_rows * block_cols)> block;
        const std::int64_t i0 = task * block_rows;
        const std::int64_t rows = std::min(block_rows, a.rows - i0);
        for (std::int64_t j0 = 0; j0 < a.cols; j0 += block_cols) {
            const std::int64_t cols = std::min(block_cols, a.cols - j0);
            load_block(a, i0, rows, j0, cols, block.data());
            replace_non_finite(block.data(), rows * cols);
            multiply_block<T>(block.data(), rows, cols, x.row(j0), y.row(i0), x.lanes);
        }
    });
    return y;
}

}  // namespace heptad::check
