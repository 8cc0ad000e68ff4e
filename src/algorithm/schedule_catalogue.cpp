// The shipped schedules: embedded text, parsed and proven once, when the first one is asked for.
#include <map>

#include "algorithm/schedule.hpp"
#include "base/embedded.hpp"
#include "base/fail_if.hpp"
#include "base/shared_state.hpp"

namespace heptad {
namespace {

std::map<std::string, Schedule> load_schedules() {
    std::map<std::string, Schedule> schedules;
    for (const EmbeddedFile& file : algorithm_files()) {
        const std::string name(file.file_name);
        if (!name.ends_with(".sched")) {
            continue;
        }
        Schedule schedule = parse_schedule(std::string(file.text), name);
        const std::string objection = prove_schedule(schedule, schedule.ring);
        fail_if(!objection.empty(), ErrorCode::internal, "the shipped schedule {} does not hold: {}", name, objection);
        const std::string key = schedule.name;
        fail_if(!schedules.emplace(key, std::move(schedule)).second, ErrorCode::internal,
                "two shipped schedules are named {}; the second is {}", key, name);
    }
    return schedules;
}

const std::map<std::string, Schedule>& shipped_schedules() {
    static constinit Once<std::map<std::string, Schedule>> schedules;
    return schedules.get(load_schedules);
}

}  // namespace

const Schedule& find_schedule(const std::string& name) {
    const auto& schedules = shipped_schedules();
    const auto found = schedules.find(name);
    if (found == schedules.end()) {
        std::string known;
        for (const auto& entry : schedules) {
            known += (known.empty() ? "" : ", ") + entry.first;
        }
        fail(ErrorCode::usage, "there is no schedule '{}'; choose one of {}", name, known);
    }
    return found->second;
}

std::vector<std::string> schedule_names() {
    std::vector<std::string> names;
    for (const auto& entry : shipped_schedules()) {
        names.push_back(entry.first);
    }
    return names;
}

}  // namespace heptad
