#include "product/cluster/node_share.hpp"

#include <unistd.h>

#include <algorithm>

#include "base/size.hpp"
#include "base/thread_pool.hpp"
#include "base/types.hpp"
#include "plan/search/cluster_caps.hpp"

namespace heptad {

int share_of_cores(const Communicator& ranks) {
    if (const int told = threads_by_environment(); told > 0) {
        return told;
    }
    const int cores = available_cores();
    const bool bound = cores < static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    return std::max(1, bound ? cores : cores / ranks.local_size());
}

ProblemSize largest_product(const ProductPlan& plan) {
    if (plan.rank->algorithm == ClusterAlgorithm::caps) {
        const CapsShape shape = caps_shape(plan);
        return {shape.block_m, shape.block_k, shape.block_n};
    }
    if (plan.rank->algorithm == ClusterAlgorithm::grid) {
        return {ceil_div(plan.m, plan.rank->grid.pm), ceil_div(ceil_div(plan.k, plan.rank->grid.pk), plan.rank->panels),
                ceil_div(plan.n, plan.rank->grid.pn)};
    }
    return {plan.rank->block.x, plan.rank->block.y, plan.rank->block.z};
}

std::int64_t held_in_memory_bytes(const ProductPlan& plan) {
    const auto [m, k, n] = largest_product(plan);
    std::int64_t held = 0;
    if (plan.rank->algorithm == ClusterAlgorithm::caps) {
        held = 2 * (m * k + k * n + m * n);
    } else if (plan.rank->algorithm == ClusterAlgorithm::grid) {
        held = m * n + 3 * k * (m + n) + (plan.rank->grid.pk > 1 ? ceil_div(m, plan.rank->grid.pk) * n : 0);
    } else {
        const std::int64_t rows =
            plan.rank->algorithm == ClusterAlgorithm::mod_pegmm ? ceil_div(plan.m, plan.rank->ranks) : m;
        held = kBlocksInFlight * k * (m + n) + 3 * rows * n;
    }
    return held * static_cast<std::int64_t>(element_bytes(plan.type));
}

}  // namespace heptad
