#include "cli/mpi/mpi_trace.hpp"

#include <filesystem>

#include "cli/output.hpp"
#include "product/request/trace_file.hpp"

namespace heptad::cli {
namespace {

namespace fs = std::filesystem;

/// Parts, scratch files and journals of any rank begin like this; see product/cluster/cluster_job.cpp.
bool is_part_of(const fs::path& output, const fs::path& folder, const fs::path& trace) {
    return place_of(trace).parent_path() == place_of(folder) &&
           place_of(trace).filename().string().starts_with(output.filename().string() + ".part-");
}

}  // namespace

void check_trace_file(const std::string& trace, const ClusterJob& job) {
    std::vector<std::string> taken{job.a, job.b, job.c0, job.output, job.output + ".partial", job.output + ".lock"};
    if (is_part_of(job.output, place_of(job.output).parent_path(), trace) ||
        (!job.scratch.empty() && is_part_of(job.output, job.scratch, trace))) {
        taken.push_back(trace);
    }
    require_trace_file(trace, taken);
}

nlohmann::ordered_json trace_json(const ClusterOutcome& outcome, int rank) {
    nlohmann::ordered_json events = nlohmann::ordered_json::array();
    for (const StageInterval& interval : outcome.own.intervals) {
        events.push_back({{"name", interval.stage},
                          {"ph", "X"},
                          {"pid", rank},
                          {"tid", interval.stage},
                          {"ts", interval.begin_s * 1e6},
                          {"dur", (interval.end_s - interval.begin_s) * 1e6}});
    }
    return events;
}

void write_trace(const std::string& path, const nlohmann::ordered_json& of_ranks) {
    nlohmann::ordered_json events = nlohmann::ordered_json::array();
    for (const nlohmann::ordered_json& rank : of_ranks) {
        for (const nlohmann::ordered_json& event : rank) {
            events.push_back(event);
        }
    }
    write_text_file(path, nlohmann::ordered_json{{"traceEvents", events}}.dump() + "\n");
}

}  // namespace heptad::cli
