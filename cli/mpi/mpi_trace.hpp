// heptad-mpi mul --trace: when each stage of each rank worked, in one file that the root writes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "product/cluster/cluster_job.hpp"

namespace heptad::cli {

/// Known before the product, which may take hours, that the trace can be written and replaces no file of the job. By
/// the root. Throws Error(usage) for the latter, Error(input) or Error(resource) for the former.
void check_trace_file(const std::string& trace, const ClusterJob& job);

/// Events that chrome://tracing and Perfetto show: a process per rank, a row per stage.
nlohmann::ordered_json trace_json(const ClusterOutcome& outcome, int rank);

/// Appears under its name all at once. `of_ranks` are the events of each.
void write_trace(const std::string& path, const nlohmann::ordered_json& of_ranks);

}  // namespace heptad::cli
