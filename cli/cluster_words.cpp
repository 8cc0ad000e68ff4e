// The options of products on clusters.

#include <CLI/CLI.hpp>

#include "option_words.hpp"
#include "text.hpp"

namespace heptad::cli {

void add_cluster_options(CLI::App& command, ClusterWords& words) {
    add_value(command, "--network RATE", words.network,
              "rate of each node's link, each way: bits per second as in 10G, or bytes as in 1.2GB (default 10G)");
    add_value(command, "--grid PMxPKxPN", words.grid, "algorithm grid: ranks in m, k and n (default: the fastest)");
    add_value(command, "--block XxYxZ", words.block,
              "pegmm and mod-pegmm: blocks of A are XxY, of B YxZ (default: by the rule of Ryu and Kim)");
    command.add_flag("--scatter", words.scatter, "only the root has the files, and sends each rank its parts");
    add_value(command, "--broadcast WORD", words.broadcast, "pegmm with --scatter: pipelined (default) or linear");
}

bool any_given(const ClusterWords& words) {
    return words.scatter ||
           !(words.network.empty() && words.grid.empty() && words.block.empty() && words.broadcast.empty());
}

ClusterRequest cluster_request(const ClusterWords& words, const std::string& algorithm) {
    ClusterRequest request;
    if (is_cluster_algorithm(algorithm)) {
        request.algorithm = algorithm;
    }
    if (!words.grid.empty()) {
        const std::vector<std::int64_t> grid = parse_shape("--grid", words.grid, 3);
        request.grid = ClusterGrid{grid[0], grid[1], grid[2]};
    }
    if (!words.block.empty()) {
        const std::vector<std::int64_t> block = parse_shape("--block", words.block, 3);
        request.block = BlockSize{block[0], block[1], block[2]};
    }
    return request;
}

std::string node_algorithm(const std::string& algorithm) {
    return algorithm.empty() || is_cluster_algorithm(algorithm) ? "auto" : algorithm;
}

ForecastOptions forecast_options(const ClusterWords& words) {
    ForecastOptions options;
    options.scatter = words.scatter;
    if (!words.broadcast.empty()) {
        options.broadcast = parse_choice("--broadcast", words.broadcast, {"pipelined", "linear"}) == "linear"
                                ? Broadcast::linear
                                : Broadcast::pipelined;
    }
    return options;
}

double network_rate(const ClusterWords& words) {
    return words.network.empty() ? ClusterRates{}.network_bytes_per_s
                                 : parse_rate("--network", words.network, RateUnit::bits);
}

}  // namespace heptad::cli
