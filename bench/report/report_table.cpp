#include "bench/report/report_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "bench/report/html.hpp"
#include "bench/report/plan_tree.hpp"

namespace heptad::cli {
namespace {

struct Cell {
    std::string html;
    Figure order;  // numbers; texts are sorted by what they show
};

struct Column {
    std::string title;
    bool text = false;  // one that says the same in all rows is said once, above the table
    std::function<Cell(const Record&)> cell;
};

Column text_column(const char* title, const std::function<std::string(const Record&)>& value) {
    return {title, true, [value](const Record& record) { return Cell{html_text(value(record)), {}}; }};
}

template <class Format>
Column number_column(const char* title, const std::function<Figure(const Record&)>& value, Format format) {
    return {title, false, [value, format](const Record& record) {
                const Figure number = value(record);
                return number ? Cell{html_text(format(*number)), number} : Cell{};
            }};
}

std::function<Figure(const Record&)> of(Figure Record::*member) {
    return [member](const Record& record) { return record.*member; };
}

std::function<Figure(const Record&)> of(const char* key) {
    return [key](const Record& record) { return figure(record.json, key); };
}

std::function<std::string(const Record&)> words(const char* key) {
    return [key](const Record& record) { return word(record.json, key); };
}

Column joules_column() {
    return {"energy", false, [](const Record& record) {
                const std::string other = record.vendor_joules
                                              ? fmt::format(" <small>vs {}</small>", joules_text(*record.vendor_joules))
                                              : "";
                return record.joules
                           ? Cell{fmt::format("<span>{}{}</span>", joules_text(*record.joules), other), record.joules}
                           : Cell{};
            }};
}

std::vector<Column> columns() {
    const auto seconds = [](double value) { return seconds_text(value); };
    const auto ratio = [](double value) { return ratio_text(value); };
    const auto times = [](double value) { return ratio_text(value) + "\u00d7"; };
    const auto count = [](double value) { return fmt::format("{:.0f}", value); };
    const auto error = [](double value) { return value == 0 ? "0" : fmt::format("{:.1e}", value); };
    return {
        number_column(
            "size", [](const Record& record) -> Figure { return record.m * record.k * record.n; }, count),
        text_column("type", [](const Record& record) { return record.type; }),
        text_column("suite", words("suite")),
        text_column("variant", [](const Record& record) { return record.variant; }),
        text_column("algorithm", words("algorithm")),
        text_column("accuracy", words("accuracy")),
        number_column("ranks", of("ranks"), count),
        number_column("speed", of(&Record::ratio), times),
        text_column("against", [](const Record& record) { return record.vendor; }),
        number_column("library", of(&Record::vendor_s), seconds),
        number_column("time", of(&Record::own_s), seconds),
        {"rate", false,
         [](const Record& record) {
             return record.operations_per_s
                        ? Cell{rate_text(*record.operations_per_s, record.exact), record.operations_per_s}
                        : Cell{};
         }},
        number_column("error ratio", of(&Record::error_ratio), ratio),
        number_column("error", of("error"), error),
        joules_column(),
        number_column("workspace", of("workspace_bytes"), bytes_text),
        number_column("received", of("received_bytes"), bytes_text),
        number_column("speedup", of("speedup"), ratio),
        number_column("efficiency", of("efficiency"), ratio),
        {"plan", false,
         [](const Record& record) {
             return Cell{plan_html(record.plan), {}};
         }},
    };
}

/// Texts are of few kinds, so comparing neighbours is enough.
bool says_one_thing(const Column& column, const std::vector<Record>& records) {
    return column.text && records.size() > 1 && std::all_of(records.begin(), records.end(), [&](const Record& record) {
               return column.cell(record).html == column.cell(records.front()).html;
           });
}

/// A job is compared with the one on the fewest ranks of its file; where there is no other, with itself.
bool compares_a_job_with_itself(const Column& column, const std::vector<Record>& records) {
    const auto ranks = of("ranks");
    return (column.title == "speedup" || column.title == "efficiency") &&
           std::all_of(records.begin(), records.end(),
                       [&](const Record& record) { return ranks(record) == ranks(records.front()); });
}

/// What the filter looks through: everything that is a word, and whether the product is odd or thin.
std::string found_by(const Record& record) {
    return html_text(fmt::format("{} {} {} {} {} {:.0f} {:.0f} {:.0f} {}", record.suite, record.type, record.variant,
                                 record.vendor, record.shape(), record.m, record.k, record.n,
                                 !record.square() ? "thin"
                                 : record.odd()   ? "odd"
                                                  : "even"));
}

}  // namespace

std::string table_html(const std::vector<Record>& records) {
    std::vector<Column> shown;
    std::string common;
    for (Column& column : columns()) {
        if (says_one_thing(column, records)) {
            const std::string text = column.cell(records.front()).html;
            common += text.empty() ? "" : fmt::format("{}{} {}", common.empty() ? "" : ", ", column.title, text);
        } else if (!compares_a_job_with_itself(column, records) &&
                   std::any_of(records.begin(), records.end(),
                               [&](const Record& record) { return !column.cell(record).html.empty(); })) {
            shown.push_back(std::move(column));
        }
    }
    std::string html = fmt::format(
        "<details class=\"all\" open><summary>{} product{}{}</summary>\n<div class=\"tools\" hidden><label>Filter "
        "<input type=\"search\" placeholder=\"f32 8192 odd\"></label> <output></output></div>\n<table><thead><tr>",
        records.size(), records.size() == 1 ? "" : "s", common.empty() ? "" : " <small>" + common + "</small>");
    for (const Column& column : shown) {
        html += fmt::format(R"(<th scope="col"{}>{}</th>)",
                            column.text || column.title == "plan" ? R"( class="text")" : "", column.title);
    }
    html += "</tr></thead><tbody>\n";
    for (const Record& record : records) {
        html += fmt::format(R"(<tr data-words="{}">)", found_by(record));
        for (const Column& column : shown) {
            Cell cell = column.cell(record);
            const bool size = column.title == "size";
            const std::string kind = size                      ? "size"
                                     : column.title == "speed" ? kind_of(record.ratio.value_or(1))
                                     : column.title == "plan"  ? "text plan-cell"
                                     : column.text             ? "text"
                                                               : "number";
            html += fmt::format(R"(<td class="{}" data-l="{}"{}>{}</td>)", kind, column.title,
                                cell.order ? fmt::format(R"( data-v="{:.9g}")", *cell.order) : "",
                                size ? html_text(record.shape()) : cell.html);
        }
        html += "</tr>\n";
    }
    return html + "</tbody></table></details>\n";
}

}  // namespace heptad::cli
