#include "bench/report/report_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include "base/embedded.hpp"
#include "base/error.hpp"
#include "bench/report/html.hpp"
#include "bench/report/report_bars.hpp"
#include "bench/report/report_grades.hpp"
#include "bench/report/report_panels.hpp"
#include "bench/report/report_record.hpp"
#include "bench/report/report_table.hpp"

namespace heptad::cli {
namespace {

struct ResultFile {
    std::string name, title;  // as given; without folder and ending
    Json machine = Json::object();
    std::vector<Record> records = {};
    std::vector<Series> series = {};  // of the records
    Json grades = Json::array();      // of `bench grade`
};

bool has_list(const Json& content, const char* key) {
    const auto found = content.find(key);
    return found != content.end() && found->is_array();
}

/// The device, or the processor where there was none.
std::string place_of(const ResultFile& file) {
    const std::string device = word(file.machine, "device");
    return device.empty() || device == "cpu" ? word(file.machine, "cpu") : device;
}

ResultFile read_results(const ReportSource& source) {
    ResultFile file{.name = source.name, .title = std::filesystem::path(source.name).stem().string()};
    if (const auto machine = source.content.find("machine"); machine != source.content.end() && machine->is_object()) {
        file.machine = *machine;
    }
    if (source.content.contains("command")) {  // of programs beside heptad
        file.machine["command"] = source.content["command"];
    }
    for (const Json& record : source.content["results"]) {
        if (!record.is_object()) {
            fail(ErrorCode::input, "'{}' has a result that is not an object; give a file that --json wrote",
                 source.name);
        }
        file.records.push_back(read_record(record));
    }
    // By type in the order of the file, then by size: a bench measures shape by shape.
    std::map<std::string, std::size_t> types;
    for (const Record& record : file.records) {
        types.emplace(record.type, types.size());
    }
    std::stable_sort(file.records.begin(), file.records.end(), [&](const Record& x, const Record& y) {
        return std::pair(types[x.type], x.n) < std::pair(types[y.type], y.n);
    });
    file.series = series_of(file.records);
    if (has_list(source.content, "grades")) {
        file.grades = source.content["grades"];
    }
    return file;
}

/// A number without the machine, the library versions and the command that made it is not a result.
std::string machine_html(const ResultFile& file) {
    const Json& machine = file.machine;
    std::string text;
    const auto add = [&](const std::string& part) {
        text += (text.empty() || part.empty() ? "" : "; ") + html_text(part);
    };
    if (const Figure cores = figure(machine, "cores")) {
        add(fmt::format("{}, {:.0f} cores", word(machine, "cpu"), *cores));
    }
    if (const std::string device = word(machine, "device"); device != "cpu") {
        add(device);
    }
    if (has_list(machine, "libraries")) {
        for (const Json& library : machine["libraries"]) {
            if (library.is_object() && library.value("found", Json(true)) != Json(false)) {
                const std::string core = word(library, "core");
                add(fmt::format("{} {}{}", word(library, "name"), word(library, "version"),
                                core.empty() ? "" : " (" + core + ")"));
            }
        }
    }
    const std::string commit = word(machine, "commit"), command = word(machine, "command");
    add(commit.empty() ? "" : "commit " + commit);
    add(word(machine, "date"));
    add(file.name);
    return fmt::format("<p class=\"machine\">{}</p>\n{}", text,
                       command.empty() ? "" : "<pre><code>" + html_text(command) + "</code></pre>\n");
}

/// Whether one says more than another: against a library rather than a loop, of a whole type rather than of a variant,
/// and the most times as fast.
bool says_more(const Series& one, const Series* other) {
    const auto rank = [](const Series& series) {
        const Record& best = *series.best();
        return std::tuple(best.ratio ? best.against_library ? 2 : 1 : 0, series.label == best.type,
                          best.ratio ? best.claim() : *best.operations_per_s);
    };
    return other == nullptr || rank(one) > rank(*other);
}

std::string headline_html(const std::vector<ResultFile>& files) {
    const ResultFile* file = nullptr;
    const Series* chosen = nullptr;
    for (const ResultFile& one : files) {
        for (const Series& series : one.series) {
            if (says_more(series, chosen)) {
                chosen = &series;
                file = &one;
            }
        }
    }
    std::set<std::string> places;
    for (const ResultFile& one : files) {
        places.insert(place_of(one));
    }
    places.erase("");
    const bool mixed = places.size() > 1;
    const std::string where = mixed ? fmt::format("{} machines", places.size()) : places.empty() ? "" : *places.begin();
    Json graded = Json::array();
    for (const ResultFile& one : files) {
        graded.insert(graded.end(), one.grades.begin(), one.grades.end());
    }
    const std::string grades = grades_headline(graded);
    const std::string there = mixed && file != nullptr && !place_of(*file).empty() ? " (" + place_of(*file) + ")" : "";
    return fmt::format("<header><p class=\"kicker\">Heptad report{}</p><h1>{}</h1></header>\n<main>\n",
                       where.empty() ? "" : " \u00b7 " + html_text(where),
                       chosen != nullptr ? html_text(chosen->sentence() + there)
                       : !grades.empty() ? grades
                       : files.empty()   ? "Timeline"
                                         : "Results");
}

/// Of each type what says most.
std::vector<const Series*> highlights(const ResultFile& file) {
    std::vector<const Series*> all;
    for (const Series& series : file.series) {
        const std::string& type = series.best()->type;
        const auto found =
            std::find_if(all.begin(), all.end(), [&](const Series* one) { return one->best()->type == type; });
        if (found == all.end()) {
            all.push_back(&series);
        } else if (says_more(series, *found)) {
            *found = &series;
        }
    }
    return all;
}

/// The least and the largest of what the records have, as "0.1" or "0.1 to 17".
template <class Value>
std::string range_text(const Series& series, Value value) {
    Figure low, high;
    for (const Record* record : series.squares) {
        if (const Figure one = value(*record)) {
            low = std::min(low.value_or(*one), *one);
            high = std::max(high.value_or(*one), *one);
        }
    }
    const std::string first = low ? ratio_text(*low) : "", last = high ? ratio_text(*high) : "";
    return first == last ? first : first + " to " + last;
}

std::string figure_text(const Record& best) {
    return !best.ratio           ? rate_text(*best.operations_per_s, best.exact)
           : best.only_as_fast() ? "as fast"
                                 : ratio_text(*best.ratio) + "\u00d7";
}

std::string tile_html(const Series& series) {
    const Record& best = *series.best();
    std::string html = fmt::format(R"(<li class="card tile"><b>{}</b><span>{}{}</span><small>at n = {:.0f}</small>)",
                                   figure_text(best), html_text(series.label),
                                   best.ratio ? " against " + html_text(series.against) : "", best.n);
    const auto line = [&](const std::string& text) { html += "<small>" + html_text(text) + "</small>"; };
    if (best.ratio && series.curve()) {
        const Figure from = series.faster_from();
        line(from ? fmt::format("faster from n = {:.0f} on", *from) : "not faster at the largest size");
    }
    const std::string times_the_other = best.against_library ? " \u00d7 the library's" : " \u00d7 the other's";
    const std::string errors = range_text(series, [](const Record& record) { return record.error_ratio; });
    if (best.exact || !errors.empty()) {
        line(best.exact ? "exact" : "error " + errors + times_the_other);
    }
    const std::string energy = range_text(series, [](const Record& record) {
        return record.joules && record.vendor_joules ? Figure(*record.joules / *record.vendor_joules) : std::nullopt;
    });
    if (!energy.empty()) {
        line("energy " + energy + times_the_other);
    }
    return html + "</li>\n";
}

/// One file: what it says of each type. Several: a line each, which leads to the file.
std::string summary_html(const std::vector<ResultFile>& files) {
    std::string html;
    for (std::size_t i = 0; i < files.size(); ++i) {
        html += files.size() > 1 ? fmt::format(R"(<li><a href="#file{}">{}</a> <small>{}</small><br>)", i,
                                               html_text(files[i].title), html_text(place_of(files[i])))
                                 : "";
        for (const Series* series : highlights(files[i])) {
            html += files.size() == 1 ? tile_html(*series)
                                      : fmt::format(R"(<span class="chip"><b>{}</b> {}</span> )",
                                                    figure_text(*series->best()), html_text(series->best()->type));
        }
        html += files.size() > 1 ? "</li>\n" : "";
    }
    return html.empty() ? "" : fmt::format("<ul class=\"{}\">{}</ul>\n", files.size() > 1 ? "files" : "tiles", html);
}

/// One file: all kinds in one grid. Several: those of the same kind side by side.
std::string curves_html(const std::vector<ResultFile>& files) {
    std::vector<std::string> labels;
    std::map<std::string, std::vector<Panel>> panels;
    bool has_odd = false;
    for (const ResultFile& file : files) {
        for (const Series& series : file.series) {
            if (!series.curve()) {
                continue;
            }
            has_odd = has_odd || std::any_of(series.squares.begin(), series.squares.end(),
                                             [](const Record* record) { return record->odd(); });
            // Ratios and rates have no common scale.
            const std::string key = series.label + (series.against.empty() ? ", rate" : "");
            if (panels.find(key) == panels.end()) {
                labels.push_back(key);
            }
            panels[key].push_back({&series, files.size() > 1 ? file.title : ""});
        }
    }
    if (labels.empty()) {
        return "";
    }
    std::string html = "<section><h2>Speed and error over n</h2>\n" + panels_legend(has_odd), alone;
    for (const std::string& label : labels) {
        if (panels[label].size() == 1) {
            alone += panels_html(panels[label]);
        } else {
            html += fmt::format("<h3>{}</h3><div class=\"grid\">\n{}</div>\n", html_text(label),
                                panels_html(panels[label]));
        }
    }
    html += alone.empty() ? ""
                          : fmt::format("{}<div class=\"grid\">\n{}</div>\n",
                                        files.size() > 1 ? "<h3>In one file only</h3>" : "", alone);
    return html + "</section>\n";
}

using Rows = std::vector<std::pair<std::string, std::vector<RatioRow>>>;

void add_row(Rows& rows, const std::string& title, RatioRow row) {
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& one) { return one.first == title; });
    (found != rows.end() ? *found : rows.emplace_back(title, std::vector<RatioRow>())).second.push_back(std::move(row));
}

std::string cards_html(const char* title, const char* note, const Rows& rows, bool more_is_better) {
    std::string html;
    for (const auto& [name, some] : rows) {
        html += bar_card_html(ratio_card(name, some, more_is_better));
    }
    return html.empty()
               ? ""
               : fmt::format("<h3>{}</h3><p class=\"note\">{}</p><div class=\"grid\">\n{}</div>\n", title, note, html);
}

std::string shape_cards(const ResultFile& file) {
    std::set<const Record*> drawn;
    for (const Series& series : file.series) {
        if (series.curve()) {
            drawn.insert(series.squares.begin(), series.squares.end());
        }
    }
    Rows rows;
    for (const Record& record : file.records) {
        if (record.ratio && drawn.find(&record) == drawn.end()) {
            add_row(rows, record.type,
                    {record.shape() + (record.variant.empty() ? "" : ", " + record.variant),
                     ratio_text(*record.ratio) + "\u00d7", *record.ratio});
        }
    }
    return cards_html("Thin shapes and single sizes",
                      "m \u00d7 k \u00d7 n; times as fast as the library; the line is break-even", rows, true);
}

std::string energy_cards(const ResultFile& file) {
    Rows rows;
    for (const Record& record : file.records) {
        if (record.joules && record.vendor_joules) {
            const double share = *record.joules / *record.vendor_joules;
            add_row(rows, record.type,
                    {record.shape(), joules_text(*record.joules) + " instead of " + joules_text(*record.vendor_joules),
                     share});
        }
    }
    return cards_html("Energy of a product", "Heptad's joules instead of the library's; left of the line is less", rows,
                      false);
}

std::string stage_cards(const ResultFile& file) {
    std::string html;
    for (const Record& record : file.records) {
        html += stages_html(record);
    }
    return html.empty() ? ""
                        : "<h3>From file to file</h3><p class=\"note\">how long each stage was busy; the line is the "
                          "whole time</p><div class=\"grid\">\n" +
                              html + "</div>\n";
}

/// Bandwidths of machines that were measured: built in, and of tuning files among the sources.
std::vector<std::pair<std::string, double>> bandwidths(const std::vector<ReportSource>& sources) {
    std::vector<std::pair<std::string, double>> all;
    const auto add = [&](const Json& machine) {
        const Figure rate = machine.is_object() ? figure(machine, "combine_bytes_per_s") : std::nullopt;
        if (rate && *rate > 0 && !word(machine, "cpu").empty()) {
            all.emplace_back(word(machine, "cpu"), *rate);
        }
    };
    for (const ReportSource& source : sources) {
        if (has_list(source.content, "machines")) {
            std::for_each(source.content["machines"].begin(), source.content["machines"].end(), add);
        }
    }
    for (const EmbeddedFile& file : known_machine_files()) {
        add(Json::parse(file.text, nullptr, false));
    }
    return all;
}

std::string rooflines_html(const ResultFile& file, const std::vector<std::pair<std::string, double>>& known) {
    const std::string machine = place_of(file);
    const auto found = std::find_if(known.begin(), known.end(), [&](const auto& one) {
        return !machine.empty() && one.first.rfind(machine, 0) == 0;
    });
    if (found == known.end()) {
        return "";
    }
    std::vector<Roof> roofs;
    for (const Record& record : file.records) {
        if (record.exact || !record.against_library || !record.variant.empty()) {
            continue;
        }
        auto roof = std::find_if(roofs.begin(), roofs.end(), [&](const Roof& one) { return one.type == record.type; });
        if (roof == roofs.end()) {
            roof = roofs.insert(roofs.end(), Roof{record.type, found->second, {}});
        }
        roof->records.push_back(&record);
    }
    std::string html;
    for (const Roof& roof : roofs) {
        html += roofline_html(roof);
    }
    return html.empty() ? ""
                        : fmt::format(
                              "<h3>Roofline</h3><p class=\"note\">2 m k n operations over time: filled marks are "
                              "Heptad, hollow ones the library. The line is the limit of {}: the library's best "
                              "product, and the memory. Products above it take fewer operations.</p><div "
                              "class=\"grid\">\n{}</div>\n",
                              html_text(found->first), html);
}

std::string_view resource(std::string_view name) {
    for (const EmbeddedFile& file : report_page_files()) {
        if (file.file_name == name) {
            return file.text;
        }
    }
    return {};
}

}  // namespace

std::string report_page(const std::vector<ReportSource>& sources) {
    std::vector<ResultFile> files;
    std::string timelines;
    for (const ReportSource& source : sources) {
        if (has_list(source.content, "traceEvents")) {
            timelines += fmt::format("<section><h2>Timeline: {}</h2>\n{}</section>\n", html_text(source.name),
                                     timeline_html(source.name, source.content["traceEvents"]));
        } else if (has_list(source.content, "results")) {
            files.push_back(read_results(source));
        } else if (has_list(source.content, "machines") && sources.size() > 1) {
            continue;  // what `heptad tune` measured: the bandwidth of rooflines
        } else {
            fail(ErrorCode::input,
                 "'{}' has neither 'results' nor 'traceEvents'; give a file that --json or --trace wrote", source.name);
        }
    }
    std::string html = fmt::format(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
        "content=\"width=device-width, initial-scale=1\"><meta name=\"color-scheme\" content=\"light dark\">"
        "<title>Heptad report</title>\n<style>\n{}</style></head><body>\n{}{}{}{}",
        resource("report.css"), headline_html(files), summary_html(files), curves_html(files), timelines);
    const auto known = bandwidths(sources);
    for (std::size_t i = 0; i < files.size(); ++i) {
        const ResultFile& file = files[i];
        html += fmt::format("<section id=\"file{}\"><h2>{}</h2>\n{}{}{}{}{}{}{}</section>\n", i, html_text(file.title),
                            machine_html(file), grades_html(file.grades), shape_cards(file), energy_cards(file),
                            stage_cards(file), rooflines_html(file, known),
                            file.records.empty() && !file.grades.empty() ? "" : table_html(file.records));
    }
    return fmt::format("{}</main>\n<script>\n{}</script></body></html>\n", html, resource("report.js"));
}

}  // namespace heptad::cli
