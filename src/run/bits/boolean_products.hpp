// The Boolean product row by row where that takes fewer loads than lookups.
//
// Where A has hardly any ones, row i of C is the OR of the rows of B that row i of A names. Nothing is packed, because
// a row of B is not met often enough to repay it.
//
// Where A has few ones, or where rows of C fill up after few of them, the same slab by slab of 512 columns: the rows of
// B's slab that a row of A names lie in the L2 cache while many rows of A meet them, and a row that has every bit it
// can get is finished. Which bands of rows are worth it is found out by a sample of their rows; the others are left to
// the tables.
#pragma once

#include <vector>

#include "base/bit_words.hpp"
#include "base/thread_pool.hpp"
#include "kernels/bits/leaf.hpp"
#include "run/work_meter.hpp"

namespace heptad::bits {

/// Is a row of B used once or less, on an average? Reads A until it is not.
bool meets_rows_once(const ConstBitView& a);

/// c = a * b, or c |= a * b. The shapes fit and c overlaps nothing. Throws Error(cancelled).
void multiply_boolean_rows(const ConstBitView& a, const ConstBitView& b, const BitView& c, bool accumulate,
                           ThreadPool& pool, const RunHooks& hooks);

/// Row groups of A and C (first, one past the last).
struct GroupRange {
    std::int64_t first = 0, last = 0;
};

class BooleanSlabs {
public:
    /// `right` is B as the leaf packs it, which is looked at now; all that is given must outlive the object.
    BooleanSlabs(const Leaf& leaf, const LeafShape& shape, const ConstBitView& a, const std::uint64_t* right,
                 ThreadPool& pool);

    /// The rows that are better made from tables.
    const std::vector<GroupRange>& left_to_tables() const { return left_to_tables_; }

    /// Makes the other rows of the packed result. Throws Error(cancelled).
    void multiply(std::uint64_t* result, WorkMeter& meter) const;

private:
    struct Band {
        GroupRange groups;
        std::int64_t depth = 0;  // columns of A whose ones are listed at a time
    };

    void find_reachable();
    /// depth is 0 where tables are better.
    Band sampled(const GroupRange& groups) const;
    void multiply_band(const Band& band, std::uint64_t* result, const WorkMeter& meter) const;
    const std::uint64_t* slab(std::int64_t number) const;

    const Leaf& leaf_;
    LeafShape shape_;
    const ConstBitView a_;
    const std::uint64_t* right_;
    ThreadPool& pool_;
    std::vector<std::uint64_t> reachable_;  // all rows of B together, slab after slab
    std::vector<Band> bands_;
    std::vector<GroupRange> left_to_tables_;
};

}  // namespace heptad::bits
