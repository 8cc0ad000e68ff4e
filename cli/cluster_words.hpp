// The options of products on clusters, which `heptad plan --nodes` and `heptad-mpi mul` share.
#pragma once

#include <string>

#include "product/request/cluster_outlook.hpp"

namespace CLI {
class App;
}

namespace heptad::cli {

/// As typed.
struct ClusterWords {
    std::string network, grid, block, broadcast;
    bool scatter = false;
};

void add_cluster_options(CLI::App& command, ClusterWords& words);
bool any_given(const ClusterWords& words);

/// Values that were checked. `algorithm` is the word after --algorithm: a name of a cluster's algorithm, or one for the
/// products inside each node, which then share out as `auto` says.
ClusterRequest cluster_request(const ClusterWords& words, const std::string& algorithm);
/// The name for the products inside each node.
std::string node_algorithm(const std::string& algorithm);
ForecastOptions forecast_options(const ClusterWords& words);
/// Default: 10 Gbit/s.
double network_rate(const ClusterWords& words);

}  // namespace heptad::cli
