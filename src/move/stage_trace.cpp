#include "move/stage_trace.hpp"
#include "base/timing.hpp"

#include <fmt/format.h>

namespace heptad {

const char* stage_name(Stage stage) {
    constexpr std::array<const char*, kStages.size()> names{"DR", "M2G", "MM", "G2M", "DW"};
    return names[static_cast<std::size_t>(stage)];
}

void StageTrace::add(Stage stage, const std::string& label, Clock::time_point from, Clock::time_point to,
                     double amount) {
    const std::lock_guard lock(mutex_);
    StageTotal& total = totals_[static_cast<std::size_t>(stage)];
    total.busy_s += seconds_between(from, to);
    total.amount += amount;
    if (keeps_events_) {
        using Microseconds = std::chrono::duration<double, std::micro>;
        events_.push_back({stage, label, Microseconds(from - start_).count(), Microseconds(to - from).count(), amount});
    }
}

StageTotal StageTrace::total(Stage stage) const {
    const std::lock_guard lock(mutex_);
    return totals_[static_cast<std::size_t>(stage)];
}

std::string StageTrace::chrome_json() const {
    const std::lock_guard lock(mutex_);
    std::string text = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n";
    for (const Stage stage : kStages) {  // one row of the timeline for each stage that did something
        if (totals_[static_cast<std::size_t>(stage)].busy_s == 0) {
            continue;
        }
        text += fmt::format(
            "{{\"ph\": \"M\", \"pid\": 1, \"tid\": {}, \"name\": \"thread_name\", \"args\": {{\"name\": \"{}\"}}}},\n",
            static_cast<int>(stage) + 1, stage_name(stage));
    }
    for (const Event& event : events_) {
        text += fmt::format(
            "{{\"ph\": \"X\", \"pid\": 1, \"tid\": {}, \"name\": \"{}\", \"cat\": \"{}\", \"ts\": {:.3f}, \"dur\": "
            "{:.3f}, "
            "\"args\": {{\"what\": \"{}\", \"amount\": {:.0f}}}}},\n",
            static_cast<int>(event.stage) + 1, stage_name(event.stage), stage_name(event.stage), event.from_us,
            event.length_us, event.label, event.amount);
    }
    text += "{\"ph\": \"M\", \"pid\": 1, \"name\": \"process_name\", \"args\": {\"name\": \"heptad mul\"}}\n]}\n";
    return text;
}

}  // namespace heptad
