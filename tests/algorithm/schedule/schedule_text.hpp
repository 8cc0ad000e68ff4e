// A schedule as .sched text, which parses back to an equal one, and its steps counted.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "algorithm/schedule.hpp"

namespace heptad {

inline std::string print_schedule(const Schedule& schedule) {
    std::string text = fmt::format("schedule {}\nalgorithm {}\nsize {} {} {}\n", schedule.name, schedule.algorithm,
                                   schedule.m, schedule.k, schedule.n);
    if (schedule.ring != Ring::integers) {
        text += fmt::format("ring {}\n", ring_name(schedule.ring));
    }
    if (!schedule.source.empty()) {
        text += fmt::format("source {}\n", schedule.source);
    }
    if (!schedule.temporaries.empty()) {
        text += "temporaries";
        for (const Temporary& temporary : schedule.temporaries) {
            text += " " + temporary.name;
        }
        text += "\n";
    }
    text += schedule.accumulates ? "accumulates\n" : "";
    if (schedule.overwrites_a || schedule.overwrites_b) {
        text += fmt::format("overwrites{}{}\n", schedule.overwrites_a ? " A" : "", schedule.overwrites_b ? " B" : "");
    }
    text += "\n";
    for (const ScheduleStep& step : schedule.steps) {
        text += print_step(schedule, step) + "\n";
    }
    return text;
}

inline int count_products(const Schedule& schedule) {
    return static_cast<int>(std::count_if(schedule.steps.begin(), schedule.steps.end(), [](const ScheduleStep& step) {
        return step.kind == ScheduleStep::Kind::product;
    }));
}

/// Terms - 1 per output of the combines, and one for each `+=` and `-=` product.
inline int count_additions(const Schedule& schedule) {
    int additions = 0;
    for (const ScheduleStep& step : schedule.steps) {
        if (step.kind == ScheduleStep::Kind::product) {
            additions += step.update == ScheduleStep::Update::store ? 0 : 1;
        }
        for (const CombineOutput& output : step.outputs) {
            additions += std::max(0, static_cast<int>(output.terms.size()) - 1);
        }
    }
    return additions;
}

}  // namespace heptad
