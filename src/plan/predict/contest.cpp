#include "plan/predict/contest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "plan/model/machine.hpp"

namespace heptad {
namespace {

double median_of_sorted(const std::vector<double>& values) {
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

struct Ratios {
    int turns = 0;
    double median = 1, doubt = 0;
};

/// x over y, turn by turn, as far as both have taken part.
Ratios compare(const std::vector<double>& x, const std::vector<double>& y) {
    std::vector<double> ratios;
    for (std::size_t turn = 0; turn < std::min(x.size(), y.size()); ++turn) {
        ratios.push_back(x[turn] / y[turn]);
    }
    std::sort(ratios.begin(), ratios.end());
    const std::size_t last = ratios.size() - 1;
    const double between_quartiles = ratios[(3 * last + 3) / 4] - ratios[last / 4];  // rounded outwards
    return {static_cast<int>(ratios.size()), median_of_sorted(ratios),
            between_quartiles / std::sqrt(static_cast<double>(ratios.size()))};
}

bool is_classical(const ContestPlan& plan) {
    return plan.algorithms.empty();
}

std::size_t library_among(const std::vector<ContestTurns>& plans) {
    std::vector<std::size_t> candidates, classical;
    for (std::size_t i = 0; i < plans.size(); ++i) {
        if (is_classical(plans[i].plan)) {
            classical.push_back(i);
            if (is_whole_call(plans[i].plan.leaf)) {
                candidates.push_back(i);
            }
        }
    }
    if (candidates.empty()) {
        candidates = std::move(classical);
    }
    // Whoever dropped out was slower, whatever his few turns say.
    std::size_t most_turns = 0;
    for (const std::size_t i : candidates) {
        most_turns = std::max(most_turns, plans[i].seconds.size());
    }
    std::erase_if(candidates, [&](std::size_t i) { return plans[i].seconds.size() < most_turns; });
    std::size_t best = candidates.front();
    double best_ratio = 1;
    for (const std::size_t i : candidates) {
        const double ratio = compare(plans[i].seconds, plans[candidates.front()].seconds).median;
        if (ratio < best_ratio) {
            best = i;
            best_ratio = ratio;
        }
    }
    return best;
}

double octaves(std::int64_t x, std::int64_t y) {
    return std::abs(std::log2(static_cast<double>(std::max<std::int64_t>(x, 1)) / static_cast<double>(y)));
}

}  // namespace

Contest judge(Type type, std::int64_t m, std::int64_t k, std::int64_t n, const std::vector<ContestTurns>& plans) {
    const std::size_t library = library_among(plans);
    std::vector<double> library_turns = plans[library].seconds;
    Contest contest{type, m, k, n, 0, {}};
    for (std::size_t i = 0; i < plans.size(); ++i) {
        const Ratios ratios = compare(plans[i].seconds, library_turns);
        contest.trials.push_back({plans[i].plan, ratios.turns, ratios.median, ratios.doubt});
    }
    std::swap(contest.trials.front(), contest.trials[library]);
    std::stable_sort(contest.trials.begin() + 1, contest.trials.end(),
                     [](const ContestTrial& x, const ContestTrial& y) { return x.relative_time < y.relative_time; });
    std::sort(library_turns.begin(), library_turns.end());
    contest.first_trial_s = median_of_sorted(library_turns);
    return contest;
}

ContestEstimate estimate(const ContestTrial& trial) {
    if (!std::isfinite(trial.expected_doubt)) {
        return {trial.relative_time, trial.doubt};
    }
    // The mean of two independent measurements, weighted by the inverse squares of their errors.
    const double expected = trial.expected_doubt * trial.expected_doubt, measured = trial.doubt * trial.doubt;
    const double weight = expected / (expected + measured);
    return {trial.expected_time + weight * (trial.relative_time - trial.expected_time), std::sqrt(weight * measured)};
}

bool beats_the_library(const ContestTrial& trial, double noticeable) {
    const auto [time, doubt] = estimate(trial);
    return trial.turns >= kFewestTurns && time <= noticeable && time + doubt < 1;
}

bool is_in_doubt(const Contest& contest) {
    const int turns = contest.trials.front().turns;
    return std::any_of(contest.trials.begin() + 1, contest.trials.end(), [&](const ContestTrial& trial) {
        return trial.turns == turns && estimate(trial).time <= contest.noticeable &&
               !beats_the_library(trial, contest.noticeable);
    });
}

const Contest* nearest_contest(const std::vector<Contest>& contests, Type type, std::int64_t m, std::int64_t k,
                               std::int64_t n) {
    const Contest* nearest = nullptr;
    double nearest_distance = std::numeric_limits<double>::infinity();
    for (const Contest& contest : contests) {
        if (contest.type == type) {
            const double distance = std::max({octaves(m, contest.m), octaves(k, contest.k), octaves(n, contest.n)});
            if (distance < std::min(contest.reach, nearest_distance)) {
                nearest = &contest;
                nearest_distance = distance;
            }
        }
    }
    return nearest;
}

}  // namespace heptad
