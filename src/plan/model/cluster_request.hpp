// What was asked of a cluster, and the decision: request + sizes + rates -> a plan with a RankCut.
#pragma once

#include <limits>
#include <optional>
#include <string>

#include "plan/search/cluster_plan.hpp"

namespace heptad {

struct ClusterRequest {
    std::string algorithm = "auto";  // grid, pegmm, mod-pegmm, caps; auto: grid
    std::optional<ClusterGrid> grid;
    std::optional<BlockSize> block;
    std::int64_t memory_bytes = std::numeric_limits<std::int64_t>::max();  // of one rank
};

/// Throws Error(usage) for a grid with more places than ranks, a grid or a block that the algorithm has no use for, and
/// Error(resource) where a rank's part does not fit in its memory.
ProductPlan make_cluster_plan(const ProblemSize& size, Type type, std::int64_t ranks, const ClusterRequest& request,
                              const ClusterRates& rates);

}  // namespace heptad
