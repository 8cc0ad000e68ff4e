#include "check/sampled_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/bit_words.hpp"
#include "base/splitmix.hpp"

namespace heptad::check {
namespace {

// Word operations that rows may cost where the caller does not say how many: about two seconds of one core.
constexpr double kCheapWork = 8e9;
constexpr std::int64_t kFewestRows = 1024;

/// How many of m rows, each of which takes `per_row` word operations.
std::int64_t rows_to_draw(std::int64_t m, double per_row, const VerifyOptions& options) {
    if (options.all_rows) {
        return m;
    }
    if (options.sampled_rows > 0) {
        return std::min(m, options.sampled_rows);
    }
    const double affordable = std::min(kCheapWork / std::max(1.0, per_row), 1e18);
    return std::min(m, std::max(kFewestRows, static_cast<std::int64_t>(affordable)));
}

}  // namespace

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
        std::ranges::sort(rows);
    }
    return rows;
}

std::vector<std::int64_t> rows_to_recompute(std::int64_t m, std::int64_t k, std::int64_t n, std::uint64_t seed,
                                            const VerifyOptions& options) {
    const double per_row = static_cast<double>(k) * static_cast<double>(bits::words_of(n));
    return draw_rows(m, rows_to_draw(m, per_row, options), seed);
}

VerifyResult conclude_rows(const RowDifferences& differences, std::int64_t recomputed, std::int64_t m) {
    VerifyResult result;
    result.residual = static_cast<double>(differences.wrong);
    result.rows_recomputed = recomputed;
    result.bad_row = differences.bad_row;
    result.bad_col = differences.bad_col;
    if (result.rows_recomputed < m) {
        result.detectable_fraction = 1 - std::exp2(-60.0 / static_cast<double>(recomputed));
        result.miss_chance = 0x1p-60;
    }
    if (differences.wrong > 0) {
        result.verdict = Verdict::failed;
        result.explanation =
            fmt::format("C is wrong: {} entries of {} recomputed rows differ, the first at row {}, column {}",
                        differences.wrong, recomputed, differences.bad_row, differences.bad_col);
    } else if (result.rows_recomputed == m) {
        result.explanation = fmt::format("all {} rows were recomputed exactly and agree", recomputed);
    } else {
        result.explanation = fmt::format(
            "{} of {} rows, drawn at random, were recomputed exactly and agree; if {:.2g} % of "
            "the rows or more were wrong, this would happen with probability at most 2^-60",
            recomputed, m, 100 * result.detectable_fraction);
    }
    return result;
}

}  // namespace heptad::check
