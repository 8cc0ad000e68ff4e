// make_schedule: tries sums shared and plain, orders from the beam search and two ways to choose slots, and keeps the
// cheapest schedule. Price: block additions, plus `additions_per_temporary` for every temporary.
#include "algorithm/scheduler.hpp"

#include <algorithm>
#include <optional>

#include "base/error.hpp"

namespace heptad {
namespace {

constexpr std::size_t orders_to_allocate = 48;

/// Up to this rank every equally good way to share sums is tried, within the limits below.
constexpr int rank_for_choices = 8;
constexpr std::size_t choices_per_matrix = 6;

class Contest {
public:
    Contest(const Algorithm& algorithm, const SchedulerOptions& options) : algorithm_(algorithm), options_(options) {}

    void enter(const LinearProgram& sums_a, const LinearProgram& sums_b, const LinearProgram& sums_c) {
        const SchedulerGraph graph =
            make_graph(algorithm_, with_coprime_coefficients(sums_a), with_coprime_coefficients(sums_b),
                       with_coprime_coefficients(sums_c), options_.accumulate);
        const int additions = graph.additions() + (options_.accumulate ? graph.m * graph.n : 0);
        // The most temporaries with which this graph would still be the cheapest.
        int limit = 1 << 20;
        if (best_) {
            const int spare = price_ - 1 - additions;
            limit = spare < 0 ? -1 : std::min(limit, spare / std::max(1, options_.additions_per_temporary));
        }
        if (limit < 0) {
            return;
        }
        compete(graph, options_, additions, limit);
        if (options_.overwrite_inputs) {  // permission to overwrite must never lead to something dearer
            SchedulerOptions read_only = options_;
            read_only.overwrite_inputs = false;
            compete(graph, read_only, additions, limit);
        }
    }

    /// Precondition: something was entered.
    Schedule winner() { return std::move(*best_); }

private:
    /// `limit` is the most temporaries that still win; lowered with every winner.
    void compete(const SchedulerGraph& graph, const SchedulerOptions& options, int additions, int& limit) {
        const std::vector<ProductOrder> orders = search_orders(graph, options, limit);
        for (std::size_t i = 0; i < std::min(orders.size(), orders_to_allocate); ++i) {
            if (orders[i].temporaries > limit) {
                return;  // orders come with the fewest temporaries first
            }
            const Recording recording = record_order(graph, options, orders[i].products);
            for (const SlotPreference preference : {SlotPreference::in_place, SlotPreference::best_fit}) {
                Schedule schedule = allocate_slots(graph, options, recording, preference);
                const int temporaries = static_cast<int>(schedule.temporaries.size());
                if (temporaries <= limit) {
                    best_ = std::move(schedule);
                    price_ = additions + temporaries * options.additions_per_temporary;
                    limit = temporaries - 1;
                }
            }
        }
    }

    const Algorithm& algorithm_;
    const SchedulerOptions& options_;
    std::optional<Schedule> best_;
    int price_ = 0;
};

/// The given program first, then others as good.
std::vector<LinearProgram> choices(const LinearProgram& given, const CoefficientMatrix& matrix, bool mod_2) {
    std::vector<LinearProgram> programs = {given};
    for (LinearProgram& program : sharing_choices(matrix, mod_2, choices_per_matrix)) {
        if (program.additions() <= given.additions()) {
            programs.push_back(std::move(program));
        }
    }
    return programs;
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
    Contest contest(algorithm, options);
    if (algorithm.rank() <= rank_for_choices) {
        const bool mod_2 = algorithm.ring == Ring::gf2;
        const CoefficientMatrix w = transposed(algorithm.w);
        const std::vector<LinearProgram> all_b = choices(sums_b, algorithm.v, mod_2);
        const std::vector<LinearProgram> all_c = choices(sums_c, w, mod_2);
        for (const LinearProgram& a : choices(sums_a, algorithm.u, mod_2)) {
            for (const LinearProgram& b : all_b) {
                for (const LinearProgram& c : all_c) {
                    contest.enter(a, b, c);
                }
            }
        }
    } else {
        contest.enter(sums_a, sums_b, sums_c);
    }
    for (int plain = 1; plain < 8; ++plain) {  // bits: A, B, C
        contest.enter((plain & 1) != 0 ? plain_a : sums_a, (plain & 2) != 0 ? plain_b : sums_b,
                      (plain & 4) != 0 ? plain_c : sums_c);
    }
    Schedule schedule = contest.winner();
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
    const std::string objection = prove_schedule_of(schedule, algorithm);
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
