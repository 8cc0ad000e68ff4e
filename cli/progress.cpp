#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "text.hpp"

namespace heptad::cli {
namespace {

constexpr std::chrono::milliseconds kQuietStart{2000};   // shorter runs show nothing
constexpr std::chrono::milliseconds kTerminalStep{200};  // between rewrites of the line
constexpr std::chrono::milliseconds kPlainStep{5000};    // between plain lines
constexpr double kSmallestFraction = 0.005;              // before that, a time left is a guess

}  // namespace

ProgressMeter::ProgressMeter()
    : terminal_(isatty(STDERR_FILENO) == 1), start_(Clock::now()), stage_start_(start_), last_shown_(start_) {}

ProgressMeter::~ProgressMeter() {
    clear();
}

void ProgressMeter::begin(const std::string& stage, double operations, Type type) {
    stage_ = stage;
    detail_.clear();
    operations_ = operations;
    type_ = type;
    stage_start_ = Clock::now();
    update(0);
}

void ProgressMeter::update(double fraction) {
    const Clock::time_point now = Clock::now();
    const auto step = terminal_ ? kTerminalStep : kPlainStep;
    const bool first = last_shown_ == start_;
    if (now - start_ < kQuietStart || (!first && now - last_shown_ < step)) {
        return;
    }
    show(std::clamp(fraction, 0.0, 1.0), now);
    last_shown_ = now;
}

void ProgressMeter::update(double fraction, const std::string& detail) {
    detail_ = detail;
    update(fraction);
}

void ProgressMeter::show(double fraction, Clock::time_point now) {
    const double elapsed_s = std::chrono::duration<double>(now - stage_start_).count();
    std::string line = stage_;
    if (!detail_.empty() && detail_ != stage_) {
        line += " (" + detail_ + ")";
    }
    line += fmt::format("  {:.0f} %", 100 * fraction);
    if (fraction >= kSmallestFraction && elapsed_s > 0) {
        if (operations_ > 0) {
            line += "  " + format_rate(operations_ * fraction / elapsed_s, type_);
        }
        line += "  " + format_clock(elapsed_s * (1 - fraction) / fraction) + " left";
    }
    // Progress is a courtesy: where it cannot be written the run goes on.
    if (terminal_) {
        std::fputs(("\r\033[K" + line).c_str(), stderr);
    } else {
        std::fputs((line + "\n").c_str(), stderr);
    }
    std::fflush(stderr);
    line_shown_ = true;
}

void ProgressMeter::clear() {
    if (terminal_ && line_shown_) {
        std::fputs("\r\033[K", stderr);
        std::fflush(stderr);
    }
    line_shown_ = false;
}

}  // namespace heptad::cli
