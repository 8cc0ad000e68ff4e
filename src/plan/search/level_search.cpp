// The choice of levels: over algorithms and modes, from the outside in.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <tuple>

#include "algorithm/catalogue.hpp"
#include "plan/model/normalize_plan.hpp"
#include "plan/predict/error_bound.hpp"
#include "plan/predict/fused_prediction.hpp"
#include "plan/predict/measured_plans.hpp"
#include "plan/predict/predict.hpp"
#include "plan/search/considered.hpp"
#include "plan/search/level_layout.hpp"
#include "plan/search/planner.hpp"

namespace heptad {
namespace {

/// Search over algorithms and modes, level by level from the outside. Only the most promising few of each depth are
/// followed, and only while they promise to pay, so that planning takes microseconds where a product takes
/// milliseconds.
class Search {
public:
    Search(const Problem& problem, const Machine& machine, const PlannerLimits& limits, const ClassicalPlans& classical)
        : problem_(problem),
          machine_(machine),
          limits_(limits),
          backend_(backend_traits(problem)),
          asked_{{problem.options.algorithm}, {problem.options.algorithm}},
          considered_(problem.options.algorithm == "auto" ? considered_algorithms(backend_) : asked_),
          scales_sums_(scales_sums(problem)),
          best_(classical.fastest) {
        // With scaled sums, levels must gain over aligned operands, which zeros appended to them give more surely.
        library_s_ = classical.library.predicted_s / (scales_sums_ ? alignment_factor(classical.library, machine) : 1);
        for (int depth = 0; depth <= 2 * limits.most_levels; ++depth) {
            ratios_.push_back(measured_ratio_of_depth(depth, best_, machine));
        }
        growth_share_ = growth_share(backend_.is_device, problem.type);
        if (is_float(problem.type) && problem.options.accuracy == Accuracy::balanced) {
            // Sums in f16 have two bits more than the bf16 of a classical result.
            constexpr double kFinerThanBf16 = 4;
            growth_limit_ = limits.balanced_growth * (scales_sums_ && problem.type == Type::bf16 ? kFinerThanBf16 : 1);
        }
    }

    ProductPlan run() {
        consider_measured();
        consider_fused_below({}, {problem_.m, problem_.k, problem_.n}, 1);
        // Breadth first costs less traffic at every level; depth first is for those who cannot have its memory, and
        // overwriting A and B, where that is allowed, for those who cannot have that much either.
        for (const LevelMode mode : {LevelMode::parallel, LevelMode::serial}) {
            if (mode == LevelMode::serial && scales_sums_) {
                break;  // depth first, sums would be rounded to bf16
            }
            if (is_mode_allowed(mode) || must_fuse()) {
                add_candidates(mode);
                follow_the_best();
                if (!refused_) {
                    return best_;
                }
            }
        }
        if (problem_.options.overwrite_inputs && is_mode_allowed(LevelMode::serial)) {
            add_overwriting_candidates();
            follow_the_best();
        }
        return best_;
    }

private:
    struct Candidate {
        const CatalogueEntry* entry;
        LevelPlan level;
        int depth;
        LevelCost stores, adds;  // entered with beta = 0, and with another
    };

    bool is_mode_allowed(LevelMode mode) const {
        return problem_.options.mode == "auto" || problem_.options.mode == mode_name(mode);
    }
    /// Other levels are only there to stand above a fused one.
    bool must_fuse() const { return problem_.options.mode == mode_name(LevelMode::fused); }

    /// Plans that were measured, with their leaves, and a halving on top of them: those are known better than what the
    /// model would make of the same levels.
    void consider_measured() {
        if (problem_.options.algorithm != "auto" || problem_.options.leaf != "auto" || must_fuse() ||
            !is_mode_allowed(LevelMode::parallel)) {
            return;
        }
        for (PlanShape shape : measured_shapes(machine_, problem_.type)) {
            if (shape.levels.empty() || leaf_traits(shape.leaf).by_residues) {
                continue;
            }
            for (int on_top = 0; on_top <= 1; ++on_top) {
                ProductPlan plan = plan_with_shape(problem_, machine_, shape);
                const LeafSize leaf = leaf_size(plan);
                if (plan.levels.size() == shape.levels.size() && depth_of(plan.levels) <= limits_.most_levels &&
                    std::min({leaf.m, leaf.k, leaf.n}) >= limits_.smallest_leaf) {
                    take_if_best(std::move(plan));
                }
                shape.levels.insert(shape.levels.begin(), kHalving);
            }
        }
    }

    /// The same levels with one more below them, inside the kernel, where the machine has such kernels.
    void consider_fused_below(const std::vector<LevelPlan>& outer, const ProblemSize& size, double growth) {
        if (machine_.fused.empty() || !is_mode_allowed(LevelMode::fused) || scales_sums_) {
            return;
        }
        for (const std::string& name : considered_.fused) {
            const CatalogueEntry& entry = find_algorithm(name);
            const std::int64_t smallest_block =
                std::min({size.m / entry.algorithm.m, size.k / entry.algorithm.k, size.n / entry.algorithm.n});
            if (!ring_admits(entry.algorithm.ring, problem_.type) || smallest_block < limits_.smallest_leaf ||
                growth * growth_share_ * std::max(1.0, entry.facts.rms_growth) > growth_limit_ ||
                !can_fuse(machine_, problem_.type, fused_instances(name).most)) {
                continue;
            }
            for (const FusedOrder order : {FusedOrder::persistent, FusedOrder::batched, FusedOrder::two_streams}) {
                std::vector<LevelPlan> levels = outer;
                levels.push_back({name, LevelMode::fused, "", order});
                take_if_best(plan_with_levels(problem_, machine_, levels));
            }
        }
    }

    /// Unless its errors grow too much. False: it does not fit the workspace.
    bool take_if_best(ProductPlan plan) {
        const bool fits = fits_workspace(plan, problem_);
        const bool pays = plan.predicted_s < best_.predicted_s && plan.predicted_s * limits_.min_gain < library_s_;
        if (fits && pays && expected_growth(plan, machine_) <= growth_limit_) {
            best_ = std::move(plan);
        }
        return fits;
    }

    void add_candidates(LevelMode mode) {
        for (const std::string& name : considered_.levels) {
            const CatalogueEntry& entry = find_algorithm(name);
            if (ring_admits(entry.algorithm.ring, problem_.type)) {
                add_candidate(entry, {name, mode, ""});
            }
        }
    }

    void add_overwriting_candidates() {
        for (const std::string& name : considered_.levels) {
            for (const std::string& schedule : overwriting_schedules(name, problem_.type)) {
                add_candidate(find_algorithm(name), {name, LevelMode::serial, schedule});
            }
        }
    }

    void add_candidate(const CatalogueEntry& entry, const LevelPlan& level) {
        const bool core = entry.algorithm.basis.has_value();
        const LevelStorage storage = level_storage(backend_.is_device, true, level.mode);
        candidates_.push_back({&entry, level, depth_of({level}), level_cost(level, core, {false, true}, storage),
                               level_cost(level, core, {true, true}, storage)});
    }

    /// The outer levels of a plan: `products` of that size are left to do, and so many passes so far move what takes
    /// `traffic_s`.
    struct Partial {
        std::vector<LevelPlan> levels;
        ProblemSize size;
        double products = 1, traffic_s = 0, passes = 0, seconds = 0, growth = 1;
        int depth = 0;
        bool accumulate = false;
        double odd_blocks = 1;
    };

    void follow_the_best() {
        follow(candidates_);
        // Among thousands of mixtures that begin about as well, one level over and over must not get lost.
        for (const Candidate& candidate : candidates_) {
            follow({&candidate, 1});
        }
    }

    void follow(std::span<const Candidate> candidates) {
        std::vector<Partial> kept(1);
        kept.front().size = {problem_.m, problem_.k, problem_.n};
        kept.front().seconds = library_s_;
        kept.front().accumulate = problem_.options.accumulate;
        for (int depth = 0; depth < limits_.most_levels && !kept.empty(); ++depth) {
            std::vector<Partial> next;
            for (const Partial& partial : kept) {
                extend(partial, candidates, next);
            }
            std::ranges::stable_sort(next, [](const Partial& x, const Partial& y) { return x.seconds < y.seconds; });
            kept.clear();
            for (Partial& partial : next) {
                if (kept.size() == kMostFollowed) {
                    break;
                }
                if (consider(partial)) {
                    kept.push_back(std::move(partial));
                }
            }
        }
    }

    /// Appends what one more level makes of it, as far as that promises to pay.
    void extend(const Partial& partial, std::span<const Candidate> candidates, std::vector<Partial>& next) const {
        for (const Candidate& candidate : candidates) {
            const Algorithm& algorithm = candidate.entry->algorithm;
            const ProblemSize block{partial.size.m / algorithm.m, partial.size.k / algorithm.k,
                                    partial.size.n / algorithm.n};
            const double growth = partial.growth * std::max(1.0, candidate.entry->facts.rms_growth);
            if (std::min({block.m, block.k, block.n}) < limits_.smallest_leaf ||
                growth * growth_share_ > growth_limit_) {
                continue;
            }
            const LevelCost& cost = partial.accumulate ? candidate.adds : candidate.stores;
            const double traffic_s = partial.traffic_s + partial.products *
                                                             traffic_bytes(cost, block, {problem_.type, scales_sums_}) /
                                                             machine_.combine_bytes_per_s;
            const double passes = partial.passes + partial.products * cost.passes;
            const double products = partial.products * algorithm.rank();
            const double odd_blocks = std::max(partial.odd_blocks, odd_blocks_factor(backend_, algorithm));
            const int depth = partial.depth + candidate.depth;
            const double seconds =
                seconds_with_starts(backend_, machine_, traffic_s + products * leaf_estimate(block), passes) *
                odd_blocks * ratios_[std::min(static_cast<std::size_t>(depth), ratios_.size() - 1)];
            if (seconds <= partial.seconds * kWorthFollowing) {
                next.push_back({partial.levels, block, products, traffic_s, passes, seconds, growth, depth,
                                cost.adds_products, odd_blocks});
                next.back().levels.push_back(candidate.level);
            }
        }
    }

    /// Of a product at the bottom; many ways lead to blocks of one size.
    double leaf_estimate(const ProblemSize& block) const {
        const auto [known, is_new] = leaf_estimates_.try_emplace({block.m, block.k, block.n}, 0.0);
        if (is_new) {
            known->second = new_leaf_estimate(block);
        }
        return known->second;
    }

    double new_leaf_estimate(const ProblemSize& block) const {
        const Type type = sums_type(problem_.type, scales_sums_);
        const std::string leaf = problem_.options.leaf == "auto"
                                     ? best_leaf(machine_, type, block.m, block.k, block.n, LeafUse::below_levels)
                                     : problem_.options.leaf;
        return leaf_seconds(machine_, leaf, type, block.m, block.k, block.n, LeafUse::below_levels);
    }

    /// Takes it if it is the best so far. False: it does not fit the workspace, nor will it with more levels.
    bool consider(const Partial& partial) {
        const bool limited = problem_.options.workspace_limit_bytes != std::numeric_limits<std::int64_t>::max();
        // On a device only the innermost level copies its operands, but every level is estimated as if it did.
        const bool estimate_may_be_high = backend_.is_device;
        if (!limited && !estimate_may_be_high && partial.seconds >= best_.predicted_s) {
            return true;
        }
        consider_fused_below(partial.levels, partial.size, partial.growth);
        ProductPlan plan = plan_with_levels(problem_, machine_, partial.levels);
        const bool fits = must_fuse() ? fits_workspace(plan, problem_) : take_if_best(std::move(plan));
        refused_ = refused_ || !fits;
        return fits;
    }

    /// A level that seems to lose this much may still pay together with the next one; beyond, it never did.
    static constexpr double kWorthFollowing = 1.05;
    /// Beginnings of plans followed at each depth. Over 240 problems (n = 1000 to 20000, square and thin, with and
    /// without a workspace limit) 1024 came within 2.2 % of following 8192 of them; 16 lost up to 17 %.
    static constexpr std::size_t kMostFollowed = 1024;

    const Problem& problem_;
    const Machine& machine_;
    const PlannerLimits& limits_;
    const BackendTraits& backend_;
    const ConsideredAlgorithms asked_;  // the one that is not for us to choose
    const ConsideredAlgorithms& considered_;
    const bool scales_sums_;
    std::vector<double> ratios_;  // measured over modelled, by the number of levels
    std::vector<Candidate> candidates_;
    mutable std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, double> leaf_estimates_;
    double growth_limit_ = HUGE_VAL, growth_share_ = 1;
    double library_s_ = 0;
    bool refused_ = false;  // something faster did not fit the workspace
    ProductPlan best_;
};

}  // namespace

ProductPlan search_levels(const Problem& problem, const Machine& machine, const PlannerLimits& limits,
                          const ClassicalPlans& classical) {
    return Search(problem, machine, limits, classical).run();
}

std::vector<std::string> overwriting_schedules(const std::string& algorithm, Type type) {
    std::vector<std::string> names;
    for (const std::string& name : schedule_names()) {
        const Schedule& schedule = find_schedule(name);
        if (schedule.overwrites_inputs && schedule.algorithm == algorithm && ring_admits(schedule.ring, type)) {
            names.push_back(name);
        }
    }
    std::stable_partition(names.begin(), names.end(),
                          [](const std::string& name) { return !find_schedule(name).accumulates; });
    return names;
}

}  // namespace heptad
