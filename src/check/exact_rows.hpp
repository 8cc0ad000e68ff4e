// Some rows of A B, recomputed from the definition: c_ij = sum_p a_ip b_pj, in an arithmetic that is exact or much
// finer than the type. B is read once for all the rows; columns are dealt to the threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/size.hpp"
#include "base/thread_pool.hpp"
#include "check/float_facts.hpp"
#include "check/load.hpp"

namespace heptad::check {

/// Result row r (of rows.size()) starts at r * b.cols. `add(sum, a, b)` adds one product to an element.
template <class In, class Sum, class Add>
std::vector<Sum> exact_rows(const ConstView& a, const ConstView& b, const std::vector<std::int64_t>& rows,
                            ThreadPool& pool, Add add) {
    constexpr std::int64_t chunk_cols = 256, chunk_depth = 32;
    const auto count = static_cast<std::int64_t>(rows.size());
    std::vector<Sum> out(static_cast<std::size_t>(checked_mul(count, b.cols)), Sum{});
    std::vector<In> factors(static_cast<std::size_t>(checked_mul(count, a.cols)));
    for (std::int64_t r = 0; r < count; ++r) {
        load_block(a, rows[static_cast<std::size_t>(r)], 1, 0, a.cols, factors.data() + r * a.cols);
    }
    pool.run(ceil_div(b.cols, chunk_cols), [&](std::int64_t task) {
        std::vector<In> block(static_cast<std::size_t>(chunk_cols * chunk_depth));
        const std::int64_t j0 = task * chunk_cols;
        const std::int64_t cols = std::min(chunk_cols, b.cols - j0);
        for (std::int64_t p0 = 0; p0 < a.cols; p0 += chunk_depth) {
            const std::int64_t depth = std::min(chunk_depth, a.cols - p0);
            load_block(b, p0, depth, j0, cols, block.data());
            for (std::int64_t r = 0; r < count; ++r) {
                Sum* const to = out.data() + r * b.cols + j0;
                for (std::int64_t p = 0; p < depth; ++p) {
                    const In factor = factors[static_cast<std::size_t>(r * a.cols + p0 + p)];
                    const In* const from = block.data() + p * cols;
                    for (std::int64_t j = 0; j < cols; ++j) {
                        add(to[j], factor, from[j]);
                    }
                }
            }
        }
    });
    return out;
}

/// Multiplies sums by alpha and adds beta * c0; Combine(result, factor, term) adds one product.
template <class Sum, class Combine>
std::vector<Sum> with_scalars(const FloatProduct& product, const std::vector<std::int64_t>& rows, std::int64_t cols,
                              const std::vector<Sum>& sums, double alpha, double beta, Combine combine) {
    std::vector<Sum> out(rows.size() * static_cast<std::size_t>(cols), Sum{});
    std::vector<double> old(static_cast<std::size_t>(cols));
    for (std::size_t r = 0; r < rows.size(); ++r) {
        Sum* const to = out.data() + r * static_cast<std::size_t>(cols);
        if (!sums.empty()) {
            for (std::int64_t j = 0; j < cols; ++j) {
                combine(to[j], alpha, sums[r * static_cast<std::size_t>(cols) + static_cast<std::size_t>(j)]);
            }
        }
        if (beta != 0) {
            load_block(*product.c0, rows[r], 1, 0, cols, old.data());
            for (std::int64_t j = 0; j < cols; ++j) {
                combine(to[j], beta, Sum{old[static_cast<std::size_t>(j)]});
            }
        }
    }
    return out;
}

}  // namespace heptad::check
