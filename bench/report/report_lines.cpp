#include "bench/report/report_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "bench/report/report_timeline.hpp"

namespace heptad::cli {
namespace {

constexpr double kWidth = 960, kHeight = 340, kLeft = 50, kRight = 230, kTop = 16, kBottom = 34;
constexpr std::array<const char*, 8> kColours{"#4477aa", "#cc6677", "#228833", "#ccbb44",
                                              "#66ccee", "#aa3377", "#888888", "#332288"};

/// From numbers to pixels.
struct Frame {
    double log_low = 0, log_high = 1, highest = 1.2;

    double x(double n) const {
        return kLeft + (std::log2(n) - log_low) / (log_high - log_low) * (kWidth - kLeft - kRight);
    }
    double y(double ratio) const { return kHeight - kBottom - ratio / highest * (kHeight - kTop - kBottom); }
};

Frame frame_of(const std::vector<PlotLine>& lines) {
    Frame frame;
    double low = lines.front().points.front().first, high = low;
    for (const PlotLine& line : lines) {
        for (const auto& [n, ratio] : line.points) {
            low = std::min(low, n);
            high = std::max(high, n);
            frame.highest = std::max(frame.highest, 1.05 * ratio);
        }
    }
    frame.log_low = std::log2(low);
    frame.log_high = std::max(std::log2(high), frame.log_low + 1);
    return frame;
}

/// Ratios at a fifth, a half, one, two, five ... of each other: five to ten of them.
double step_of(double highest) {
    double step = std::pow(10.0, std::floor(std::log10(highest)) - 1);
    for (const double factor : {2.0, 2.5, 2.0, 2.0}) {
        if (highest / step > 10) {
            step *= factor;
        }
    }
    return step;
}

std::string axes(const Frame& frame) {
    std::string svg;
    const double step = step_of(frame.highest), right = kWidth - kRight;
    for (int i = 0; i * step <= frame.highest; ++i) {
        const double y = frame.y(i * step);
        svg += fmt::format(
            "<line x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"#ddd\"/><text x=\"{3:.1f}\" "
            "y=\"{4:.1f}\" text-anchor=\"end\">{5:.3g}</text>\n",
            kLeft, right, y, kLeft - 6, y + 4, i * step);
    }
    for (int power = static_cast<int>(std::ceil(frame.log_low)); power <= frame.log_high; ++power) {
        const double n = std::exp2(power);
        svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:.0f}</text>\n", frame.x(n),
                           kHeight - 14, n);
    }
    svg += fmt::format("<line x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"#333\"/>\n", kLeft,
                       right, frame.y(1));
    return svg;
}

}  // namespace

std::string ratio_lines_svg(const std::vector<PlotLine>& lines) {
    const Frame frame = frame_of(lines);
    const double height = std::max(kHeight, kTop + 18 * static_cast<double>(lines.size()) + kBottom);
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
        "font-family=\"sans-serif\" font-size=\"12\">\n",
        kWidth, height);
    svg += axes(frame);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const char* colour = kColours[i % kColours.size()];
        std::string path, dots;
        for (const auto& [n, ratio] : lines[i].points) {
            path += fmt::format("{:.1f},{:.1f} ", frame.x(n), frame.y(ratio));
            dots += fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="2.5" fill="{}"/>)", frame.x(n), frame.y(ratio),
                                colour);
        }
        svg += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"/>{}\n", path,
                           colour, dots);
        svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"{}\">{}</text>\n", kWidth - kRight + 12,
                           kTop + 12 + 18 * static_cast<double>(i), colour, html_text(lines[i].label));
    }
    return svg + "</svg>\n";
}

}  // namespace heptad::cli
