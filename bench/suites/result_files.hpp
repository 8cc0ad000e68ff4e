// The files that a benchmark leaves: {machine, results} as JSON, and a page of tables and plots of the same.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "bench/suites/bench_product.hpp"

namespace heptad::cli {

/// Where the results of a benchmark go beside its table; empty names: nowhere.
struct ResultFiles {
    std::string json, html;
    bool any() const { return !json.empty() || !html.empty(); }
};

/// Throws Error(input) now, before a long run, for a file that could not be written, and Error(usage) where both have
/// one name.
void require_writable(const ResultFiles& files);

/// Writes every file that was asked for, each in one step; nothing where none was.
void write_results(const ResultFiles& files, const nlohmann::ordered_json& content);
void write_results(const ResultFiles& files, const std::string& command, const std::vector<BenchRecord>& records,
                   std::optional<int> cuda_device = {});

/// "results: r.json, r.html", the last line of a run; nothing where no file was asked for.
std::string results_line(const ResultFiles& files);

}  // namespace heptad::cli
