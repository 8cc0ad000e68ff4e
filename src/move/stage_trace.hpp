// When which stage of a pipeline worked on what, how long, and how much it moved: seconds for reports, rates for the
// progress line, and a timeline in the trace format of Chrome (chrome://tracing, ui.perfetto.dev).
//
// Stages have the names of P4's figure 4: DR disk to memory, M2G memory to device, MM multiply, G2M device to memory,
// DW memory to disk; and on a cluster NS send, NR receive, RS receive and add. On a processor there are no M2G and G2M.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/timing.hpp"

namespace heptad {

enum class Stage : std::uint8_t { disk_read, upload, multiply, download, disk_write, send, receive, reduce };
inline constexpr std::array<Stage, 8> kStages{Stage::disk_read,  Stage::upload, Stage::multiply, Stage::download,
                                              Stage::disk_write, Stage::send,   Stage::receive,  Stage::reduce};
/// "DR", "M2G", "MM", "G2M", "DW", "NS", "NR", "RS"
const char* stage_name(Stage stage);

struct StageTotal {
    double busy_s = 0;
    double amount = 0;  ///< bytes moved, operations multiplied
};

struct StageInterval {
    std::string stage;              ///< "MM", or with the step it belongs to: "multiply MM"
    double begin_s = 0, end_s = 0;  ///< since the trace was made
    std::string label = {};
    double amount = 0;
};

/// Any thread may use it at any time.
class StageTrace {
public:
    explicit StageTrace(bool keeps_intervals) : keeps_intervals_(keeps_intervals) {}

    /// Stages from now on belong to this step of a job: "distribute", "multiply", "collect". Between steps only.
    void begin_step(const std::string& step);
    void add(Stage stage, const std::string& label, Clock::time_point from, Clock::time_point to, double amount);
    /// Does the work on the stage's account.
    template <class Work>
    void time(Stage stage, Work&& work) {
        const Clock::time_point from = Clock::now();
        work();
        add(stage, "", from, Clock::now(), 0);
    }

    /// Of a run without steps.
    StageTotal total(Stage stage) const;
    /// By stage, or "step stage".
    std::map<std::string, double> seconds() const;
    std::vector<StageInterval> intervals() const;
    /// Of a run without steps: {"traceEvents": [...]}
    std::string chrome_json() const;

private:
    const bool keeps_intervals_;
    const Clock::time_point start_ = Clock::now();
    mutable std::mutex mutex_;
    std::string step_;  // with a blank after it
    std::map<std::string, StageTotal> totals_;
    std::vector<StageInterval> intervals_;
};

}  // namespace heptad
