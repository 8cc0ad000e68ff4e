// make_schedule: tries sums shared and plain, orders from the beam search and two ways to choose slots, and keeps the
// cheapest schedule. Price: block additions, plus `additions_per_temporary` for every temporary.
#include "algorithm/scheduler.hpp"

#include <algorithm>
#include <optional>

#include "base/error.hpp"

namespace heptad {
namespace {

constexpr std::size_t orders_to_allocate = 48;

struct Priced {
    Schedule schedule;
    int price = 0;
};

/// The cheapest schedule of one graph; nothing if none can be cheaper than `limit`.
std::optional<Priced> best_of_graph(const SchedulerGraph& graph, const SchedulerOptions& options, int limit) {
    const int additions = graph.additions() + (options.accumulate ? graph.m * graph.n : 0);
    if (additions >= limit) {
        return std::nullopt;
    }
    std::optional<Schedule> best;
    const std::vector<ProductOrder> orders = search_orders(graph, options);
    for (std::size_t i = 0; i < std::min(orders.size(), orders_to_allocate); ++i) {
        const int bound = std::min(orders[i].temporaries, best ? static_cast<int>(best->temporaries.size()) : 1 << 20);
        if (best && static_cast<int>(best->temporaries.size()) <= orders[i].temporaries) {
            break;  // orders come with the fewest temporaries first
        }
        const Recording recording = record_order(graph, options, orders[i].products);
        for (const SlotPreference preference : {SlotPreference::in_place, SlotPreference::best_fit}) {
            Schedule schedule = allocate_slots(graph, options, recording, preference);
            if (!best || schedule.temporaries.size() < best->temporaries.size()) {
                best = std::move(schedule);
            }
            if (static_cast<int>(best->temporaries.size()) <= bound) {
                break;
            }
        }
    }
    const int price = additions + static_cast<int>(best->temporaries.size()) * options.additions_per_temporary;
    return Priced{std::move(*best), price};
}

}  // namespace

Schedule make_schedule(const Algorithm& algorithm, const LinearProgram& sums_a, const LinearProgram& sums_b,
                       const LinearProgram& sums_c, const SchedulerOptions& options) {
    if (algorithm.basis) {
        fail(ErrorCode::usage, "{} has changes of basis; schedule its flattened form", algorithm.name);
    }
    if (options.width < 1) {
        fail(ErrorCode::usage, "a width of {} products is not possible; use 1 or more", options.width);
    }
    if (options.additions_per_temporary < 0) {
        fail(ErrorCode::usage, "additions_per_temporary is {}; use 0 or more", options.additions_per_temporary);
    }
    const LinearProgram plain_a = plain_program(algorithm.u);
    const LinearProgram plain_b = plain_program(algorithm.v);
    const LinearProgram plain_c = plain_program(transposed(algorithm.w));
    std::optional<Priced> best;
    for (int choice = 0; choice < 4; ++choice) {
        const bool share_operands = (choice & 1) == 0;
        const bool share_results = (choice & 2) == 0;
        const SchedulerGraph graph =
            make_graph(algorithm, share_operands ? sums_a : plain_a, share_operands ? sums_b : plain_b,
                       share_results ? sums_c : plain_c, options.accumulate);
        auto candidate = best_of_graph(graph, options, best ? best->price : 1 << 30);
        if (candidate && (!best || candidate->price < best->price)) {
            best = std::move(candidate);
        }
    }
    Schedule schedule = std::move(best->schedule);
    schedule.name = fmt::format("made-{}{}{}{}{}", algorithm.name, options.accumulate ? "-accumulate" : "",
                                options.c_as_scratch ? "-scratch" : "", options.overwrite_inputs ? "-overwrite" : "",
                                options.width > 1 ? fmt::format("-width-{}", options.width) : "");
    schedule.algorithm = algorithm.name;
    schedule.source = "made by the scheduler";
    schedule.ring = algorithm.ring;
    schedule.m = algorithm.m;
    schedule.k = algorithm.k;
    schedule.n = algorithm.n;
    schedule.accumulates = options.accumulate;
    schedule.overwrites_inputs = schedule.overwrites_a = schedule.overwrites_b = options.overwrite_inputs;
    const std::string objection = prove_schedule(schedule, algorithm.ring);
    if (!objection.empty()) {
        fail(ErrorCode::internal, "a schedule made for {} does not hold: {}", algorithm.name, objection);
    }
    return schedule;
}

Schedule make_schedule(const Algorithm& algorithm, const SchedulerOptions& options) {
    const bool mod_2 = algorithm.ring == Ring::gf2;
    return make_schedule(algorithm, share_subexpressions(algorithm.u, mod_2), share_subexpressions(algorithm.v, mod_2),
                         share_subexpressions(transposed(algorithm.w), mod_2), options);
}

}  // namespace heptad
