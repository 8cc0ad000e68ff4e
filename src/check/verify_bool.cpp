// Boolean products have no subtraction, so Freivalds' test does not apply. Instead rows of C, drawn at random without
// repetition, are recomputed exactly: row i of A B is the OR of the rows p of B with a_ip = 1, 64 columns to a word.
//
// If a fraction f of the m rows is wrong, s drawn rows miss all of them with probability at most (1 - f)^s. That is
// <= 2^-60 from f = 1 - 2^(-60/s) on: the fraction that the result states. All rows drawn: nothing is missed.
#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <vector>

#include "base/bit_words.hpp"
#include "check/load.hpp"
#include "check/sampled_rows.hpp"
#include "check/verify_kinds.hpp"

namespace heptad::check {
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
