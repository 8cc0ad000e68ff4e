// Which rows of a Boolean product are recomputed, and what follows from their agreement; shared by the two layouts.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <heptad/bits.hpp>

#include "base/thread_pool.hpp"
#include "check/verify.hpp"

namespace heptad::check {

/// The first `count` of a random permutation of 0 .. m - 1, in rising order.
std::vector<std::int64_t> draw_rows(std::int64_t m, std::int64_t count, std::uint64_t seed);

/// Entries that differ, and the first of them.
struct RowDifferences {
    std::int64_t wrong = 0, bad_row = -1, bad_col = -1;
};
/// Of an m x k x n product: as many as the options say, or as are cheap.
std::vector<std::int64_t> rows_to_recompute(std::int64_t m, std::int64_t k, std::int64_t n, std::uint64_t seed,
                                            const VerifyOptions& options);

VerifyResult conclude_rows(const RowDifferences& differences, std::int64_t recomputed, std::int64_t m);

/// C = A * B or C0, all of B and all rows of the others, or those alone that are recomputed.
struct BitRows {
    ConstBitView a, b, c;
    std::optional<ConstBitView> c0;
};
VerifyResult verify_boolean_rows(const BitRows& matrices, const std::vector<std::int64_t>& rows, std::int64_t all_rows,
                                 const VerifyOptions& options, ThreadPool& pool);

}  // namespace heptad::check
