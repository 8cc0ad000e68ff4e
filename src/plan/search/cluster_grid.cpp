#include "plan/search/cluster_grid.hpp"

#include <algorithm>
#include <cmath>

#include "base/fail_if.hpp"
#include "base/size.hpp"
#include "plan/model/operation_count.hpp"

namespace heptad {
namespace {

/// Times this close are equal: what follows from rounding alone must not decide between grids.
constexpr double kSameTime = 1e-9;

double as_real(std::int64_t value) {
    return static_cast<double>(value);
}

double grid_seconds(const ProblemSize& size, Type type, const ClusterGrid& grid, const ClusterRates& rates) {
    const double operations =
        operation_count({ceil_div(size.m, grid.pm), ceil_div(size.k, grid.pk), ceil_div(size.n, grid.pn)}, type);
    const double bytes = received_elements(size, grid) * as_real(static_cast<std::int64_t>(element_bytes(type)));
    return operations / rates.operations_per_s + bytes / rates.network_bytes_per_s;
}

}  // namespace

IndexRange split_range(std::int64_t total, std::int64_t parts, std::int64_t index) {
    const std::int64_t least = total / parts, larger = total % parts;
    const std::int64_t begin = index * least + std::min(index, larger);
    return {begin, begin + least + (index < larger ? 1 : 0)};
}

IndexRange split_range(const IndexRange& whole, std::int64_t parts, std::int64_t index) {
    const IndexRange part = split_range(whole.size(), parts, index);
    return {whole.begin + part.begin, whole.begin + part.end};
}

GridPlace place_in_grid(const ClusterGrid& grid, std::int64_t rank) {
    return {rank / grid.pn % grid.pm, rank / (grid.pn * grid.pm), rank % grid.pn};
}

std::int64_t rank_at(const ClusterGrid& grid, const GridPlace& place) {
    return (place.l * grid.pm + place.i) * grid.pn + place.j;
}

double gathered_elements(const ProblemSize& size, const ClusterGrid& grid) {
    const double m = as_real(size.m), k = as_real(size.k), n = as_real(size.n);
    const double pm = as_real(grid.pm), pk = as_real(grid.pk), pn = as_real(grid.pn);
    return m * k / (pm * pk) * (1 - 1 / pn) + k * n / (pk * pn) * (1 - 1 / pm);
}

double reduced_elements(const ProblemSize& size, const ClusterGrid& grid) {
    return as_real(size.m) * as_real(size.n) / (as_real(grid.pm) * as_real(grid.pn)) * (1 - 1 / as_real(grid.pk));
}

double received_elements(const ProblemSize& size, const ClusterGrid& grid) {
    return gathered_elements(size, grid) + reduced_elements(size, grid);
}

double least_received_elements(const ProblemSize& size, std::int64_t ranks) {
    const double m = as_real(size.m), k = as_real(size.k), n = as_real(size.n), p = as_real(ranks);
    return std::max(0.0, 3 * std::pow(m * k * n / p, 2.0 / 3) - (m * k + k * n + m * n) / p);
}

ClusterGrid best_grid(const ProblemSize& size, Type type, std::int64_t ranks, const ClusterRates& rates, bool whole_k) {
    fail_if(ranks < 1, ErrorCode::usage, "a cluster of {} ranks cannot multiply; give at least 1", ranks);
    ClusterGrid best;
    double best_s = grid_seconds(size, type, best, rates);
    // More parts than there are rows would leave ranks without work inside the grid.
    const std::int64_t most_m = std::clamp<std::int64_t>(size.m, 1, ranks);
    const std::int64_t most_k = std::clamp<std::int64_t>(whole_k ? 1 : size.k, 1, ranks);
    const std::int64_t most_n = std::clamp<std::int64_t>(size.n, 1, ranks);
    for (std::int64_t pk = 1; pk <= most_k; ++pk) {
        for (std::int64_t pm = std::min(most_m, ranks / pk); pm >= 1; --pm) {
            for (std::int64_t pn = 1; pn <= std::min(most_n, ranks / (pk * pm)); ++pn) {
                const ClusterGrid grid{pm, pk, pn};
                const double seconds = grid_seconds(size, type, grid, rates);
                if (seconds < best_s * (1 - kSameTime)) {
                    best = grid;
                    best_s = seconds;
                }
            }
        }
    }
    return best;
}

}  // namespace heptad
