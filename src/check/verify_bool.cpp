// Boolean products have no subtraction, so Freivalds' test does not apply. Instead rows of C, drawn at random without
// repetition, are recomputed exactly: row i of A B is the OR of the rows p of B with a_ip = 1, 64 columns to a word.
//
// If a fraction f of the m rows is wrong, s drawn rows miss all of them with probability at most (1 - f)^s. That is
// <= 2^-60 from f = 1 - 2^(-60/s) on: the fraction that the result states. All rows drawn: nothing is missed.
#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <vector>

#include "base/size.hpp"
#include "check/load.hpp"
#include "check/sampled_rows.hpp"
#include "check/verify_kinds.hpp"

namespace heptad::check {
namespace {

using Words = std::vector<std::uint64_t>;

/// Row i of a view as bits, appended at `to` (words for v.cols bits).
void pack_row(const ConstView& v, std::int64_t i, std::uint64_t* to) {
    std::array<std::uint8_t, 64> bytes;
    for (std::int64_t j0 = 0; j0 < v.cols; j0 += 64) {
        const std::int64_t cols = std::min<std::int64_t>(64, v.cols - j0);
        load_block(v, i, 1, j0, cols, bytes.data());
        std::uint64_t word = 0;
        for (std::int64_t j = 0; j < cols; ++j) {
            word |= std::uint64_t{bytes[static_cast<std::size_t>(j)]} << j;
        }
        *to++ = word;
    }
}

}  // namespace

VerifyResult verify_bool(const VerifyProblem& problem) {
    const std::int64_t k = problem.a.cols;
    const std::int64_t words = ceil_div(problem.b.cols, 64);
    Words b_bits;
    if (problem.uses_product()) {
        b_bits.resize(static_cast<std::size_t>(checked_mul(k, words)));
        problem.pool.run(k, [&](std::int64_t p) { pack_row(problem.b, p, b_bits.data() + p * words); });
    }
    const std::vector<std::int64_t> rows =
        draw_rows(problem.c.rows,
                  rows_to_draw(problem.c.rows, static_cast<double>(k) * static_cast<double>(words), problem.options),
                  problem.seed);

    std::mutex mutex;
    std::int64_t wrong = 0, bad_row = -1, bad_col = -1;
    problem.pool.run(static_cast<std::int64_t>(rows.size()), [&](std::int64_t task) {
        problem.stop_if_cancelled();
        const std::int64_t i = rows[static_cast<std::size_t>(task)];
        Words sum(static_cast<std::size_t>(words)), other(static_cast<std::size_t>(words));
        if (problem.uses_product()) {
            std::vector<std::uint8_t> factors(static_cast<std::size_t>(k));
            load_block(problem.a, i, 1, 0, k, factors.data());
            for (std::int64_t p = 0; p < k; ++p) {
                if (factors[static_cast<std::size_t>(p)] != 0) {
                    const std::uint64_t* const from = b_bits.data() + p * words;
                    for (std::int64_t w = 0; w < words; ++w) {
                        sum[static_cast<std::size_t>(w)] |= from[w];
                    }
                }
            }
        }
        if (problem.uses_c0()) {
            pack_row(*problem.options.c0, i, other.data());
            std::transform(sum.begin(), sum.end(), other.begin(), sum.begin(), std::bit_or<>());
        }
        pack_row(problem.c, i, other.data());
        std::int64_t differing = 0, first = -1;
        for (std::size_t w = 0; w < sum.size(); ++w) {
            const std::uint64_t difference = sum[w] ^ other[w];
            if (difference != 0) {
                first = first < 0 ? static_cast<std::int64_t>(w) * 64 + std::countr_zero(difference) : first;
                differing += std::popcount(difference);
            }
        }
        if (differing > 0) {
            const std::lock_guard lock(mutex);
            wrong += differing;
            if (bad_row < 0 || i < bad_row) {
                bad_row = i;
                bad_col = first;
            }
        }
    });

    return conclude_rows({wrong, bad_row, bad_col}, static_cast<std::int64_t>(rows.size()), problem.c.rows);
}

}  // namespace heptad::check
