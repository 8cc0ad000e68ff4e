// The words of problems and plans, and what follows from levels.
#include "plan/model/plan.hpp"

#include <algorithm>

#include "algorithm/catalogue.hpp"
#include "base/fail_if.hpp"
#include "base/names.hpp"
#include "base/size.hpp"
#include "base/types.hpp"
#include "plan/model/problem.hpp"
#include "plan/search/fused_instances.hpp"

namespace heptad {
namespace {

constexpr Names<ClusterAlgorithm, 4> kClusterAlgorithms{{"grid", "pegmm", "mod-pegmm", "caps"}};

}  // namespace

const char* accuracy_name(Accuracy accuracy) {
    static constexpr Names<Accuracy, 4> names{{"strict", "balanced", "fast", "exact"}};
    return names.of(accuracy);
}

bool takes_whole_k(Accuracy accuracy, Type type) {
    return accuracy == Accuracy::exact && is_float(type);
}

void refuse_exact(Accuracy accuracy, Type type, const char* place) {
    fail_if(takes_whole_k(accuracy, type), ErrorCode::usage,
            "accuracy exact is for products in one place, from file to file and with heptad-mpi, not {}; use accuracy "
            "strict",
            place);
}

std::string to_string(const Problem& problem) {
    return fmt::format("problem {}x{}x{} {} accuracy={} algorithm={} levels={} threads={} accumulate={}", problem.m,
                       problem.k, problem.n, type_name(problem.type), accuracy_name(problem.options.accuracy),
                       problem.options.algorithm,
                       problem.options.levels < 0 ? "auto" : std::to_string(problem.options.levels), problem.threads,
                       problem.options.accumulate ? "yes" : "no");
}

const char* cluster_algorithm_name(ClusterAlgorithm algorithm) {
    return kClusterAlgorithms.of(algorithm);
}

bool is_cluster_algorithm(const std::string& name) {
    return kClusterAlgorithms.find(name).has_value();
}

ClusterAlgorithm cluster_algorithm_from_name(const std::string& name) {
    const std::optional<ClusterAlgorithm> found = kClusterAlgorithms.find(name);
    fail_if(!found, ErrorCode::usage,
            "'{}' is not an algorithm of a cluster; there are grid, pegmm, mod-pegmm and caps", name);
    return *found;
}

int level_count(const ProductPlan& plan) {
    const int below = static_cast<int>(plan.levels.size()) + (plan.host ? plan.host->levels : 0);
    return plan.transfers && !plan.transfers->algorithm.empty()
               ? std::max({below + 1, plan.transfers->opening, plan.transfers->closing})
               : below;
}

LeafSize leaf_size(const ProductPlan& plan) {
    LeafSize leaf{plan.core_m, plan.core_k, plan.core_n, 1};
    for (const LevelPlan& level : plan.levels) {
        const Algorithm& algorithm = find_algorithm(level.algorithm).algorithm;
        if (level.mode == LevelMode::fused) {
            leaf.m = fused_side(leaf.m, algorithm.m, plan.type);
            leaf.k = fused_side(leaf.k, algorithm.k, plan.type);
            leaf.n = fused_side(leaf.n, algorithm.n, plan.type);
        } else {
            leaf.m /= algorithm.m;
            leaf.k /= algorithm.k;
            leaf.n /= algorithm.n;
        }
        leaf.count = checked_mul(leaf.count, algorithm.rank());
    }
    return leaf;
}

}  // namespace heptad
