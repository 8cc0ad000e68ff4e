// What the checks of floats need to know about rows and columns, and rows of a product in a higher precision.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/thread_pool.hpp"
#include "base/view.hpp"
#include "check/double_double.hpp"

namespace heptad::check {

struct RowFacts {
    double max_abs = 0;       // of the finite entries
    double norm = 0;          // 2-norm of the finite entries, without overflow on the way
    bool non_finite = false;  // a NaN or an infinity was seen
};

/// One entry per row; of columns, hand in the transposed view. With weights, one for each column: of the weighted
/// entries.
std::vector<RowFacts> scan_rows(const ConstView& v, ThreadPool& pool, const std::vector<double>& weights = {});

/// The largest of the rows.
RowFacts largest(const std::vector<RowFacts>& rows);

/// alpha A B + beta C0. A and B are not read if alpha is 0, C0 not if beta is 0.
struct FloatProduct {
    ConstView a, b;
    double alpha = 1, beta = 0;
    std::optional<ConstView> c0;

    bool uses_product() const { return alpha != 0 && a.cols > 0; }
};

/// What came together in one entry of alpha A B + beta C0.
struct WatchedEntry {
    DoubleDouble exact;
    double plain_error = 0;   // of alpha A B, summed one product after another in the arithmetic of the type
    double partial_sums = 0;  // squares of the sums on the way, times (alpha * scale)^2
    double products = 0;      // squares of the products a_ip b_pj, likewise
};

/// Rows of the product, side by side, with what rounding depends on. `scale`: a power of two that keeps squares in
/// range.
std::vector<WatchedEntry> watched_rows(const FloatProduct& product, const std::vector<std::int64_t>& rows, double scale,
                                       ThreadPool& pool);

/// Rows of the product in plain double arithmetic: what is NaN, +inf or -inf by the rules of IEEE 754 is so here.
std::vector<double> plain_rows(const FloatProduct& product, const std::vector<std::int64_t>& rows, ThreadPool& pool);

/// At most `count` of 0 .. m - 1, evenly spread, the first and the last among them.
std::vector<std::int64_t> spread_rows(std::int64_t m, std::int64_t count);

}  // namespace heptad::check
