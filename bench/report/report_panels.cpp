#include "bench/report/report_panels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "bench/report/html.hpp"
#include "bench/report/log_axis.hpp"

namespace heptad::cli {
namespace {

constexpr double kWidth = 360, kLeft = 40, kRight = 350;
constexpr double kTop = 20, kMiddle = 150, kErrorTop = 182, kBottom = 246;
constexpr const char* kDiamond = "M{0:.1f} {1:.1f}m0-5l4.5 5-4.5 5-4.5-5z";

enum class Meaning { speed, error };

/// What panels that stand side by side share.
struct Scales {
    LogAxis n{1, 1, kLeft + 10, kRight - 14}, speed{1, 1, kMiddle, kTop}, error{1, 1, kBottom, kErrorTop};
    bool ratios = false, errors = false;
    double unit = 1;  // of rates
};

Figure height(const Record& record, Meaning meaning, const Scales& scales) {
    if (meaning == Meaning::error) {
        return record.error_ratio;
    }
    return scales.ratios ? record.ratio : Figure(record.operations_per_s.value_or(0) / scales.unit);
}

Scales scales_of(const std::vector<Panel>& panels) {
    Scales scales;
    const Series& front = *panels.front().series;
    scales.ratios = front.squares.front()->ratio.has_value();
    if (!scales.ratios) {
        const double best = front.best()->operations_per_s.value_or(1);
        scales.unit = best >= 1e12 ? 1e12 : best >= 1e9 ? 1e9 : 1e6;
        scales.speed.low = scales.speed.high = best / scales.unit;
    } else {
        scales.speed.take(0.8);
        scales.speed.take(1.25);
    }
    scales.n.low = scales.n.high = front.squares.front()->n;
    scales.error.take(0.5);
    scales.error.take(2);
    for (const Panel& panel : panels) {
        for (const Record* record : panel.series->squares) {
            scales.n.take(record->n);
            scales.speed.take(*height(*record, Meaning::speed, scales));
            if (record->error_ratio && !record->exact) {
                scales.errors = true;
                scales.error.take(*record->error_ratio);
            }
        }
    }
    scales.speed.first = scales.errors ? kMiddle : kBottom;
    scales.speed.widen();
    scales.error.widen();
    return scales;
}

std::string tip(const Record& record) {
    std::string text = record.shape();
    if (record.ratio) {
        text += fmt::format(": {} times as fast as {}", ratio_text(*record.ratio), record.vendor);
    }
    if (record.own_s) {
        text += "; " + seconds_text(*record.own_s);
    }
    if (record.vendor_s) {
        text += " instead of " + seconds_text(*record.vendor_s);
    }
    if (record.operations_per_s) {
        text += "; " + rate_text(*record.operations_per_s, record.exact);
    }
    if (record.error_ratio && !record.exact) {
        text += fmt::format("; error {} times the library's", ratio_text(*record.error_ratio));
    }
    return html_text(text);
}

/// Lines across, the values beside them, and what the axis says; the half plane that is better is tinted.
std::string frame(const LogAxis& y, const std::string& title, bool around_one, bool up_is_better) {
    std::string svg = fmt::format(R"(<text x="{}" y="{:.0f}" class="axis">{}</text>)", kLeft, y.last - 7, title);
    if (around_one) {
        const double from = up_is_better ? y.last : y.at(1), to = up_is_better ? y.at(1) : y.first;
        svg += fmt::format(R"(<rect class="good" x="{}" y="{:.1f}" width="{}" height="{:.1f}"/>)", kLeft, from,
                           kRight - kLeft, to - from);
    }
    for (const double value : y.ticks(17)) {
        const bool even = around_one && value == 1;
        svg += fmt::format(
            "<path class=\"{}\" d=\"M{} {:.1f}H{}\"/><text class=\"{}\" x=\"{}\" y=\"{:.1f}\" "
            "text-anchor=\"end\">{:.4g}</text>",
            even ? "even" : "grid", kLeft, y.at(value), kRight, even ? "tick one" : "tick", kLeft - 5, y.at(value) + 4,
            value);
    }
    return svg + "\n";
}

std::string sizes_axis(const LogAxis& n, double y) {
    std::string svg;
    for (const double size : n.powers_of_two(44)) {
        svg += fmt::format(R"(<text class="tick" x="{:.1f}" y="{:.0f}" text-anchor="middle">{:.0f}</text>)", n.at(size),
                           y, size);
    }
    return svg + "\n";
}

/// A line through even sizes, the best one of each; odd sizes are marks of their own.
std::string curve(const Series& series, const Scales& scales, Meaning meaning) {
    const LogAxis& y = meaning == Meaning::speed ? scales.speed : scales.error;
    std::map<double, double> line;
    std::string marks;
    for (const Record* record : series.squares) {
        const Figure value = height(*record, meaning, scales);
        if (!value) {
            continue;
        }
        const double x = scales.n.at(record->n);
        if (record->odd()) {
            marks += R"(<path class="odd" d=")" + fmt::format(fmt::runtime(kDiamond), x, y.at(*value)) + R"(">)";
        } else {
            const auto [entry, first] = line.emplace(record->n, *value);
            entry->second = std::max(entry->second, *value);
            marks += fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="3.2">)", x, y.at(*value));
        }
        marks += fmt::format("<title>{}</title></{}>", tip(*record), record->odd() ? "path" : "circle");
    }
    std::string points;
    for (const auto& [n, value] : line) {
        points += fmt::format("{:.1f},{:.1f} ", scales.n.at(n), y.at(value));
    }
    return fmt::format("<g class=\"{}\"><polyline points=\"{}\"/>{}</g>\n",
                       meaning == Meaning::speed ? "speed" : "error", points, marks);
}

std::string unit_text(const Scales& scales, bool exact) {
    const char* prefix = scales.unit == 1e12 ? "T" : scales.unit == 1e9 ? "G" : "M";
    return fmt::format("{}{}/s", prefix, exact ? "op" : "FLOP");
}

std::string panel_html(const Panel& panel, const Scales& scales) {
    const Series& series = *panel.series;
    const std::string sentence = series.sentence() + (series.squares.front()->exact ? "; exact" : "");
    const std::string rest = sentence.substr(series.label.size() + 2);
    std::string html = fmt::format(
        "<figure class=\"card panel\"><figcaption><b>{}</b> <span>{}</span></figcaption>\n<svg viewBox=\"0 0 {} "
        "{:.0f}\" role=\"img\" aria-label=\"{}; {} over n\">\n",
        html_text(panel.file.empty() ? series.label : series.label + " \u00b7 " + panel.file), html_text(rest), kWidth,
        kBottom + 26, html_text(sentence), scales.ratios ? "ratio of times" : "rate");
    html += frame(scales.speed, scales.ratios ? "times as fast" : unit_text(scales, series.squares.front()->exact),
                  scales.ratios, true);
    html += curve(series, scales, Meaning::speed);
    if (scales.errors) {
        html += frame(scales.error, "error over the library's", true, false) + curve(series, scales, Meaning::error);
    }
    return html + sizes_axis(scales.n, kBottom + 18) + "</svg></figure>\n";
}

}  // namespace

std::string panels_html(const std::vector<Panel>& panels) {
    const Scales scales = scales_of(panels);
    std::string html;
    for (const Panel& panel : panels) {
        html += panel_html(panel, scales);
    }
    return html;
}

std::string panels_legend(bool has_odd) {
    return fmt::format(
        "<p class=\"legend\"><svg viewBox=\"0 0 28 14\" width=\"28\" height=\"14\" aria-hidden=\"true\"><g "
        "class=\"speed\"><polyline points=\"1,7 27,7\"/><circle cx=\"14\" cy=\"7\" r=\"3.2\"/></g></svg> even n {}<svg "
        "viewBox=\"0 0 28 14\" width=\"28\" height=\"14\" aria-hidden=\"true\"><path class=\"even\" d=\"M0 "
        "7H28\"/></svg> "
        "break-even: as fast, or as accurate, as the library; the tinted side is better</p>\n",
        has_odd ? "<svg viewBox=\"0 0 14 14\" width=\"14\" height=\"14\" aria-hidden=\"true\"><g class=\"speed\"><path "
                  "class=\"odd\" d=\"M7 7m0-5l4.5 5-4.5 5-4.5-5z\"/></g></svg> odd n "
                : "");
}

std::string roofline_html(const Roof& roof) {
    double bits = roof.type == "f64" ? 64 : roof.type == "bf16" || roof.type == "f16" ? 16 : 32;
    bits = roof.type == "gf2" || roof.type == "bool" ? 1 : bits;
    const auto intensity = [&](const Record& record) {
        return 16 * record.m * record.k * record.n /
               (bits * (record.m * record.k + record.k * record.n + record.m * record.n));
    };
    const auto vendor_rate = [](const Record& record) {
        return record.against_library && record.vendor_s ? 2 * record.m * record.k * record.n / *record.vendor_s : 0;
    };
    const auto own_rate = [](const Record& record) { return record.operations_per_s.value_or(0); };
    double peak = 0;
    for (const Record* record : roof.records) {
        peak = std::max(peak, vendor_rate(*record));
    }
    if (peak == 0) {
        return "";
    }
    const double ridge = peak / roof.bytes_per_s;
    LogAxis x{ridge / 4, ridge * 2, kLeft, kRight}, y{peak / 4e12, peak / 1e12, kBottom - 10, kTop};
    for (const Record* record : roof.records) {
        for (const double rate : {vendor_rate(*record), own_rate(*record)}) {
            if (rate > 0) {
                x.take(intensity(*record));
                y.take(rate / 1e12);
            }
        }
    }
    x.widen();
    y.widen();
    const double left = std::max(x.low, y.low * 1e12 / roof.bytes_per_s);
    std::string html = fmt::format(
        "<figure class=\"card panel\"><figcaption><b>{0}</b> <span>library's best {1}, memory {2}</span></figcaption>\n"
        "<svg viewBox=\"0 0 {3} {4:.0f}\" role=\"img\" aria-label=\"{0}: rate over operations per byte\">\n{5}",
        html_text(roof.type), rate_text(peak, false), fmt::format("{:.3g} TB/s", roof.bytes_per_s / 1e12), kWidth,
        y.first + 34, frame(y, "TFLOP/s", false, true));
    html += fmt::format(R"(<path class="even" d="M{:.1f} {:.1f}L{:.1f} {:.1f}H{}"/>)", x.at(left),
                        y.at(left * roof.bytes_per_s / 1e12), x.at(ridge), y.at(peak / 1e12), kRight);
    for (const double value : x.ticks(44)) {
        html += fmt::format(R"(<text class="tick" x="{:.1f}" y="{:.0f}" text-anchor="middle">{}</text>)", x.at(value),
                            y.first + 16, value);
    }
    html += fmt::format(
        "<text class=\"axis\" x=\"{}\" y=\"{:.0f}\" text-anchor=\"end\">operations per byte of A, B and "
        "C</text>\n",
        kRight, y.first + 31);
    const auto marks = [&](const char* group, auto rate) {
        html += fmt::format(R"(<g class="{}">)", group);
        for (const Record* record : roof.records) {
            if (rate(*record) > 0) {
                html += fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="3.2"><title>{}</title></circle>)",
                                    x.at(intensity(*record)), y.at(rate(*record) / 1e12), tip(*record));
            }
        }
        html += "</g>";
    };
    marks("vendor", vendor_rate);
    marks("speed", own_rate);
    return html + "</svg></figure>\n";
}

}  // namespace heptad::cli
