// heptad report FILE... -o report.html: the page of result files and timelines.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/json_text.hpp"
#include "commands.hpp"
#include "io/npy.hpp"
#include "output.hpp"
#include "report_page.hpp"
#include "text.hpp"

namespace heptad::cli {
namespace {

nlohmann::json read_json(const std::string& path) {
    std::error_code unknown;
    std::ifstream file(path, std::ios::binary);
    if (!file || !std::filesystem::is_regular_file(path, unknown)) {
        fail(ErrorCode::input, "'{}' cannot be read; give a result file or a timeline", path);
    }
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    try {
        nlohmann::json json = parse_json(text);
        if (json.is_object()) {
            return json;
        }
    } catch (const Error& error) {
        fail(error.code(), "'{}' cannot be read ({}); give a file that --json or --trace wrote", path, error.what());
    }
    fail(ErrorCode::input, "'{}' holds no JSON object; give a file that --json or --trace wrote", path);
}

}  // namespace

void run(const ReportArguments& arguments) {
    ReportArguments report = arguments;
    report.output = claim_output(report.output);
    check_writable(report.output);
    std::vector<ReportSource> sources;
    for (const std::string& path : report.files) {
        std::error_code missing;  // then they are not the same
        if (std::filesystem::equivalent(path, report.output, missing)) {
            fail(ErrorCode::usage, "'{}' would be replaced by the report of itself; give -o another name", path);
        }
        sources.push_back({path, read_json(path)});
    }
    write_text_file(report.output, report_page(sources));
    if (report.json) {
        print(nlohmann::ordered_json{{"output", report.output}, {"files", report.files}});
        return;
    }
    print(fmt::format("{}: {} file{}\n", visible(report.output), report.files.size(),
                      report.files.size() == 1 ? "" : "s"));
}

}  // namespace heptad::cli
