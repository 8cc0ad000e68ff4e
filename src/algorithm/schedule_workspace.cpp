// What a schedule costs beyond its products: the slots of its temporaries and its block additions.
#include <algorithm>

#include "algorithm/schedule.hpp"
#include "base/size.hpp"

namespace heptad {
namespace {

struct Slot {
    Shape shape = Shape::c;
    std::int64_t elements = 0;
};

Slot slot_of(const Temporary& temporary, std::int64_t mb, std::int64_t kb, std::int64_t nb) {
    if (mb < 0 || kb < 0 || nb < 0) {
        fail(ErrorCode::usage, "block sizes must not be negative, they are {} x {} x {}", mb, kb, nb);
    }
    Slot slot;
    for (const Shape shape : temporary.holds) {
        const std::int64_t elements = shape == Shape::a   ? checked_mul(mb, kb)
                                      : shape == Shape::b ? checked_mul(kb, nb)
                                                          : checked_mul(mb, nb);
        if (elements > slot.elements || slot.elements == 0) {
            slot = {shape, elements};
        }
    }
    return slot;
}

}  // namespace

std::int64_t temporary_elements(const Temporary& temporary, std::int64_t mb, std::int64_t kb, std::int64_t nb) {
    return slot_of(temporary, mb, kb, nb).elements;
}

ScheduleWorkspace schedule_workspace(const Schedule& schedule, std::int64_t mb, std::int64_t kb, std::int64_t nb) {
    ScheduleWorkspace workspace;
    for (const Temporary& temporary : schedule.temporaries) {
        const Slot slot = slot_of(temporary, mb, kb, nb);
        (slot.shape == Shape::a   ? workspace.temporaries_a
         : slot.shape == Shape::b ? workspace.temporaries_b
                                  : workspace.temporaries_c) += 1;
        workspace.elements = checked_add(workspace.elements, slot.elements);
    }
    return workspace;
}

std::int64_t schedule_workspace_elements(const Schedule& schedule, std::int64_t mb, std::int64_t kb, std::int64_t nb) {
    return schedule_workspace(schedule, mb, kb, nb).elements;
}

int count_products(const Schedule& schedule) {
    return static_cast<int>(std::count_if(schedule.steps.begin(), schedule.steps.end(), [](const ScheduleStep& step) {
        return step.kind == ScheduleStep::Kind::product;
    }));
}

int count_additions(const Schedule& schedule) {
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
