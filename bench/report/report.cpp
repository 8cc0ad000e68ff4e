// heptad report FILE... -o report.html: the page of result files and timelines.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/json_text.hpp"
#include "bench/report/report_page.hpp"
#include "cli/command.hpp"
#include "cli/option_words.hpp"
#include "cli/output.hpp"
#include "cli/text.hpp"
#include "io/npy.hpp"
#include "product/request/trace_file.hpp"

namespace heptad::cli {
namespace {

struct ReportArguments {
    std::vector<std::string> files;
    std::string output;
    bool json = false;
};

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

Command add_report(CLI::App& root, const std::string& /*typed*/) {
    CLI::App* command = root.add_subcommand("report", "a page of tables and plots from result files and timelines");
    auto report = std::make_shared<ReportArguments>();
    command->add_option("FILE", report->files, "what --json of a bench or --trace wrote")->required()->type_name("");
    command->add_option("-o,--output", report->output, "the page to write")->required()->type_name("HTML");
    add_json_flag(*command, report->json);
    command->footer("Example: heptad report result.json trace.json -o report.html");
    return {command, [report] { return [report] { run(*report); }; }};
}

const RegisterCommand registered_report({.order = 9, .add = add_report});

}  // namespace
}  // namespace heptad::cli
