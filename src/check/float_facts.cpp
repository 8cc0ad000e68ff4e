#include "check/float_facts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/size.hpp"
#include "check/exact_rows.hpp"

namespace heptad::check {
namespace {

/// Adds the squares of a piece of a row to facts.norm, which holds the sum of (x / scale)^2 until the row is done.
void add_piece(RowFacts& facts, const double* values, std::int64_t count) {
    constexpr double most = std::numeric_limits<double>::max();
    double piece_max = 0;
    bool all_finite = true;
    for (std::int64_t j = 0; j < count; ++j) {
        const double magnitude = std::fabs(values[j]);
        const bool finite = magnitude <= most;
        all_finite = all_finite && finite;
        piece_max = finite && magnitude > piece_max ? magnitude : piece_max;
    }
    facts.non_finite = facts.non_finite || !all_finite;
    if (piece_max == 0) {
        return;
    }
    if (piece_max > facts.max_abs) {
        const double shrink = facts.max_abs / piece_max;
        facts.norm *= shrink * shrink;
        facts.max_abs = piece_max;
    }
    double sum = 0;
    for (std::int64_t j = 0; j < count; ++j) {
        const double ratio = values[j] / facts.max_abs;
        sum += std::fabs(values[j]) <= most ? ratio * ratio : 0;
    }
    facts.norm += sum;
}

}  // namespace

std::vector<RowFacts> scan_rows(const ConstView& v, ThreadPool& pool, const std::vector<double>& weights) {
    constexpr std::int64_t block_rows = 16, block_cols = 256;
    std::vector<RowFacts> facts(static_cast<std::size_t>(v.rows));
    pool.run(ceil_div(v.rows, block_rows), [&](std::int64_t task) {
        std::array<double, block_rows * block_cols> block;
        const std::int64_t i0 = task * block_rows;
        const std::int64_t rows = std::min(block_rows, v.rows - i0);
        for (std::int64_t j0 = 0; j0 < v.cols; j0 += block_cols) {
            const std::int64_t cols = std::min(block_cols, v.cols - j0);
            load_block(v, i0, rows, j0, cols, block.data());
            for (std::int64_t i = 0; i < rows; ++i) {
                for (std::int64_t j = 0; j < cols && !weights.empty(); ++j) {
                    block[static_cast<std::size_t>(i * cols + j)] *= weights[static_cast<std::size_t>(j0 + j)];
                }
                add_piece(facts[static_cast<std::size_t>(i0 + i)], block.data() + i * cols, cols);
            }
        }
        for (std::int64_t i = i0; i < i0 + rows; ++i) {
            RowFacts& row = facts[static_cast<std::size_t>(i)];
            row.norm = row.max_abs * std::sqrt(row.norm);
        }
    });
    return facts;
}

RowFacts largest(const std::vector<RowFacts>& rows) {
    RowFacts all;
    for (const RowFacts& row : rows) {
        all.max_abs = std::max(all.max_abs, row.max_abs);
        all.norm = std::max(all.norm, row.norm);
        all.non_finite = all.non_finite || row.non_finite;
    }
    return all;
}

std::vector<double> plain_rows(const FloatProduct& product, const std::vector<std::int64_t>& rows, ThreadPool& pool) {
    std::vector<double> sums;
    if (product.uses_product()) {
        sums = exact_rows<double, double>(product.a, product.b, rows, pool,
                                          [](double& sum, double a, double b) { sum += a * b; });
    }
    return with_scalars(product, rows, product.b.cols, sums, product.alpha, product.beta,
                        [](double& to, double factor, double term) { to += factor * term; });
}

std::vector<std::int64_t> spread_rows(std::int64_t m, std::int64_t count) {
    std::vector<std::int64_t> rows;
    const std::int64_t taken = std::min(m, count);
    for (std::int64_t r = 0; r < taken; ++r) {
        // r * (m - 1) / (taken - 1), without the product
        const double at = taken > 1 ? static_cast<double>(r) / static_cast<double>(taken - 1) : 0;
        const auto row = taken == m ? r : static_cast<std::int64_t>(at * static_cast<double>(m - 1));
        rows.push_back(std::min(row, m - 1));
    }
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    return rows;
}

}  // namespace heptad::check
