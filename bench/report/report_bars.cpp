#include "bench/report/report_bars.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/error.hpp"
#include "base/quantity_text.hpp"
#include "bench/report/html.hpp"

namespace heptad::cli {
namespace {

constexpr double kNarrowest = 0.001;  // of a row: narrower gaps are not seen

struct StageName {
    const char *name, *meaning;
};
constexpr std::array<StageName, 8> kStageNames{{{"DR", "disk read"},
                                                {"M2G", "upload"},
                                                {"MM", "multiply"},
                                                {"G2M", "download"},
                                                {"DW", "disk write"},
                                                {"NS", "network send"},
                                                {"NR", "network receive"},
                                                {"RS", "reduce"}}};

/// "DR: disk read"; steps of a cluster have the name of a stage behind their own.
std::string stage_text(const std::string& stage) {
    const std::string last = stage.substr(stage.rfind(' ') + 1);
    for (const StageName& known : kStageNames) {
        if (last == known.name) {
            return stage + ": " + known.meaning;
        }
    }
    return stage;
}

/// Other kinds of events are legal in a timeline, and so is nonsense in a file that someone edited.
bool is_interval(const Json& event) {
    return event.is_object() && event.contains("ph") && event["ph"] == "X" && figure(event, "ts") &&
           figure(event, "dur") && (!event.contains("name") || event["name"].is_string());
}

/// Parts that cannot be told apart become one.
std::vector<std::pair<double, double>> joined(std::vector<std::pair<double, double>> parts) {
    std::sort(parts.begin(), parts.end());
    std::vector<std::pair<double, double>> fewer;
    for (const auto& [from, to] : parts) {
        if (!fewer.empty() && from - fewer.back().second < kNarrowest) {
            fewer.back().second = std::max(fewer.back().second, to);
        } else {
            fewer.emplace_back(from, to);
        }
    }
    return fewer;
}

std::string amount_text(const std::string& stage, double amount, double busy_s) {
    return busy_s <= 0     ? ""
           : stage == "MM" ? ", " + rate_text(amount / busy_s, false)
                           : ", " + format_byte_rate(amount, busy_s);
}

}  // namespace

std::string bar_card_html(const BarCard& card) {
    std::string html = fmt::format("<section class=\"card\"><h4>{}</h4><ul class=\"bars\">\n", html_text(card.title));
    const std::string rule = card.rule < 0 ? "" : fmt::format(R"(<em style="left:{:.1f}%"></em>)", 100 * card.rule);
    for (const Bar& bar : card.bars) {
        html += fmt::format(R"(<li><span>{}</span><b>{}</b><span class="track">)", html_text(bar.label),
                            html_text(bar.value));
        for (const auto& [from, to] : bar.parts) {
            html += fmt::format(R"(<i class="{}" style="left:{:.2f}%;width:{:.2f}%"></i>)", bar.kind, 100 * from,
                                100 * std::max(to - from, kNarrowest));
        }
        html += rule + "</span></li>\n";
    }
    return html + "</ul>" + (card.note.empty() ? "" : R"(<p class="note">)" + html_text(card.note) + "</p>") +
           "</section>\n";
}

BarCard ratio_card(const std::string& title, const std::vector<RatioRow>& rows, bool more_is_better) {
    double low = std::log(0.9), high = std::log(1.1);
    for (const RatioRow& row : rows) {
        low = std::min(low, std::log(row.ratio));
        high = std::max(high, std::log(row.ratio));
    }
    const auto place = [&](double logarithm) { return (logarithm - low) / (high - low); };
    BarCard card{.title = title, .rule = place(0)};
    for (const RatioRow& row : rows) {
        const double end = std::log(row.ratio), from = std::min(0.0, end), to = std::max(0.0, end);
        card.bars.push_back({row.label, row.value, {{place(from), place(to)}}, kind_of(row.ratio, more_is_better)});
    }
    return card;
}

std::string stages_html(const Record& record) {
    const Figure wall_s = figure(record.json, "wall_s");
    if (!wall_s || *wall_s <= 0) {
        return "";
    }
    const auto longest = std::max(*wall_s, figure(record.json, "bound_s").value_or(0));
    BarCard card{.title = fmt::format("{} {}: {}", record.type, record.shape(), seconds_text(*wall_s)),
                 .rule = *wall_s / longest};
    for (const StageName& stage : kStageNames) {
        const auto found = record.json.find(stage.name);
        if (found == record.json.end() || !found->is_object()) {
            continue;
        }
        const double busy_s = std::clamp(figure(*found, "busy_s").value_or(0), 0.0, longest);
        card.bars.push_back(
            {stage_text(stage.name),
             seconds_text(busy_s) + amount_text(stage.name, figure(*found, "amount").value_or(0), busy_s),
             {{0, busy_s / longest}}});
    }
    const auto tell = [&](const char* key, const char* before, auto format) {
        if (const Figure value = figure(record.json, key); value && *value >= 0) {
            card.note += (card.note.empty() ? "" : "; ") + std::string(before) + format(*value);
        }
    };
    tell("read_bytes", "read ", bytes_text);
    tell("written_bytes", "written ", bytes_text);
    tell("memory_bytes", "allowed memory ", bytes_text);
    tell("peak_resident_bytes", "peak of the process ", bytes_text);
    tell("bound_s", "bound ", seconds_text);
    if (const std::string binds = word(record.json, "binds"); !binds.empty()) {
        card.note += (card.note.empty() ? "" : "; ") + ("bottleneck: " + binds);
    }
    return card.bars.empty() ? "" : bar_card_html(card);
}

std::string timeline_html(const std::string& name, const Json& events) {
    std::vector<std::string> stages;  // in the order of their first events
    std::map<std::string, std::vector<std::pair<double, double>>> times_s;
    double begin_s = 0, end_s = 0;
    for (const Json& event : events) {
        if (!is_interval(event)) {
            continue;
        }
        const std::string stage = event.contains("name") ? word(event, "name") : "?";
        const double from_s = *figure(event, "ts") / 1e6, to_s = from_s + std::max(0.0, *figure(event, "dur") / 1e6);
        if (times_s.find(stage) == times_s.end()) {
            stages.push_back(stage);
        }
        begin_s = times_s.empty() ? from_s : std::min(begin_s, from_s);
        end_s = times_s.empty() ? to_s : std::max(end_s, to_s);
        times_s[stage].emplace_back(from_s, to_s);
    }
    if (stages.empty()) {
        fail(ErrorCode::input, "'{}' is a timeline without a single stage; trace a longer run", name);
    }
    const double all_s = std::max(end_s - begin_s, 1e-9);
    BarCard card{.title = fmt::format("{:.2f} s", end_s - begin_s)};
    for (const std::string& stage : stages) {
        Bar bar{.label = stage_text(stage)};
        double busy_s = 0;
        for (const auto& [from_s, to_s] : times_s[stage]) {
            bar.parts.emplace_back((from_s - begin_s) / all_s, (to_s - begin_s) / all_s);
            busy_s += to_s - from_s;
        }
        bar.parts = joined(std::move(bar.parts));
        bar.value = fmt::format("{}, {:.0f} %", seconds_text(busy_s), 100 * busy_s / all_s);
        card.bars.push_back(std::move(bar));
    }
    card.note =
        "from left to right: from the start to the end of the run; behind each row, how long the stage was busy";
    return R"(<div class="wide">)" + bar_card_html(card) + "</div>";
}

}  // namespace heptad::cli
