// Boolean products have no subtraction, so Freivalds' test does not apply. Instead rows of C, drawn at random without
// repetition, are recomputed exactly: row i of A B is the OR of the rows p of B with a_ip = 1, 64 columns to a word.
//
// If a fraction f of the m rows is wrong, s drawn rows miss all of them with probability at most (1 - f)^s. That is
// <= 2^-60 from f = 1 - 2^(-60/s) on: the fraction that the result states. All rows drawn: nothing is missed.
#include "check/sampled_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "base/bit_words.hpp"
#include "base/splitmix.hpp"
#include "check/load.hpp"
#include "check/verify_kinds.hpp"

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

namespace {

BitMatrix packed_rows(const ConstView& v, const std::vector<std::int64_t>& rows, ThreadPool& pool) {
    BitMatrix packed(static_cast<std::int64_t>(rows.size()), v.cols);
    pool.run(packed.rows(), [&](std::int64_t r) {
        std::array<std::uint8_t, bits::kWordBits> bytes;
        for (std::int64_t w = 0; w < bits::words_of(v.cols); ++w) {
            const std::int64_t first = w * bits::kWordBits, cols = std::min(bits::kWordBits, v.cols - first);
            load_block(v, rows[static_cast<std::size_t>(r)], 1, first, cols, bytes.data());
            std::uint64_t word = 0;
            for (std::int64_t j = 0; j < cols; ++j) {
                word |= std::uint64_t{bytes[static_cast<std::size_t>(j)]} << j;
            }
            bits::store_word<bits::Store::assign>(packed.view(), r, w, word);
        }
    });
    return packed;
}

}  // namespace

VerifyResult verify_bool(const VerifyProblem& problem) {
    const auto& [a, b, c, options, seed, pool] = problem;
    const std::int64_t k = problem.uses_product() ? a.cols : 0;
    std::vector<std::int64_t> all_of_b(static_cast<std::size_t>(k));
    std::iota(all_of_b.begin(), all_of_b.end(), 0);
    const std::vector<std::int64_t> rows = rows_to_recompute(c.rows, a.cols, b.cols, seed, options);
    const BitMatrix of_a = packed_rows(block(a, 0, 0, a.rows, k), rows, pool);
    const BitMatrix of_b = packed_rows(b, all_of_b, pool);
    const BitMatrix of_c = packed_rows(c, rows, pool);
    std::optional<BitMatrix> of_c0;
    BitRows matrices{of_a.view(), of_b.view(), of_c.view(), {}};
    if (problem.uses_c0()) {
        matrices.c0 = of_c0.emplace(packed_rows(*options.c0, rows, pool)).view();
    }
    return verify_boolean_rows(matrices, rows, c.rows, options, pool);
}

}  // namespace heptad::check
