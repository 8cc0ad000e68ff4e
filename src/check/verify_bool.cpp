// Boolean products have no subtraction, so Freivalds' test does not apply. Instead rows of C, drawn at random without
// repetition, are recomputed exactly: row i of A B is the OR of the rows p of B with a_ip = 1, 64 columns to a word.
//
// If a fraction f of the m rows is wrong, s drawn rows miss all of them with probability at most (1 - f)^s. That is
// <= 2^-60 from f = 1 - 2^(-60/s) on: the fraction that the result states. All rows drawn: nothing is missed.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <mutex>
#include <numeric>
#include <vector>

#include "base/size.hpp"
#include "base/splitmix.hpp"
#include "check/load.hpp"
#include "check/verify_kinds.hpp"

namespace heptad::check {
namespace {

// Word operations that rows may cost where the caller does not say how many: about two seconds of one core.
constexpr double kCheapWork = 8e9;
constexpr std::int64_t kFewestRows = 1024;

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

std::int64_t rows_to_draw(const VerifyProblem& problem, std::int64_t words) {
    const std::int64_t m = problem.c.rows;
    if (problem.options.all_rows) {
        return m;
    }
    if (problem.options.sampled_rows > 0) {
        return std::min(m, problem.options.sampled_rows);
    }
    const double per_row = std::max(1.0, static_cast<double>(problem.a.cols) * static_cast<double>(words));
    const double affordable = std::min(kCheapWork / per_row, 1e18);
    return std::min(m, std::max(kFewestRows, static_cast<std::int64_t>(affordable)));
}

/// The first `count` of a random permutation of 0 .. m - 1, in rising order.
std::vector<std::int64_t> draw_rows(std::int64_t m, std::int64_t count, std::uint64_t seed) {
    std::vector<std::int64_t> rows(static_cast<std::size_t>(m));
    std::iota(rows.begin(), rows.end(), 0);
    if (count < m) {
        for (std::int64_t i = 0; i < count; ++i) {  // the bias of the remainder is below m / 2^64
            const auto left = static_cast<std::uint64_t>(m - i);
            const auto other = i + static_cast<std::int64_t>(splitmix_word(seed, i) % left);
            std::swap(rows[static_cast<std::size_t>(i)], rows[static_cast<std::size_t>(other)]);
        }
        rows.resize(static_cast<std::size_t>(count));
        std::sort(rows.begin(), rows.end());
    }
    return rows;
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
    const std::vector<std::int64_t> rows = draw_rows(problem.c.rows, rows_to_draw(problem, words), problem.seed);

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

    VerifyResult result;
    result.residual = static_cast<double>(wrong);
    result.rows_recomputed = static_cast<std::int64_t>(rows.size());
    result.bad_row = bad_row;
    result.bad_col = bad_col;
    if (result.rows_recomputed < problem.c.rows) {
        result.detectable_fraction = 1 - std::exp2(-60.0 / static_cast<double>(rows.size()));
        result.miss_chance = 0x1p-60;
    }
    if (wrong > 0) {
        result.verdict = Verdict::failed;
        result.explanation =
            fmt::format("C is wrong: {} entries of {} recomputed rows differ, the first at row {}, column {}", wrong,
                        rows.size(), bad_row, bad_col);
    } else if (result.rows_recomputed == problem.c.rows) {
        result.explanation = fmt::format("all {} rows were recomputed exactly and agree", rows.size());
    } else {
        result.explanation = fmt::format(
            "{} of {} rows, drawn at random, were recomputed exactly and agree; if {:.2g} % of "
            "the rows or more were wrong, this would happen with probability at most 2^-60",
            rows.size(), problem.c.rows, 100 * result.detectable_fraction);
    }
    return result;
}

}  // namespace heptad::check
