// When which stage of a pipeline worked on what, and how much it moved: for rates in the progress line, and as a
// timeline in the trace format of Chrome (chrome://tracing, ui.perfetto.dev).
//
// Stages have the names of P4's figure 4: DR disk to memory, M2G memory to device, MM multiply, G2M device to memory,
// DW memory to disk. On a processor there are DR, MM and DW.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "base/timing.hpp"

namespace heptad {

enum class Stage : std::uint8_t { disk_read, upload, multiply, download, disk_write };
inline constexpr std::array<Stage, 5> kStages{Stage::disk_read, Stage::upload, Stage::multiply, Stage::download,
                                              Stage::disk_write};
/// "DR", "M2G", "MM", "G2M", "DW"
const char* stage_name(Stage stage);

struct StageTotal {
    double busy_s = 0;
    double amount = 0;  ///< bytes moved, operations multiplied
};

class StageTrace {
public:
    using Clock = heptad::Clock;

    explicit StageTrace(bool keeps_events) : keeps_events_(keeps_events), start_(Clock::now()) {}

    void add(Stage stage, const std::string& label, Clock::time_point from, Clock::time_point to, double amount);
    StageTotal total(Stage stage) const;
    double elapsed_s() const { return seconds_since(start_); }
    /// {"traceEvents": [...]}
    std::string chrome_json() const;

private:
    struct Event {
        Stage stage;
        std::string label;
        double from_us, length_us, amount;
    };
    bool keeps_events_;
    Clock::time_point start_;
    mutable std::mutex mutex_;
    std::vector<Event> events_;
    std::array<StageTotal, kStages.size()> totals_;
};

}  // namespace heptad
