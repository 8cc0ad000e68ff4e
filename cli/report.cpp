// heptad report FILE... -o report.html: tables and pictures of result files ({machine, results}) and of timelines
// ({traceEvents}), in one HTML file that needs nothing else.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "commands.hpp"
#include "output.hpp"
#include "place/file/atomic_file.hpp"
#include "report_timeline.hpp"
#include "text.hpp"

namespace heptad::cli {
namespace {

using Json = nlohmann::json;

Json read_json(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        fail(ErrorCode::input, "'{}' cannot be read; give a result file or a timeline", path);
    }
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded() || !json.is_object()) {
        fail(ErrorCode::input, "'{}' holds no JSON object; give a file that --json or --trace wrote", path);
    }
    return json;
}

/// A number, or a dash.
std::string number(const Json& record, const char* key, const char* format = "{:.4g}") {
    const auto found = record.find(key);
    return found != record.end() && found->is_number() ? fmt::format(fmt::runtime(format), found->get<double>()) : "-";
}

std::string word(const Json& record, const char* key) {
    const auto found = record.find(key);
    return found != record.end() && found->is_string() ? html_text(found->get<std::string>()) : "";
}

/// Other kinds of events are legal in a timeline, and so is nonsense in a file that someone edited.
bool is_interval(const Json& event) {
    const auto has_number = [&](const char* key) {
        const auto found = event.find(key);
        return found != event.end() && found->is_number();
    };
    return event.is_object() && event.contains("ph") && event["ph"] == "X" && has_number("ts") && has_number("dur") &&
           (!event.contains("name") || event["name"].is_string());
}

std::string timeline_section(const Json& trace, const std::string& path) {
    std::vector<TimelineBar> bars;
    for (const Json& event : trace["traceEvents"]) {
        if (!is_interval(event)) {
            continue;
        }
        const auto name = event.find("name");
        bars.push_back({name != event.end() ? name->get<std::string>() : "?", "", event["ts"].get<double>() / 1e6,
                        event["dur"].get<double>() / 1e6});
    }
    if (bars.empty()) {
        fail(ErrorCode::input, "'{}' is a timeline without a single stage; trace a longer run", path);
    }
    return fmt::format("<h2>Timeline: {}</h2>\n{}", html_text(path), timeline_svg(bars));
}

std::string results_section(const Json& file, const std::string& path) {
    std::string html = fmt::format("<h2>{}</h2>\n", html_text(path));
    if (const auto machine = file.find("machine"); machine != file.end() && machine->is_object()) {
        html += fmt::format("<p>{}, {} cores; commit {}; <code>{}</code></p>\n", word(*machine, "cpu"),
                            number(*machine, "cores", "{:.0f}"), word(*machine, "commit"), word(*machine, "command"));
    }
    std::vector<RatioBar> bars;
    html +=
        "<table><tr><th>suite</th><th>type</th><th>m</th><th>k</th><th>n</th><th>against</th><th>its seconds</th>"
        "<th>Heptad's</th><th>ratio</th><th>effective Top/s</th><th>error</th></tr>\n";
    for (const Json& record : file["results"]) {
        if (!record.is_object()) {
            fail(ErrorCode::input, "'{}' has a result that is no object; give a file that --json wrote", path);
        }
        html += fmt::format(
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>"
            "<td>{}</td><td>{}</td><td>{}</td></tr>\n",
            word(record, "suite"), word(record, "type"), number(record, "m", "{:.0f}"), number(record, "k", "{:.0f}"),
            number(record, "n", "{:.0f}"), word(record, "vendor"), number(record, "vendor_s"),
            number(record, "heptad_s"), number(record, "ratio", "{:.3f}"), number(record, "effective_tops"),
            number(record, "error", "{:.2e}"));
        const auto ratio = record.find("ratio");
        if (ratio != record.end() && ratio->is_number() && std::isfinite(ratio->get<double>())) {
            bars.push_back({fmt::format("{} {} {} x {} x {}", word(record, "suite"), word(record, "type"),
                                        number(record, "m", "{:.0f}"), number(record, "k", "{:.0f}"),
                                        number(record, "n", "{:.0f}")),
                            ratio->get<double>()});
        }
    }
    html += "</table>\n";
    return html + (bars.empty() ? "" : ratios_svg(bars));
}

}  // namespace

void run(const ReportArguments& report) {
    std::string html =
        "<!doctype html>\n<html><head><meta charset=\"utf-8\"><title>Heptad report</title>\n<style>body{font-family:"
        "sans-serif;max-width:1000px;margin:2em auto}table{border-collapse:collapse}td,th{border:1px solid "
        "#ccc;padding:"
        "2px 8px;text-align:right}</style></head><body>\n<h1>Heptad report</h1>\n";
    for (const std::string& path : report.files) {
        std::error_code missing;  // then they are not the same
        if (std::filesystem::equivalent(path, report.output, missing)) {
            fail(ErrorCode::usage, "'{}' would be replaced by the report of itself; give -o another name", path);
        }
        const Json json = read_json(path);
        if (json.contains("traceEvents") && json["traceEvents"].is_array()) {
            html += timeline_section(json, path);
        } else if (json.contains("results") && json["results"].is_array()) {
            html += results_section(json, path);
        } else {
            fail(ErrorCode::input,
                 "'{}' has neither 'results' nor 'traceEvents'; give a file that --json or --trace wrote", path);
        }
    }
    html += "</body></html>\n";
    AtomicFile file(report.output, static_cast<std::int64_t>(html.size()));
    file.write(html.data(), static_cast<std::int64_t>(html.size()));
    file.commit();
    print(fmt::format("{}: {} file{}\n", report.output, report.files.size(), report.files.size() == 1 ? "" : "s"));
}

}  // namespace heptad::cli
