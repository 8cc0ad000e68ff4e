#include "plan/predict/measured_plans.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "algorithm/catalogue.hpp"

namespace heptad {
namespace {

/// Standard errors of the logarithm of measured over modelled time.
/// Of the model alone: on two Neoverse cores whole plans took 3 to 16 % longer than their parts.
constexpr double kModelError = 0.1;
/// For every doubling of the sizes: rates of libraries still rise by some percent from one size to the next.
constexpr double kErrorPerOctave = 0.08;
/// For another leaf, for other levels, and for each halving more or less.
constexpr double kErrorOfAnother = 0.04;
constexpr double kLeastError = 0.002;

double squared(double x) {
    return x * x;
}

/// A shape by the logarithms of its sizes.
struct PlanPlace {
    double m, k, n;
    PlanPlace(std::int64_t rows, std::int64_t inner, std::int64_t cols)
        : m(log2_of(rows)), k(log2_of(inner)), n(log2_of(cols)) {}
    static double log2_of(std::int64_t size) { return std::log2(static_cast<double>(std::max<std::int64_t>(size, 1))); }
    /// In octaves: of the side of a cube of that volume, and half of what the sides differ beyond that.
    double squared_distance(const PlanPlace& o) const {
        const double side = (m - o.m + k - o.k + n - o.n) / 3;
        return squared(side) + (squared(m - o.m - side) + squared(k - o.k - side) + squared(n - o.n - side)) / 4;
    }
};

/// "winograd*winograd" are two in one.
int levels_in(const std::string& algorithm) {
    return 1 + static_cast<int>(std::ranges::count(algorithm, '*'));
}

bool has_levels_of(const ProductPlan& plan, const PlanShape& shape) {
    return std::equal(shape.levels.begin(), shape.levels.end(), plan.levels.begin(), plan.levels.end(),
                      [](const std::string& algorithm, const LevelPlan& level) {
                          return algorithm == level.algorithm && level.mode == LevelMode::parallel;
                      });
}

int shape_depth(const PlanShape& shape) {
    return std::accumulate(shape.levels.begin(), shape.levels.end(), 0,
                           [](int depth, const std::string& level) { return depth + levels_in(level); });
}

/// What measured plans say of one problem: a weighted mean that begins with what the model says.
class Mean {
public:
    explicit Mean(const ProductPlan& plan) : here_(plan.m, plan.k, plan.n) {}

    /// `differences`: how far the measured plan is from the one in question.
    void add(const MeasuredPlan& row, double std_error, double differences) {
        const double distance = here_.squared_distance({row.m, row.k, row.n});
        const double weight = 1 / (squared(std::max(std_error / row.relative_time, kLeastError)) +
                                   squared(kErrorPerOctave) * distance + squared(kErrorOfAnother) * differences);
        weights_ += weight;
        sum_ += weight * std::log(row.relative_time / row.modelled_time);
    }
    /// In place of the model's own ratio of 1.
    void believe(double log_ratio) { sum_ += log_ratio / squared(kModelError); }
    double ratio() const { return std::exp(sum_ / weights_); }

private:
    PlanPlace here_;
    double weights_ = 1 / squared(kModelError), sum_ = 0;
};

/// How much less sure a plan is than the surest one at its sizes, as a factor of time: of many plans that nobody ran,
/// the most hopeful is the one that the model flatters most. None where nothing was measured nearby.
class Doubt {
public:
    explicit Doubt(const ProductPlan& plan) : here_(plan.m, plan.k, plan.n) {}

    void add(const MeasuredPlan& row, bool is_the_plan) {
        const double weight = 1 / (squared(std::max(row.std_error / row.relative_time, kLeastError)) +
                                   squared(kErrorPerOctave) * here_.squared_distance({row.m, row.k, row.n}));
        surest_ = std::max(surest_, weight);
        if (is_the_plan) {
            own_ = std::max(own_, weight);
        }
    }
    double factor() const { return std::exp(std_error(own_) - std_error(surest_)); }

private:
    static double std_error(double weight) { return 1 / std::sqrt(1 / squared(kModelError) + weight); }
    PlanPlace here_;
    double own_ = 0, surest_ = 0;
};

/// It took longer than the model has it, so plans like it may too. A gain over the model is a plan's own: else the most
/// hopeful plan that nobody ran would be taken in place of the one that showed it.
bool warns_of_others(const MeasuredPlan& row) {
    return row.rounds >= kFewestRounds && row.relative_time > row.modelled_time;
}

/// How much less the leaves of such a product round than those of a large one. Errors grow with the root of the length
/// of sums, up to where libraries (and our kernel, 512) begin a new one; two of winograd above our kernel had 7.0, 10.9
/// and 9.9 times OpenBLAS's error at n = 1024, 2048 and 4096 (docs/design/010-measured-plans.md).
double share_of_leaves(std::int64_t k, const std::vector<std::string>& levels) {
    constexpr double kRun = 512;
    double leaf_k = static_cast<double>(k);
    for (const std::string& algorithm : levels) {
        leaf_k /= find_algorithm(algorithm).algorithm.k;
    }
    return std::sqrt(std::min(leaf_k, kRun) / kRun);
}

/// Levels in residues and levels of numbers say nothing of each other.
bool are_of_a_kind(const MeasuredPlan& row, const ProductPlan& plan) {
    return row.type == plan.type && leaf_traits(row.plan.leaf).by_residues == is_by_residues(plan);
}

/// Nobody measured the reference loops, nor sums of bf16 that are scaled: plans are measured for `fast`.
bool may_be_known(const ProductPlan& plan) {
    return backend_traits(plan.backend).only_leaf.empty() && !(plan.type == Type::bf16 && plan.scaled_sums);
}

}  // namespace

std::vector<PlanShape> measured_shapes(const Machine& machine, Type type) {
    std::vector<PlanShape> shapes;
    for (const MeasuredPlan& row : machine.measured_plans) {
        if (row.type == type && std::ranges::find(shapes, row.plan) == shapes.end()) {
            shapes.push_back(row.plan);
        }
    }
    return shapes;
}

int depth_of(const std::vector<LevelPlan>& levels) {
    return std::accumulate(levels.begin(), levels.end(), 0,
                           [](int depth, const LevelPlan& level) { return depth + levels_in(level.algorithm); });
}

double measured_ratio(const ProductPlan& plan, const Machine& machine, double library_over_plan) {
    Mean mean(plan);
    Doubt doubt(plan);
    const int depth = depth_of(plan.levels);
    bool was_measured = false;
    for (const MeasuredPlan& row : machine.measured_plans) {
        const bool is_classical = row.plan.levels.empty(), same_leaf = row.plan.leaf == plan.leaf;
        if (!are_of_a_kind(row, plan) || is_classical != (depth == 0) || (is_classical && !same_leaf) ||
            !may_be_known(plan)) {
            continue;
        }
        const bool same_levels = has_levels_of(plan, row.plan);
        if (!is_classical && row.rounds >= kFewestRounds) {
            doubt.add(row, same_levels && same_leaf);
        }
        if (same_levels && same_leaf) {
            // A loss counts in full: the library cannot lose against itself.
            const bool lost = row.relative_time >= 1;
            if (lost || row.rounds >= kFewestRounds) {
                mean.add(row, lost ? 0 : row.std_error, 0);
                was_measured = true;
            }
        } else if (warns_of_others(row)) {
            const double levels = same_levels ? 0 : 1 + squared(depth - shape_depth(row.plan));
            mean.add(row, row.std_error, (same_leaf ? 0 : 1) + levels);
        }
    }
    if (depth == 0 && was_measured && library_over_plan > 1) {
        mean.believe(std::log(library_over_plan));
    }
    return mean.ratio() * doubt.factor();
}

std::optional<double> measured_growth(const ProductPlan& plan, const Machine& machine) {
    if (plan.levels.empty() || !may_be_known(plan)) {
        return std::nullopt;
    }
    std::string asked_for;
    for (const LevelPlan& level : plan.levels) {
        asked_for += (asked_for.empty() ? "" : "*") + level.algorithm;
    }
    const PlanPlace here(plan.m, plan.k, plan.n);
    const MeasuredPlan* nearest = nullptr;
    // The farther, the worse; another leaf is worse than all distances.
    const auto distance = [&](const MeasuredPlan& row) {
        return std::pair(row.plan.leaf != plan.leaf, here.squared_distance({row.m, row.k, row.n}));
    };
    for (const MeasuredPlan& row : machine.measured_plans) {
        if (are_of_a_kind(row, plan) && row.error_growth > 0 && !row.plan.levels.empty() &&
            asked_for == fmt::format("{}", fmt::join(row.plan.levels, "*")) &&
            (nearest == nullptr || distance(row) < distance(*nearest))) {
            nearest = &row;
        }
    }
    if (nearest == nullptr) {
        return std::nullopt;
    }
    const std::vector<std::string>& levels = nearest->plan.levels;
    return nearest->error_growth * std::max(1.0, share_of_leaves(plan.k, levels) / share_of_leaves(nearest->k, levels));
}

double measured_ratio_of_depth(int depth, const ProductPlan& plan, const Machine& machine) {
    Mean mean(plan);
    for (const MeasuredPlan& row : machine.measured_plans) {
        if (are_of_a_kind(row, plan) && !row.plan.levels.empty() && warns_of_others(row) && may_be_known(plan)) {
            mean.add(row, row.std_error, 2 + squared(depth - shape_depth(row.plan)));
        }
    }
    return mean.ratio();
}

}  // namespace heptad
