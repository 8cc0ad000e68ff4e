#include "plan/model/cuts.hpp"

#include <algorithm>
#include <array>

#include "base/fail_if.hpp"

namespace heptad {
namespace {

constexpr std::array kNames{"grid", "pegmm", "mod-pegmm", "caps"};

}  // namespace

const char* cluster_algorithm_name(ClusterAlgorithm algorithm) {
    return kNames.at(static_cast<std::size_t>(algorithm));
}

bool is_cluster_algorithm(const std::string& name) {
    return std::ranges::find(kNames, name) != kNames.end();
}

ClusterAlgorithm cluster_algorithm_from_name(const std::string& name) {
    const auto* found = std::ranges::find(kNames, name);
    fail_if(found == kNames.end(), ErrorCode::usage,
            "'{}' is not an algorithm of a cluster; there are grid, pegmm, mod-pegmm and caps", name);
    return static_cast<ClusterAlgorithm>(found - kNames.begin());
}

}  // namespace heptad
