#include "plan/model/cuts.hpp"

#include "base/fail_if.hpp"
#include "base/names.hpp"

namespace heptad {
namespace {

constexpr Names<ClusterAlgorithm, 4> kNames{{"grid", "pegmm", "mod-pegmm", "caps"}};

}  // namespace

const char* cluster_algorithm_name(ClusterAlgorithm algorithm) {
    return kNames.of(algorithm);
}

bool is_cluster_algorithm(const std::string& name) {
    return kNames.find(name).has_value();
}

ClusterAlgorithm cluster_algorithm_from_name(const std::string& name) {
    const std::optional<ClusterAlgorithm> found = kNames.find(name);
    fail_if(!found, ErrorCode::usage,
            "'{}' is not an algorithm of a cluster; there are grid, pegmm, mod-pegmm and caps", name);
    return *found;
}

}  // namespace heptad
