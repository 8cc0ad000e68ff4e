// How a product is shared out among the ranks of a cluster: a grid of pm x pk x pn ranks cuts the m x k x n cuboid of
// multiplications. Rank (i, l, j) multiplies A(i, l) by B(l, j) into a part of C(i, j); it holds 1/P of A, of B and of
// C, and receives the rest of its blocks:
//
//   mk / (pm pk)  +  kn / (pk pn)  +  mn / (pm pn)  -  (mk + kn + mn) / P    elements,   P = pm pk pn
//
// No way of sharing the work equally receives fewer than 3 (mkn / P)^(2/3) - (mk + kn + mn) / P on its busiest rank.
#pragma once

#include <cstdint>

#include <heptad/heptad.hpp>

#include "plan/model/cuts.hpp"

namespace heptad {

/// Whole numbers begin <= x < end.
struct IndexRange {
    std::int64_t begin = 0, end = 0;
    std::int64_t size() const { return end - begin; }
    bool operator==(const IndexRange&) const = default;
};

/// Part `index` of `parts`: sizes differ by at most one, the larger ones come first.
IndexRange split_range(std::int64_t total, std::int64_t parts, std::int64_t index);
/// The same within a range.
IndexRange split_range(const IndexRange& whole, std::int64_t parts, std::int64_t index);

/// Where a rank stands. Ranks that share a block of A have consecutive numbers.
struct GridPlace {
    std::int64_t i = 0, l = 0, j = 0;
    bool operator==(const GridPlace&) const = default;
};
GridPlace place_in_grid(const ClusterGrid& grid, std::int64_t rank);
std::int64_t rank_at(const ClusterGrid& grid, const GridPlace& place);

/// Elements that a rank receives where the sizes divide: of A and B before the products, of C after them.
double gathered_elements(const ProblemSize& size, const ClusterGrid& grid);
double reduced_elements(const ProblemSize& size, const ClusterGrid& grid);
/// Both.
double received_elements(const ProblemSize& size, const ClusterGrid& grid);

/// The lower bound above, at least 0.
double least_received_elements(const ProblemSize& size, std::int64_t ranks);

/// What a node can do. Effective operations: those of operation_count() over the time of a product.
struct ClusterRates {
    double operations_per_s = 1e11;
    double network_bytes_per_s = 1.25e9;  // each way
    double disk_bytes_per_s = 2e9;
};

/// The grid of at most `ranks` ranks with the least time for its largest block and what it receives, one after the
/// other; the rest of the ranks is idle. Among equals the one with the fewest sums of partial results (pk), then with
/// the most ranks in m. `whole_k`: none that cuts k. Throws Error(usage) unless ranks >= 1.
ClusterGrid best_grid(const ProblemSize& size, Type type, std::int64_t ranks, const ClusterRates& rates,
                      bool whole_k = false);

}  // namespace heptad
