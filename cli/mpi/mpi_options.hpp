// The command line of heptad-mpi: the words of `heptad mul` and those of clusters.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "product/cluster/cluster_job.hpp"

namespace heptad::cli {

/// --help, --version: text for standard output, then exit code 0.
struct HelpText {
    std::string text;
};

struct MpiMulArguments {
    ClusterJob job;
    std::string trace_file;  // empty: none
    bool json = false;
};

using MpiInvocation = std::variant<HelpText, MpiMulArguments>;

/// Throws Error(usage).
MpiInvocation parse_mpi_command_line(const std::vector<std::string>& words);

}  // namespace heptad::cli
