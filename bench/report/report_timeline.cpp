#include "bench/report/report_timeline.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace heptad::cli {
namespace {

constexpr double kWidth = 960, kLabel = 180, kRow = 28, kMargin = 24;
constexpr double kNarrowest = 0.7;  // pixels

const char* colour_of(const std::string& stage) {
    return stage == "DR"    ? "#4477aa"
           : stage == "MM"  ? "#228833"
           : stage == "DW"  ? "#cc6677"
           : stage == "M2G" ? "#66ccee"
           : stage == "G2M" ? "#ccbb44"
                            : "#888888";
}

std::string svg_head(double height) {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" width=\"{:.0f}\" "
        "font-family=\"sans-serif\" font-size=\"12\">\n",
        kWidth, height, kWidth);
}

}  // namespace

std::string html_text(const std::string& text) {
    std::string safe;
    for (const char c : text) {
        safe += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : std::string(1, c);
    }
    return safe;
}

std::string timeline_svg(const std::vector<TimelineBar>& bars) {
    std::vector<std::string> stages;
    double begin_s = bars.empty() ? 0 : bars.front().from_s, end_s = 0;
    for (const TimelineBar& bar : bars) {
        begin_s = std::min(begin_s, bar.from_s);
        if (std::find(stages.begin(), stages.end(), bar.stage) == stages.end()) {
            stages.push_back(bar.stage);
        }
        end_s = std::max(end_s, bar.from_s + bar.length_s);
    }
    const double scale = (kWidth - kLabel - kMargin) / std::max(end_s - begin_s, 1e-9);
    const double height = kRow * static_cast<double>(stages.size()) + 2 * kMargin;
    std::string svg = svg_head(height);
    for (std::size_t row = 0; row < stages.size(); ++row) {
        const double y = kMargin / 2 + kRow * static_cast<double>(row);
        svg += fmt::format("<text x=\"8\" y=\"{:.1f}\">{}</text>\n", y + 18, html_text(stages[row]));
        double from = 0, to = -1;  // pixels of the bar that is being joined
        const auto flush = [&] {
            if (to >= from) {
                svg += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"20\" fill=\"{}\"/>\n",
                                   from, y + 4, std::max(to - from, kNarrowest), colour_of(stages[row]));
            }
        };
        for (const TimelineBar& bar : bars) {
            if (bar.stage != stages[row]) {
                continue;
            }
            const double begin = kLabel + (bar.from_s - begin_s) * scale, end = begin + bar.length_s * scale;
            if (to >= from && begin - to < kNarrowest) {
                to = std::max(to, end);
            } else {
                flush();
                from = begin;
                to = end;
            }
        }
        flush();
    }
    svg += fmt::format(
        "<text x=\"{:.0f}\" y=\"{:.1f}\">0</text><text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{:.2f} s</text>\n",
        kLabel, height - 8, kWidth - kMargin, height - 8, end_s - begin_s);
    return svg + "</svg>\n";
}

std::string ratios_svg(const std::vector<RatioBar>& bars) {
    double largest = 1.2;
    for (const RatioBar& bar : bars) {
        largest = std::max(largest, bar.ratio);
    }
    const double scale = (kWidth - 2 * kLabel - kMargin) / largest;
    const double height = 20 * static_cast<double>(bars.size()) + kMargin;
    std::string svg = svg_head(height);
    for (std::size_t i = 0; i < bars.size(); ++i) {
        const double y = 8 + 20 * static_cast<double>(i);
        svg += fmt::format(
            "<text x=\"8\" y=\"{:.1f}\">{}</text><rect x=\"{:.0f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"14\" "
            "fill=\"{}\"/><text x=\"{:.1f}\" y=\"{:.1f}\">{:.2f}</text>\n",
            y + 12, html_text(bars[i].label), 2 * kLabel, y, std::max(bars[i].ratio, 0.0) * scale,
            bars[i].ratio >= 1 ? "#228833" : "#cc6677", 2 * kLabel + bars[i].ratio * scale + 4, y + 12, bars[i].ratio);
    }
    svg += fmt::format("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"0\" y2=\"{1:.0f}\" stroke=\"#333\"/>\n",
                       2 * kLabel + scale, height);
    return svg + "</svg>\n";
}

}  // namespace heptad::cli
