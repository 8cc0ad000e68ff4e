#include "tune/plan_rounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/timing.hpp"
#include "plan/predict/predict.hpp"
#include "tune/plan_errors.hpp"

namespace heptad {
namespace {

/// A busy neighbour only ever adds, so the least time of each tells who is behind. After a single round it may be his,
/// or that of a library whose second thread was woken on the core of the first.
constexpr double kPlanFarBehindAtFirst = 2.5, kPlanFarBehind = 1.15;

/// x over y, round by round, as far as both have run.
RelativeTime relative_time(const std::vector<double>& x, const std::vector<double>& y) {
    std::vector<double> ratios;
    for (std::size_t round = 0; round < std::min(x.size(), y.size()); ++round) {
        ratios.push_back(x[round] / y[round]);
    }
    std::ranges::sort(ratios);
    const std::size_t last = ratios.size() - 1;
    const double between_quartiles = ratios[(3 * last + 3) / 4] - ratios[last / 4];  // rounded outwards
    return {static_cast<int>(ratios.size()), median(ratios),
            between_quartiles / std::sqrt(static_cast<double>(ratios.size()))};
}

}  // namespace

void run_rounds(std::vector<RoundRunner>& all, const RoundRules& rules) {
    std::vector<std::size_t> running(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        running[i] = i;
        all[i].seconds.clear();
    }
    const double start_s = rules.clock_s();
    int share = 1;  // how many times the rounds and seconds of the rules
    const auto is_over = [&](int round) {
        double round_s = 0;
        for (const std::size_t i : running) {
            round_s += all[i].spent_s;
        }
        const bool has_time = round == 0 || rules.clock_s() - start_s + round_s <= share * rules.most_s;
        return round >= share * rules.most_rounds || !has_time;
    };
    for (int round = 0;; ++round) {
        if (is_over(round) && share == 1 && rules.is_undecided()) {
            share = 2;
        }
        if (is_over(round)) {
            break;
        }
        for (const std::size_t i : running) {
            const double before_s = rules.clock_s();
            rules.settle();
            all[i].seconds.push_back(all[i].run());
            all[i].spent_s = rules.clock_s() - before_s;
        }
        std::vector<double> least(all.size());
        double fastest = std::numeric_limits<double>::infinity(), fastest_library = fastest, fastest_balanced = fastest;
        for (const std::size_t i : running) {
            least[i] = *std::min_element(all[i].seconds.begin(), all[i].seconds.end());
            fastest = std::min(fastest, least[i]);
            fastest_library = all[i].is_library ? std::min(fastest_library, least[i]) : fastest_library;
            fastest_balanced = all[i].is_balanced ? std::min(fastest_balanced, least[i]) : fastest_balanced;
        }
        const double far_behind = round == 0 ? kPlanFarBehindAtFirst : kPlanFarBehind;
        std::erase_if(running, [&](std::size_t i) {
            const bool keeps_its_place =
                (all[i].is_library && least[i] == fastest_library) ||
                (all[i].is_balanced && least[i] == fastest_balanced && least[i] <= far_behind * fastest_library);
            return least[i] > far_behind * fastest && !keeps_its_place;
        });
        std::ranges::reverse(running);
    }
}

RoundResults compare_with_library(const std::vector<RoundRunner>& all) {
    // Of the libraries that have not dropped out: whoever did was slower, whatever his few rounds say.
    std::size_t most_rounds = 0;
    for (const RoundRunner& one : all) {
        most_rounds = std::max(most_rounds, one.is_library ? one.seconds.size() : 0);
    }
    RoundResults results;
    const RoundRunner* first = nullptr;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].is_library && all[i].seconds.size() == most_rounds) {
            first = first == nullptr ? &all[i] : first;
            const double ratio = relative_time(all[i].seconds, first->seconds).median;
            results.library = ratio < least ? i : results.library;
            least = std::min(least, ratio);
        }
    }
    const std::vector<double>& library_s = all[results.library].seconds;
    results.library_s = median(library_s);
    for (const RoundRunner& one : all) {
        results.times.push_back(relative_time(one.seconds, library_s));
    }
    return results;
}

bool is_undecided(const RoundResults& results, double min_gain) {
    const int rounds = results.times[results.library].rounds;
    return std::ranges::any_of(results.times, [&](const RelativeTime& time) {
        return time.rounds == rounds && time.median * min_gain <= 1 &&
               (rounds < kFewestRounds || time.median + time.std_error >= 1);
    });
}

void record_plans(const std::vector<ProductPlan>& plans, const RoundResults& results,
                  const std::function<double(const ProductPlan&)>& error_of, Machine& machine) {
    std::vector<std::size_t> order(plans.size());
    std::iota(order.begin(), order.end(), 0);
    std::swap(order.front(), order[results.library]);
    std::stable_sort(order.begin() + 1, order.end(),
                     [&](std::size_t x, std::size_t y) { return results.times[x].median < results.times[y].median; });
    const double library_s = model_seconds(plans[results.library], machine);
    const bool has_levels = std::ranges::any_of(plans, [](const ProductPlan& x) { return !x.levels.empty(); });
    const double library_error = has_levels ? error_of(plans[results.library]) : 0;
    for (const std::size_t i : order) {
        const ProductPlan& plan = plans[i];
        const RelativeTime& time = results.times[i];
        MeasuredPlan row{plan.type,      plan.m,          plan.k,
                         plan.n,         {{}, plan.leaf}, time.median,
                         time.std_error, time.rounds,     model_seconds(plan, machine) / library_s};
        for (const LevelPlan& level : plan.levels) {
            row.plan.levels.push_back(level.algorithm);
        }
        row.error_growth = plan.levels.empty() ? 0 : error_growth(error_of(plan), library_error, plan.type);
        machine.measured_plans.push_back(std::move(row));
    }
}

void keep_rows_of(const Machine& before, Type type, std::int64_t m, std::int64_t k, std::int64_t n, Machine& machine) {
    for (const MeasuredPlan& row : before.measured_plans) {
        if (row.type == type && row.m == m && row.k == k && row.n == n) {
            machine.measured_plans.push_back(row);
        }
    }
}

}  // namespace heptad
