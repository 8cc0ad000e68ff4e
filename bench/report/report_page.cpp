#include "bench/report/report_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "base/error.hpp"
#include "bench/report/report_lines.hpp"
#include "bench/report/report_timeline.hpp"

namespace heptad::cli {
namespace {

using Json = nlohmann::json;

constexpr const char* kHead =
    "<!doctype html>\n<html><head><meta charset=\"utf-8\"><title>Heptad report</title>\n<style>body{font-family:"
    "sans-serif;max-width:1200px;margin:2em auto}table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:"
    "2px 8px;text-align:right}td.plan{text-align:left;font:11px monospace}</style></head><body>\n"
    "<h1>Heptad report</h1>\n";

std::optional<double> value(const Json& record, const char* key) {
    const auto found = record.find(key);
    return found != record.end() && found->is_number() && std::isfinite(found->get<double>())
               ? std::optional(found->get<double>())
               : std::nullopt;
}

/// A number, or a dash.
std::string number(const Json& record, const char* key, const char* format = "{:.4g}") {
    const std::optional<double> found = value(record, key);
    return found ? fmt::format(fmt::runtime(format), *found) : "-";
}

std::string word(const Json& record, const char* key) {
    const auto found = record.find(key);
    return found != record.end() && found->is_string() ? html_text(found->get<std::string>()) : "";
}

/// Empty where there was nothing to compare with; older files have 0 there.
std::optional<double> ratio_of(const Json& record) {
    const std::optional<double> ratio = value(record, "ratio");
    return ratio && *ratio > 0 ? ratio : std::nullopt;
}

/// Other kinds of events are legal in a timeline, and so is nonsense in a file that someone edited.
bool is_interval(const Json& event) {
    return event.is_object() && event.contains("ph") && event["ph"] == "X" && value(event, "ts") &&
           value(event, "dur") && (!event.contains("name") || event["name"].is_string());
}

std::string timeline_section(const ReportSource& source) {
    std::vector<TimelineBar> bars;
    for (const Json& event : source.content["traceEvents"]) {
        if (!is_interval(event)) {
            continue;
        }
        const auto name = event.find("name");
        bars.push_back({name != event.end() ? name->get<std::string>() : "?", "", *value(event, "ts") / 1e6,
                        *value(event, "dur") / 1e6});
    }
    if (bars.empty()) {
        fail(ErrorCode::input, "'{}' is a timeline without a single stage; trace a longer run", source.name);
    }
    return fmt::format("<h2>Timeline: {}</h2>\n{}", html_text(source.name), timeline_svg(bars));
}

/// A number without the machine, the library versions and the command that made it is not a result.
std::string machine_paragraph(const Json& machine) {
    std::string text = fmt::format("<p>{}, {} cores", word(machine, "cpu"), number(machine, "cores", "{:.0f}"));
    if (const std::string device = word(machine, "device"); !device.empty() && device != "cpu") {
        text += "; " + device;
    }
    const auto libraries = machine.find("libraries");
    if (libraries != machine.end() && libraries->is_array()) {
        for (const Json& library : *libraries) {
            if (library.is_object()) {
                const std::string core = word(library, "core");
                text += fmt::format("; {} {}{}", word(library, "name"), word(library, "version"),
                                    core.empty() ? "" : " (" + core + ")");
            }
        }
    }
    return text + fmt::format("; commit {}{}<br><code>{}</code></p>\n", word(machine, "commit"),
                              machine.contains("date") ? "; " + word(machine, "date") : "", word(machine, "command"));
}

/// Files of before the field was written for all have the two errors.
std::string error_ratio_text(const Json& record) {
    const std::optional<double> own = value(record, "error"), vendor = value(record, "vendor_error");
    const std::optional<double> told = value(record, "error_ratio");
    return told                           ? fmt::format("{:.2f}", *told)
           : own && vendor && *vendor > 0 ? fmt::format("{:.2f}", *own / *vendor)
                                          : "-";
}

std::string table_row(const Json& record, bool joules) {
    const std::optional<double> ratio = ratio_of(record);
    const auto cell = [](const std::string& text) { return "<td>" + text + "</td>"; };
    std::string row = "<tr>" + cell(ratio ? fmt::format("<b>{:.3f}</b>", *ratio) : "-") +
                      cell(ratio ? error_ratio_text(record) : "-");
    for (const char* key : {"suite", "variant", "type"}) {
        row += cell(word(record, key));
    }
    for (const char* key : {"m", "k", "n"}) {
        row += cell(number(record, key, "{:.0f}"));
    }
    const std::string vendor = word(record, "vendor");
    const bool compared = ratio.has_value();
    row += cell(vendor == "none" ? "" : vendor) + cell(compared ? number(record, "vendor_s") : "-");
    for (const char* key : {"heptad_s", "effective_tops"}) {
        row += cell(number(record, key));
    }
    row += cell(number(record, "error", "{:.2e}")) + cell(compared ? number(record, "vendor_error", "{:.2e}") : "-") +
           cell(number(record, "workspace_bytes", "{:.0f}"));
    if (joules) {
        row += cell(number(record, "joules")) + cell(number(record, "vendor_joules"));
    }
    return row + "<td class=\"plan\">" + word(record, "plan") + "</td></tr>\n";
}

std::string shape_text(const Json& record) {
    return fmt::format("{} x {} x {}", number(record, "m", "{:.0f}"), number(record, "k", "{:.0f}"),
                       number(record, "n", "{:.0f}"));
}

/// One line for each kind of record over the sizes of square products.
std::vector<PlotLine> square_lines(const Json& records) {
    std::map<std::string, PlotLine> lines;
    for (const Json& record : records) {
        const std::optional<double> n = value(record, "n"), ratio = ratio_of(record);
        if (!n || !ratio || *n < 1 || value(record, "m") != n || value(record, "k") != n) {
            continue;
        }
        std::string label;
        for (const char* key : {"suite", "type", "variant"}) {
            const auto found = record.find(key);
            if (found != record.end() && found->is_string()) {
                label.append(label.empty() ? "" : " ").append(found->get<std::string>());
            }
        }
        PlotLine& line = lines[label];
        line.label = label;
        line.points.emplace_back(*n, *ratio);
    }
    std::vector<PlotLine> drawn;
    for (auto& [label, line] : lines) {
        std::sort(line.points.begin(), line.points.end());
        if (line.points.front().first < line.points.back().first) {
            drawn.push_back(std::move(line));
        }
    }
    return drawn;
}

std::string results_section(const ReportSource& source) {
    const Json& records = source.content["results"];
    std::string html = fmt::format("<h2>{}</h2>\n", html_text(source.name));
    if (const auto machine = source.content.find("machine"); machine != source.content.end() && machine->is_object()) {
        html += machine_paragraph(*machine);
    }
    std::vector<RatioBar> bars;
    bool joules = false;
    for (const Json& record : records) {
        if (!record.is_object()) {
            fail(ErrorCode::input, "'{}' has a result that is no object; give a file that --json wrote", source.name);
        }
        joules = joules || value(record, "joules");
        if (const std::optional<double> ratio = ratio_of(record)) {
            bars.push_back({word(record, "suite") + " " + word(record, "type") + " " + shape_text(record), *ratio});
        }
    }
    if (const std::vector<PlotLine> lines = square_lines(records); !lines.empty()) {
        html += "<h3>Ratio over n</h3>\n" + ratio_lines_svg(lines);
    }
    html +=
        "<table><tr><th>ratio</th><th>error "
        "ratio</th><th>suite</th><th>variant</th><th>type</th><th>m</th><th>k</th><th>n</th>"
        "<th>against</th><th>its seconds</th><th>Heptad's</th><th>effective Top/s</th><th>error</th>"
        "<th>its error</th><th>workspace bytes</th>";
    html += joules ? "<th>joules</th><th>its joules</th>" : "";
    html += "<th>plan</th></tr>\n";
    for (const Json& record : records) {
        html += table_row(record, joules);
    }
    html += "</table>\n";
    return html + (bars.empty() ? "" : ratios_svg(bars));
}

}  // namespace

std::string report_page(const std::vector<ReportSource>& sources) {
    std::string html = kHead;
    for (const ReportSource& source : sources) {
        const auto has = [&](const char* key) {
            const auto found = source.content.find(key);
            return found != source.content.end() && found->is_array();
        };
        if (has("traceEvents")) {
            html += timeline_section(source);
        } else if (has("results")) {
            html += results_section(source);
        } else {
            fail(ErrorCode::input,
                 "'{}' has neither 'results' nor 'traceEvents'; give a file that --json or --trace wrote", source.name);
        }
    }
    return html + "</body></html>\n";
}

}  // namespace heptad::cli
