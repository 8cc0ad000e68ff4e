#include "tune/plan_candidates.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "plan/model/normalize_plan.hpp"
#include "plan/predict/error_bound.hpp"
#include "plan/predict/measured_plans.hpp"
#include "plan/search/device_residue_plan.hpp"

namespace heptad {
namespace {

/// None: it is classical, or has levels that are not measured like that.
std::optional<PlanShape> shape_with_levels(const ProductPlan& plan) {
    PlanShape shape{{}, plan.leaf};
    for (const LevelPlan& level : plan.levels) {
        if (level.mode != LevelMode::parallel) {
            return std::nullopt;
        }
        shape.levels.push_back(level.algorithm);
    }
    return plan.levels.empty() ? std::nullopt : std::optional(std::move(shape));
}

/// Candidates for one problem from the least predicted time on.
class Candidates {
public:
    Candidates(const Problem& problem, const Machine& machine, const PlannerLimits& limits)
        : problem_(problem), machine_(machine), limits_(limits) {}

    /// Unless it is there already, or its blocks are smaller than levels make them by choice.
    void add(const PlanShape& shape) {
        const ProductPlan plan = plan_with_shape(problem_, machine_, shape);
        const LeafSize leaf = leaf_size(plan);
        const bool is_whole = plan.levels.size() == shape.levels.size();
        const bool is_large_enough = plan.levels.empty() || std::min({leaf.m, leaf.k, leaf.n}) >= limits_.smallest_leaf;
        if (is_whole && is_large_enough &&
            std::ranges::none_of(all_, [&](const Candidate& x) { return x.shape == shape; })) {
            const Candidate added{shape, plan.predicted_s, is_balanced(plan, machine_, limits_)};
            all_.insert(
                std::ranges::upper_bound(
                    all_, added, [](const Candidate& x, const Candidate& y) { return x.predicted_s < y.predicted_s; }),
                added);
        }
    }

    void drop_slower_than(double seconds) {
        std::erase_if(all_, [&](const Candidate& x) { return x.predicted_s > seconds; });
    }

    /// Those that are chosen come right behind the first `rank`.
    template <class Condition>
    void prefer(std::size_t rank, const Condition& condition) {
        std::stable_partition(all_.begin() + static_cast<std::ptrdiff_t>(std::min(rank, all_.size())), all_.end(),
                              [&](const Candidate& x) { return condition(x.shape); });
    }

    /// Predicted seconds of the fastest classical one; none: there is none.
    std::optional<double> classical_s() const {
        const auto found = std::ranges::find_if(all_, [](const Candidate& x) { return x.shape.levels.empty(); });
        return found == all_.end() ? std::nullopt : std::optional(found->predicted_s);
    }

    const PlanShape* first() const { return all_.empty() ? nullptr : &all_.front().shape; }

    /// The first so many. The last places are kept for the accuracies that would find nobody otherwise: for the first
    /// that is balanced, and for the first classical one if `wants_classical`.
    void move_to(std::vector<PlanShape>& taken, std::size_t places, bool wants_balanced, bool wants_classical) {
        const auto has = [&](auto is_wanted) { return std::ranges::any_of(all_, is_wanted); };
        const auto is_classical = [](const Candidate& x) { return x.shape.levels.empty(); };
        wants_balanced = wants_balanced && has([](const Candidate& x) { return x.is_balanced; });
        wants_classical = wants_classical && has(is_classical);
        for (Candidate& x : all_) {
            const std::size_t kept =
                (wants_balanced && !x.is_balanced ? 1U : 0U) + (wants_classical && !is_classical(x) ? 1U : 0U);
            if (places > kept) {
                wants_balanced = wants_balanced && !x.is_balanced;
                wants_classical = wants_classical && !is_classical(x);
                taken.push_back(std::move(x.shape));
                --places;
            }
        }
    }

private:
    struct Candidate {
        PlanShape shape;
        double predicted_s;
        bool is_balanced;
    };
    const Problem& problem_;
    const Machine& machine_;
    const PlannerLimits limits_;
    std::vector<Candidate> all_;
};

}  // namespace

bool is_balanced(const ProductPlan& plan, const Machine& machine, const PlannerLimits& limits) {
    return !plan.levels.empty() && expected_growth(plan, machine) <= limits.balanced_growth;
}

bool balanced_takes_measured_levels(Type type) {
    return type != Type::tf32 && type != Type::f16 && type != Type::bf16;
}

std::vector<PlanShape> plan_candidates(const Problem& problem, const Machine& machine, const CandidateLimits& limits) {
    constexpr double kFarBehind = 1.3;  // the classical product by that much: no prediction errs so far
    constexpr int kMostHalvings = 3;
    Candidates libraries(problem, machine, {}), others(problem, machine, {});
    for (const LeafProfile& profile : machine.leaves) {
        if (profile.type == problem.type && is_whole_call(profile.leaf)) {
            libraries.add({{}, profile.leaf});
        } else if (profile.type == problem.type) {
            PlanShape shape{{}, profile.leaf};
            for (int halvings = 0; halvings <= kMostHalvings; ++halvings) {
                others.add(shape);
                shape.levels.emplace_back(kHalving);
            }
        }
    }
    for (PlanShape shape : measured_shapes(machine, problem.type)) {
        if (!shape.levels.empty()) {
            shape.levels.insert(shape.levels.begin(), kHalving);
            others.add(shape);
        }
    }
    if (limits.has_planned) {
        if (const std::optional<PlanShape> planned = shape_with_levels(make_plan(problem, machine))) {
            others.add(*planned);
        }
    }
    if (const std::optional<double> classical_s = others.classical_s()) {
        others.drop_slower_than(kFarBehind * *classical_s);
    }
    if (limits.has_neighbours && others.first() != nullptr) {
        others.prefer(1, [first = *others.first()](const PlanShape& x) {
            const std::size_t levels = x.levels.size(), levels_of_first = first.levels.size();
            return x.leaf == first.leaf && levels > 0 &&
                   (levels == levels_of_first + 1 || levels + 1 == levels_of_first);
        });
    }
    std::vector<PlanShape> taken;
    libraries.move_to(taken, limits.most_libraries, false, false);
    const bool has_library = !taken.empty();
    others.move_to(taken, limits.most_others, true, !has_library);
    return taken;
}

std::vector<PlanShape> device_plan_candidates(const Problem& problem, const Machine& machine, const Machine& usual,
                                              std::size_t most_with_levels) {
    constexpr double kFarBehind = 1.15;  // the library by that much: no prediction errs so far
    // One to four halvings; two at a time where they can be, because their sums stay in registers in between.
    const std::string once = kHalving, twice = once + "*" + once;
    const std::vector<std::vector<std::string>> tried{{once}, {twice}, {once, twice}, {twice, twice}};
    std::vector<PlanShape> taken{{{}, std::string(backend_traits(problem).library)}};
    Candidates with_levels(problem, machine, device_limits());
    for (const LeafProfile& profile : machine.leaves) {
        if (profile.type != problem.type) {
            continue;
        }
        const LeafTraits& traits = leaf_traits(profile.leaf);
        if (!traits.chosen_kernel_of.empty() || traits.by_residues) {
            taken.push_back({{}, profile.leaf});
        }
        if (traits.by_residues) {
            for (int levels = 1; levels <= kMostResidueLevels; ++levels) {
                taken.push_back({std::vector<std::string>(static_cast<std::size_t>(levels), once), profile.leaf});
            }
            continue;
        }
        for (const auto& levels : tried) {
            with_levels.add({levels, profile.leaf});
        }
    }
    with_levels.drop_slower_than(kFarBehind * plan_with_shape(problem, machine, taken.front()).predicted_s);
    if (const std::optional<PlanShape> planned = shape_with_levels(make_plan(problem, usual, device_limits()))) {
        with_levels.add(*planned);
        with_levels.prefer(0, [&](const PlanShape& x) { return x == *planned; });
    }
    with_levels.move_to(taken, most_with_levels, balanced_takes_measured_levels(problem.type), false);
    return taken;
}

}  // namespace heptad
