// Some rows of A B, recomputed from the definition: c_ij = sum_p a_ip b_pj, in an arithmetic that is exact or much
// finer than the type. B is read once for all the rows; columns are dealt to the threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/size.hpp"
#include "base/thread_pool.hpp"
#include "check/float_facts.hpp"
#include "check/load.hpp"

namespace heptad::check {

/// Columns of a row that are made together.
inline constexpr std::int64_t kRowChunk = 256;

/// Each row has a Chunk for every kRowChunk columns: add(chunk, a_ip, row p of B, how many columns) for all p, then
/// finish(number of the row in `rows`, first column, how many, chunk).
template <class In, class Chunk, class Add, class Finish>
void over_row_products(const ConstView& a, const ConstView& b, const std::vector<std::int64_t>& rows, ThreadPool& pool,
                       Add add, Finish finish) {
    constexpr std::int64_t chunk_depth = 32;
    const auto count = static_cast<std::int64_t>(rows.size());
    std::vector<In> factors(static_cast<std::size_t>(checked_mul(count, a.cols)));
    for (std::int64_t r = 0; r < count; ++r) {
        load_block(a, rows[static_cast<std::size_t>(r)], 1, 0, a.cols, factors.data() + r * a.cols);
    }
    pool.run(ceil_div(b.cols, kRowChunk), [&](std::int64_t task) {
        std::vector<In> block(static_cast<std::size_t>(kRowChunk * chunk_depth));
        std::vector<Chunk> chunks(rows.size());
        const std::int64_t j0 = task * kRowChunk, cols = std::min(kRowChunk, b.cols - j0);
        for (std::int64_t p0 = 0; p0 < a.cols; p0 += chunk_depth) {
            const std::int64_t depth = std::min(chunk_depth, a.cols - p0);
            load_block(b, p0, depth, j0, cols, block.data());
            for (std::int64_t r = 0; r < count; ++r) {
                for (std::int64_t p = 0; p < depth; ++p) {
                    add(chunks[static_cast<std::size_t>(r)], factors[static_cast<std::size_t>(r * a.cols + p0 + p)],
                        block.data() + p * cols, cols);
                }
            }
        }
        for (std::int64_t r = 0; r < count; ++r) {
            finish(r, j0, cols, chunks[static_cast<std::size_t>(r)]);
        }
    });
}

/// Result row r (of rows.size()) starts at r * b.cols. `add(sum, a, b)` adds one product to an element.
template <class In, class Sum, class Add>
std::vector<Sum> exact_rows(const ConstView& a, const ConstView& b, const std::vector<std::int64_t>& rows,
                            ThreadPool& pool, Add add) {
    using Sums = std::array<Sum, static_cast<std::size_t>(kRowChunk)>;
    std::vector<Sum> out(static_cast<std::size_t>(checked_mul(static_cast<std::int64_t>(rows.size()), b.cols)));
    over_row_products<In, Sums>(
        a, b, rows, pool,
        [&](Sums& sums, In factor, const In* from, std::int64_t cols) {
            for (std::int64_t j = 0; j < cols; ++j) {
                add(sums[static_cast<std::size_t>(j)], factor, from[j]);
            }
        },
        [&](std::int64_t r, std::int64_t j0, std::int64_t cols, const Sums& sums) {
            std::copy_n(sums.begin(), cols, out.begin() + r * b.cols + j0);
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
