// make_schedule: tries sums shared and plain, orders from the beam search and two ways to choose slots, and keeps the
// cheapest schedule.
#include "algorithm/scheduler.hpp"

#include <algorithm>
#include <optional>

#include "base/fail_if.hpp"

namespace heptad {
namespace {

/// The price of a temporary in block additions: more are made where sharing sums saves as many.
constexpr int additions_per_temporary = 4;
constexpr std::size_t orders_to_allocate = 48;

/// Up to this rank every equally good way to share sums is tried, within the limits below.
constexpr int rank_for_choices = 8;
constexpr std::size_t choices_per_matrix = 6;

class Contest {
public:
    Contest(const Algorithm& algorithm, bool accumulate) : algorithm_(algorithm), accumulate_(accumulate) {}

    void enter(const LinearProgram& sums_a, const LinearProgram& sums_b, const LinearProgram& sums_c) {
        const SchedulerGraph graph =
            make_graph(algorithm_, with_coprime_coefficients(sums_a), with_coprime_coefficients(sums_b),
                       with_coprime_coefficients(sums_c), accumulate_);
        const int additions = graph.additions() + (accumulate_ ? graph.m * graph.n : 0);
        // The most temporaries with which this graph would still be the cheapest.
        int limit = 1 << 20;
        if (best_) {
            const int spare = price_ - 1 - additions;
            if (spare < 0) {
                return;
            }
            limit = std::min(limit, spare / additions_per_temporary);
        }
        const std::vector<ProductOrder> orders = search_orders(graph, limit);
        for (std::size_t i = 0; i < std::min(orders.size(), orders_to_allocate); ++i) {
            if (orders[i].temporaries > limit) {
                return;  // orders come with the fewest temporaries first
            }
            const Recording recording = record_order(graph, orders[i].products);
            for (const SlotPreference preference : {SlotPreference::in_place, SlotPreference::best_fit}) {
                Schedule schedule = allocate_slots(graph, recording, preference);
                const int temporaries = static_cast<int>(schedule.temporaries.size());
                if (temporaries <= limit) {
                    best_ = std::move(schedule);
                    price_ = additions + temporaries * additions_per_temporary;
                    limit = temporaries - 1;
                }
            }
        }
    }

    /// Precondition: something was entered.
    Schedule winner() { return std::move(*best_); }

private:
    const Algorithm& algorithm_;
    bool accumulate_;
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

Schedule make_schedule(const Algorithm& algorithm, const LevelSums& sums, bool accumulate) {
    fail_if(algorithm.basis.has_value(), ErrorCode::usage, "{} has changes of basis; schedule its flattened form",
            algorithm.name);
    const LevelSums plain{plain_program(algorithm.u), plain_program(algorithm.v),
                          plain_program(transposed(algorithm.w))};
    Contest contest(algorithm, accumulate);
    if (algorithm.rank() <= rank_for_choices) {
        const bool mod_2 = algorithm.ring == Ring::gf2;
        const std::vector<LinearProgram> all_b = choices(sums.b, algorithm.v, mod_2);
        const std::vector<LinearProgram> all_c = choices(sums.c, transposed(algorithm.w), mod_2);
        for (const LinearProgram& a : choices(sums.a, algorithm.u, mod_2)) {
            for (const LinearProgram& b : all_b) {
                for (const LinearProgram& c : all_c) {
                    contest.enter(a, b, c);
                }
            }
        }
    } else {
        contest.enter(sums.a, sums.b, sums.c);
    }
    for (int are_plain = 1; are_plain < 8; ++are_plain) {  // bits: A, B, C
        contest.enter((are_plain & 1) != 0 ? plain.a : sums.a, (are_plain & 2) != 0 ? plain.b : sums.b,
                      (are_plain & 4) != 0 ? plain.c : sums.c);
    }
    Schedule schedule = contest.winner();
    schedule.name = fmt::format("made-{}{}", algorithm.name, accumulate ? "-accumulate" : "");
    schedule.algorithm = algorithm.name;
    schedule.source = "made by the scheduler";
    schedule.ring = algorithm.ring;
    schedule.m = algorithm.m;
    schedule.k = algorithm.k;
    schedule.n = algorithm.n;
    schedule.accumulates = accumulate;
    const std::string objection = prove_schedule_of(schedule, algorithm);
    fail_if(!objection.empty(), ErrorCode::internal, "a schedule made for {} does not hold: {}", algorithm.name,
            objection);
    return schedule;
}

}  // namespace heptad
