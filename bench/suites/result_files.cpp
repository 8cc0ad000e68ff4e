#include "bench/suites/result_files.hpp"

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "bench/report/report_page.hpp"
#include "bench/suites/bench_machine.hpp"
#include "cli/output.hpp"
#include "io/npy.hpp"
#include "product/request/trace_file.hpp"

namespace heptad::cli {

void require_writable(const ResultFiles& files) {
    if (!files.json.empty() && !files.html.empty() && place_of(files.json) == place_of(files.html)) {
        fail(ErrorCode::usage, "--json and --html both name '{}'; give them two names", files.html);
    }
    for (const std::string& path : {files.json, files.html}) {
        if (!path.empty()) {
            check_writable(path);
        }
    }
}

void write_results(const ResultFiles& files, const nlohmann::ordered_json& content) {
    if (!files.json.empty()) {
        write_text_file(files.json, pretty(content));
    }
    if (!files.html.empty()) {
        const std::string shown = files.json.empty() ? "results" : files.json;
        write_text_file(files.html, report_page({ReportSource{shown, nlohmann::json(content)}}));
    }
}

void write_results(const ResultFiles& files, const std::string& command, const std::vector<BenchRecord>& records,
                   std::optional<int> cuda_device) {
    if (!files.any()) {
        return;
    }
    nlohmann::ordered_json results = nlohmann::ordered_json::array();
    for (const BenchRecord& record : records) {
        results.push_back(to_json(record));
    }
    write_results(files, {{"machine", machine_facts(command, cuda_device)}, {"results", results}});
}

std::string results_line(const ResultFiles& files) {
    if (!files.any()) {
        return "";
    }
    const bool both = !files.json.empty() && !files.html.empty();
    return "results: " + files.json + (both ? ", " : "") + files.html + "\n";
}

}  // namespace heptad::cli
