// Which rows of a Boolean product are recomputed, and what follows from their agreement; shared by the two layouts.
#pragma once

#include <cstdint>
#include <vector>

#include "check/verify.hpp"

namespace heptad::check {

/// How many of m rows, each of which takes `per_row` word operations.
std::int64_t rows_to_draw(std::int64_t m, double per_row, const VerifyOptions& options);
/// The first `count` of a random permutation of 0 .. m - 1, in rising order.
std::vector<std::int64_t> draw_rows(std::int64_t m, std::int64_t count, std::uint64_t seed);

/// Entries that differ, and the first of them.
struct RowDifferences {
    std::int64_t wrong = 0, bad_row = -1, bad_col = -1;
};
VerifyResult conclude_rows(const RowDifferences& differences, std::int64_t recomputed, std::int64_t m);

}  // namespace heptad::check
