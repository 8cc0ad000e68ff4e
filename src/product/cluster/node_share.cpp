#include "product/cluster/node_share.hpp"

#include <unistd.h>

#include <algorithm>

#include "base/size.hpp"
#include "base/thread_pool.hpp"
#include "base/types.hpp"
#include "plan/search/cluster_caps.hpp"

namespace heptad {

int share_of_cores(const Communicator& ranks) {
    const int cores = available_cores();
    const bool bound = cores < static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    return std::max(1, bound ? cores : cores / ranks.local_size());
}

ProblemSize largest_product(const ClusterPlan& plan) {
    if (plan.algorithm == ClusterAlgorithm::caps) {
        const CapsShape shape = caps_shape(plan);
        return {shape.block_m, shape.block_k, shape.block_n};
    }
    if (plan.algorithm == ClusterAlgorithm::grid) {
        return {ceil_div(plan.m, plan.grid.pm), ceil_div(ceil_div(plan.k, plan.grid.pk), plan.panels),
                ceil_div(plan.n, plan.grid.pn)};
    }
    return {plan.block.x, plan.block.y, plan.block.z};
}

std::int64_t held_in_memory_bytes(const ClusterPlan& plan) {
    const auto [m, k, n] = largest_product(plan);
    std::int64_t held = 0;
    if (plan.algorithm == ClusterAlgorithm::caps) {
        held = 2 * (m * k + k * n + m * n);
    } else if (plan.algorithm == ClusterAlgorithm::grid) {
        held = m * n + 3 * k * (m + n) + (plan.grid.pk > 1 ? ceil_div(m, plan.grid.pk) * n : 0);
    } else {
        const std::int64_t rows = plan.algorithm == ClusterAlgorithm::mod_pegmm ? ceil_div(plan.m, plan.ranks) : m;
        held = kBlocksInFlight * k * (m + n) + 3 * rows * n;
    }
    return held * static_cast<std::int64_t>(element_bytes(plan.type));
}

}  // namespace heptad
