// heptad-mpi mul: the words of `heptad mul` and those of clusters, and the product that they ask for.
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

/// Runs the job, gathers what the ranks did, and lets the root print it. `give_up` ends the whole job; see
/// move/stages.hpp.
void run(const MpiMulArguments& mul, Communicator& ranks, const StageFailure::GiveUp& give_up);

}  // namespace heptad::cli
