#include "move/stage_trace.hpp"

#include <fmt/format.h>

namespace heptad {

const char* stage_name(Stage stage) {
    constexpr std::array<const char*, kStages.size()> names{"DR", "M2G", "MM", "G2M", "DW", "NS", "NR", "RS"};
    return names[static_cast<std::size_t>(stage)];
}

void StageTrace::begin_step(const std::string& step) {
    const std::lock_guard lock(mutex_);
    step_ = step + " ";
}

void StageTrace::add(Stage stage, const std::string& label, Clock::time_point from, Clock::time_point to,
                     double amount) {
    const std::lock_guard lock(mutex_);
    const std::string name = step_ + stage_name(stage);
    StageTotal& total = totals_[name];
    total.busy_s += seconds_between(from, to);
    total.amount += amount;
    if (keeps_intervals_) {
        intervals_.push_back({name, seconds_between(start_, from), seconds_between(start_, to), label, amount});
    }
}

StageTotal StageTrace::total(Stage stage) const {
    const std::lock_guard lock(mutex_);
    const auto found = totals_.find(stage_name(stage));
    return found != totals_.end() ? found->second : StageTotal{};
}

std::map<std::string, double> StageTrace::seconds() const {
    const std::lock_guard lock(mutex_);
    std::map<std::string, double> all;
    for (const auto& [name, total] : totals_) {
        all[name] = total.busy_s;
    }
    return all;
}

std::vector<StageInterval> StageTrace::intervals() const {
    const std::lock_guard lock(mutex_);
    return intervals_;
}

std::string StageTrace::chrome_json() const {
    std::string text = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n";
    std::map<std::string, int> rows;  // of the timeline, named where the stage did something
    for (const Stage stage : kStages) {
        rows[stage_name(stage)] = static_cast<int>(stage) + 1;
        if (total(stage).busy_s == 0) {
            continue;
        }
        text += fmt::format(
            "{{\"ph\": \"M\", \"pid\": 1, \"tid\": {}, \"name\": \"thread_name\", \"args\": {{\"name\": \"{}\"}}}},\n",
            rows[stage_name(stage)], stage_name(stage));
    }
    for (const StageInterval& interval : intervals()) {
        text += fmt::format(
            "{{\"ph\": \"X\", \"pid\": 1, \"tid\": {}, \"name\": \"{}\", \"cat\": \"{}\", \"ts\": {:.3f}, \"dur\": "
            "{:.3f}, "
            "\"args\": {{\"what\": \"{}\", \"amount\": {:.0f}}}}},\n",
            rows[interval.stage], interval.stage, interval.stage, 1e6 * interval.begin_s,
            1e6 * (interval.end_s - interval.begin_s), interval.label, interval.amount);
    }
    text += "{\"ph\": \"M\", \"pid\": 1, \"name\": \"process_name\", \"args\": {\"name\": \"heptad mul\"}}\n]}\n";
    return text;
}

}  // namespace heptad
