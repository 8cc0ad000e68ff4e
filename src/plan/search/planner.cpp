#include "plan/search/planner.hpp"

#include <algorithm>
#include <optional>

#include "algorithm/catalogue.hpp"
#include "base/fail_if.hpp"
#include "base/size.hpp"
#include "plan/model/normalize_plan.hpp"
#include "plan/predict/error_bound.hpp"
#include "plan/predict/fused_prediction.hpp"
#include "plan/predict/measured_plans.hpp"
#include "plan/predict/predict.hpp"
#include "plan/search/complex_plan.hpp"
#include "plan/search/considered.hpp"
#include "plan/search/device_residue_plan.hpp"
#include "plan/search/level_layout.hpp"
#include "plan/search/residue_plan.hpp"

namespace heptad {
namespace {

std::string fringe_leaf(const ProductPlan& plan) {
    const LeafTraits& traits = leaf_traits(plan.leaf);
    const bool is_itself = traits.fringe_leaf.empty() || (traits.has_limbs && plan.levels.empty());
    return is_itself ? plan.leaf : std::string(traits.fringe_leaf);
}

/// On a device a lone product may be a call that does not work for batches.
LeafUse leaf_use(const ProductPlan& plan) {
    return plan.levels.empty() || (is_on_device(plan) && are_leaves_alone(plan)) ? LeafUse::whole_product
                                                                                 : LeafUse::below_levels;
}

/// A tile that was left open is the one that the machine's description predicts to be the fastest.
void choose_tile(ProductPlan& plan, const Machine& machine) {
    if (is_fused(plan) && plan.levels.back().tile == FusedTile::automatic) {
        LevelPlan& level = plan.levels.back();
        const auto choice = choose_fused_tile(machine, plan.type, level.order, FusedTile::automatic,
                                              fused_instances(level.algorithm), fused_work(plan));
        level.tile = choice ? choice->tile : FusedTile::automatic;
    }
}

/// Does the plan call its leaf or its fringe leaf at all?
bool calls_leaves(const ProductPlan& plan) {
    return !is_fused(plan) || plan.core_m != plan.m || plan.core_k != plan.k || plan.core_n != plan.n;
}

void fill_in(ProductPlan& plan, const Problem& problem, const Machine& machine) {
    if (leaf_traits(problem.options.leaf).by_residues && !take_residues(plan, problem, machine)) {
        plan.levels.clear();
    }
    normalize_plan(plan);
    choose_tile(plan, machine);
    const LeafSize leaf = leaf_size(plan);
    const std::string_view only_leaf = backend_traits(plan.backend).only_leaf;
    plan.leaf = !only_leaf.empty() ? std::string(only_leaf)
                : problem.options.leaf != "auto"
                    ? problem.options.leaf
                    : best_leaf(machine, leaf_type(plan), leaf.m, leaf.k, leaf.n, leaf_use(plan));
    if (leaf_traits(plan.leaf).by_residues && !is_by_residues(plan)) {
        plan.leaf = leaf_traits(plan.leaf).fringe_leaf;
    }
    const std::string_view when_misaligned = leaf_traits(plan.leaf).when_misaligned;
    if (!when_misaligned.empty() && !plan.levels.empty() && !plan.padded && rows_are_misaligned(plan)) {
        plan.leaf = when_misaligned;
    }
    plan.fringe_leaf = fringe_leaf(plan);
    const LeafTraits& traits = leaf_traits(plan.leaf);
    if (is_on_device(plan) && calls_leaves(plan) && problem.options.workspace_limit_bytes >= traits.scratch_bytes) {
        plan.vendor_workspace_bytes = traits.scratch_bytes;
    }
    plan.workspace_bytes = plan_workspace_bytes(plan);
    if (traits.has_limbs && problem.options.leaf == "auto" &&
        !fits_workspace(plan, problem)) {  // no room for the limbs
        plan.leaf = plan.fringe_leaf = traits.fringe_leaf;
        plan.workspace_bytes = plan_workspace_bytes(plan);
    }
    plan.predicted_s = predict_seconds(plan, machine);
    plan.error_bound = error_bound(plan);
    if (problem.options.accuracy == Accuracy::balanced && is_float(plan.type) && !is_by_residues(plan)) {
        plan.least_evenness = least_evenness_of(plan.levels);
    }
}

/// So many levels, the outermost `serial` of them depth first.
std::vector<LevelPlan> forced_modes(const Problem& problem, int count, int serial, const std::string& schedule = "") {
    const std::string name = problem.options.algorithm == "auto" ? kHalving : problem.options.algorithm;
    std::vector<LevelPlan> levels = same_levels(name, count, LevelMode::parallel);
    std::fill_n(levels.begin(), serial, LevelPlan{name, LevelMode::serial, schedule});
    return levels;
}

/// As many levels as asked for, the innermost one inside the kernel; fewer, where those above it do not fit the
/// workspace.
ProductPlan forced_fused_levels(const Problem& problem, const Machine& machine) {
    const std::string& asked = problem.options.algorithm;
    const LevelPlan innermost{asked == "auto" ? considered_algorithms(backend_traits(problem)).fused.front() : asked,
                              LevelMode::fused, "", FusedOrder::persistent};
    for (int count = problem.options.levels; count > 0; --count) {
        for (int serial = 0; serial < count; ++serial) {
            std::vector<LevelPlan> levels = forced_modes(problem, count - 1, serial);
            levels.push_back(innermost);
            ProductPlan plan = plan_with_levels(problem, machine, levels);
            // Too many for the sizes: the innermost ones are left out, and the fused one is the innermost.
            if (is_fused(plan) && fits_workspace(plan, problem)) {
                return plan;
            }
        }
    }
    return plan_with_levels(problem, machine, {});
}

/// As many levels as asked for, in the mode with the least predicted time that fits the workspace.
ProductPlan forced_levels(const Problem& problem, const Machine& machine) {
    if (problem.options.mode == mode_name(LevelMode::fused)) {
        return forced_fused_levels(problem, machine);
    }
    const auto all = [&](int count, int serial, const std::string& schedule) {
        return plan_with_levels(problem, machine, forced_modes(problem, count, serial, schedule));
    };
    const int fewest_serial = problem.options.mode == "serial" ? problem.options.levels : 0;
    const int most_serial = problem.options.mode == "parallel" ? 0 : problem.options.levels;
    for (int serial = fewest_serial; serial <= most_serial; ++serial) {
        if (ProductPlan plan = all(problem.options.levels, serial, ""); fits_workspace(plan, problem)) {
            return plan;
        }
    }
    const std::vector<std::string> overwriting =
        problem.options.overwrite_inputs && most_serial > 0
            ? overwriting_schedules(forced_modes(problem, 1, 0)[0].algorithm, problem.type)
            : std::vector<std::string>{};
    // Not even depth first fits: A and B are overwritten, or there are fewer levels, down to the classical product that
    // needs nothing.
    for (int count = problem.options.levels; count > 0; --count) {
        if (ProductPlan plan = all(count, most_serial == 0 ? 0 : count, ""); fits_workspace(plan, problem)) {
            return plan;
        }
        for (int serial = std::max(1, std::min(fewest_serial, count)); serial <= count; ++serial) {
            for (const std::string& schedule : overwriting) {
                if (ProductPlan plan = all(count, serial, schedule); fits_workspace(plan, problem)) {
                    return plan;
                }
            }
        }
    }
    return plan_with_levels(problem, machine, {});
}

/// The reference loops do everything; of a device the machine description knows.
bool has_fused_kernels(const Problem& problem, const Machine& machine) {
    const BackendTraits& backend = backend_traits(problem);
    return backend.fuses_everything || (backend.is_device && can_fuse(machine, problem.type, {}));
}

void validate(const Problem& problem, const Machine& machine) {
    const Options& options = problem.options;
    fail_if(problem.m < 0 || problem.k < 0 || problem.n < 0, ErrorCode::usage, "sizes must be 0 or more, not {}x{}x{}",
            problem.m, problem.k, problem.n);
    for (const auto& [rows, cols] : {std::pair{problem.m, problem.k}, {problem.k, problem.n}, {problem.m, problem.n}}) {
        checked_mul(checked_mul(rows, cols), static_cast<std::int64_t>(element_bytes(problem.type)));
    }
    fail_if(options.mode != "auto" && options.mode != "serial" && options.mode != "parallel" && options.mode != "fused",
            ErrorCode::usage, "'{}' is not the mode of a level; set mode to auto, serial, parallel or fused",
            options.mode);
    fail_if(options.levels < -1 || options.levels > 20, ErrorCode::usage,
            "{} levels are not possible; set levels to 0 to 20, or to -1 for the predicted best", options.levels);
    if (options.algorithm != "auto") {
        const Algorithm& algorithm = find_algorithm(options.algorithm).algorithm;
        fail_if(!algorithm_admits(algorithm, problem.type) && options.levels != 0, ErrorCode::usage,
                "algorithm {} is over {} and does not apply to {}; `heptad algorithms` lists the others",
                options.algorithm, ring_name(algorithm.ring), type_name(problem.type));
    }
    fail_if(leaf_traits(options.leaf).by_residues && !backend_traits(problem).is_device &&
                options.accuracy != Accuracy::exact,
            ErrorCode::usage,
            "leaf {} is for accuracy exact on a processor; set accuracy to exact, or use another leaf", options.leaf);
    if (options.mode == mode_name(LevelMode::fused) && !has_fused_kernels(problem, machine)) {
        fail(ErrorCode::usage,
             "the description of this machine has no kernels with sums inside for {} on {}; set mode to auto, serial "
             "or parallel",
             type_name(problem.type), backend_of(options.device));
    }
}

}  // namespace

double least_evenness() {
    // What was measured above it loses at most twice as many digits as uniform data (docs/accuracy.md).
    constexpr double kLeastEvenness = 0.01;
    return kLeastEvenness;
}

double least_evenness_of(const std::vector<LevelPlan>& levels) {
    return levels.empty() ? 0 : least_evenness();
}

void check_plan(const ProductPlan& plan) {
    fail_if(is_packed(plan), ErrorCode::input,
            "this is a plan for packed bits, 64 elements to a word, not for numbers");
    fail_if(plan.disk || plan.rank || plan.host || plan.transfers || plan.panels || plan.count, ErrorCode::input,
            "this plan is for several devices, files, ranks or packed bits; give one for a product in memory");
    if ((is_complex(plan.type) && !is_on_device(plan)) || plan.complex != ComplexWay::none) {
        check_complex_plan(plan);
        return;
    }
    if (is_by_residues(plan)) {
        check_residue_plan(plan);
        return;
    }
    ProductPlan expected = plan;
    normalize_plan(expected);
    for (const LevelPlan& level : plan.levels) {
        const Algorithm& algorithm = find_algorithm(level.algorithm).algorithm;
        fail_if(!ring_admits(algorithm.ring, plan.type), ErrorCode::input,
                "the plan uses {}, which is over {} and does not apply to {}", level.algorithm,
                ring_name(algorithm.ring), type_name(plan.type));
        fail_if(!level.schedule.empty() && find_schedule(level.schedule).algorithm != level.algorithm, ErrorCode::input,
                "schedule {} does not belong to algorithm {}", level.schedule, level.algorithm);
    }
    fail_if(!has_levels(plan.type, backend_traits(plan.backend)) && !plan.levels.empty(), ErrorCode::input,
            "products of {} have no levels on this backend", type_name(plan.type));
    fail_if(plan.threads < 1 || plan.threads > 4096, ErrorCode::input,
            "a plan for {} threads cannot be carried out; use 1 to 4096", plan.threads);
    expected.workspace_bytes = plan_workspace_bytes(expected);
    expected.error_bound = error_bound(expected);
    if (!(expected == plan)) {
        fail(ErrorCode::input, "the plan is inconsistent: with its levels it would read '{}'", to_string(expected));
    }
}

ProductPlan empty_plan(const Problem& problem) {
    ProductPlan plan = plan_of_size(problem_size(problem), problem.type);
    plan.backend = backend_of(problem.options.device);
    plan.threads = problem.threads;
    plan.accumulate = problem.options.accumulate;
    plan.overwrite_inputs = problem.options.overwrite_inputs;
    plan.scaled_sums = wants_scaled_sums(problem);
    return plan;
}

ProductPlan plan_with_levels(const Problem& problem, const Machine& machine, const std::vector<LevelPlan>& levels) {
    ProductPlan plan = empty_plan(problem);
    plan.levels = levels;
    fill_in(plan, problem, machine);
    return plan;
}

ProductPlan plan_with_shape(const Problem& problem, const Machine& machine, const PlanShape& shape) {
    Problem with_leaf = problem;
    with_leaf.options.leaf = shape.leaf;
    std::vector<LevelPlan> levels;
    for (const std::string& algorithm : shape.levels) {
        levels.push_back({algorithm, LevelMode::parallel, ""});
    }
    return plan_with_levels(with_leaf, machine, levels);
}

namespace {

/// tf32 rounds the sums it multiplies, f16 those it keeps, bf16 too where they cannot be scaled: two levels of
/// winograd, the first plan that pays, came out at 8.0 to 10.7 times cuBLAS's error (H200, n = 16384 and 32768), which
/// is more than `balanced` promises. Only `fast` takes them.
bool is_at_the_edge_of_balanced(const Problem& problem) {
    const bool at_the_edge = problem.type == Type::tf32 || problem.type == Type::f16 ||
                             (problem.type == Type::bf16 && !scales_sums(problem));
    return problem.options.accuracy == Accuracy::balanced && at_the_edge;
}

/// Who names levels or an algorithm wants those.
bool options_allow_residues(const Options& options) {
    return options.levels < 0 && options.algorithm == "auto" && options.mode == "auto" && !options.overwrite_inputs;
}

/// By residues, with as many levels inside as asked for or as pay.
ProductPlan best_residue_plan(const Problem& problem, const Machine& machine, const std::string& leaf) {
    Problem with_leaf = problem;
    with_leaf.options.leaf = leaf;
    const int most = most_levels_inside_residues(problem.options);
    const bool options_leave_levels_open = problem.options.levels < 0 && problem.options.algorithm == "auto";
    std::optional<ProductPlan> best;
    for (int levels = std::max(problem.options.levels, 0); levels <= most; ++levels) {
        ProductPlan plan = plan_with_levels(with_leaf, machine, levels_inside_residues(problem.options, levels));
        if (options_leave_levels_open && !residue_levels(plan).in_kernels) {
            continue;  // passes over planes are for those who ask for them
        }
        if (!best || plan.predicted_s < best->predicted_s) {
            best = std::move(plan);
        }
    }
    return *best;
}

/// The library's own call, or what takes its place where there is none, and the fastest classical product if that is
/// another. Of products that were measured side by side the predicted time decides, of others the samples of leaves.
ClassicalPlans classical_plans(const Problem& problem, const Machine& machine, const PlannerLimits& limits) {
    ProductPlan usual = plan_with_levels(problem, machine, {});
    if (problem.options.leaf != "auto") {
        return {usual, usual};
    }
    // On a device `strict` means the library's own call, or residues with a certificate.
    const bool only_usual = is_on_device(usual) && problem.options.accuracy == Accuracy::strict;
    std::vector<ProductPlan> libraries, others;
    for (const PlanShape& shape : measured_shapes(machine, problem.type)) {
        if (!only_usual && shape.levels.empty() && backend_traits(usual.backend).only_leaf.empty() &&
            !leaf_traits(shape.leaf).by_residues) {
            (is_whole_call(shape.leaf) ? libraries : others).push_back(plan_with_shape(problem, machine, shape));
        }
    }
    if (options_allow_residues(problem.options)) {
        for (const LeafProfile& profile : machine.leaves) {
            if (profile.type == problem.type && leaf_traits(profile.leaf).by_residues) {
                others.push_back(best_residue_plan(problem, machine, profile.leaf));
            }
        }
    }
    (is_whole_call(usual.leaf) || libraries.empty() ? libraries : others).push_back(std::move(usual));
    const auto faster = [](const ProductPlan& x, const ProductPlan& y) { return x.predicted_s < y.predicted_s; };
    ProductPlan library = *std::ranges::min_element(libraries, faster);
    ProductPlan best = library;
    for (ProductPlan& other : others) {
        if (other.predicted_s * limits.min_gain < library.predicted_s && faster(other, best) &&
            fits_workspace(other, problem)) {
            best = std::move(other);
        }
    }
    return {std::move(library), std::move(best)};
}

ProductPlan best_plan(const Problem& problem, const Machine& machine, const PlannerLimits& limits) {
    const Options& options = problem.options;
    if (leaf_traits(options.leaf).by_residues) {
        return best_residue_plan(problem, machine, options.leaf);
    }
    const bool levels_allowed =
        has_levels(problem.type, backend_traits(problem)) &&
        !(is_float(problem.type) && options.accuracy == Accuracy::strict) && options.levels != 0 &&
        (options.workspace_limit_bytes > 0 || options.overwrite_inputs || has_fused_kernels(problem, machine)) &&
        !(options.levels < 0 && is_at_the_edge_of_balanced(problem));
    if (levels_allowed && options.levels > 0) {
        return forced_levels(problem, machine);
    }
    ClassicalPlans classical = classical_plans(problem, machine, limits);
    // Too small to be cut: not worth a look at the catalogue.
    const bool too_small = std::min({problem.m, problem.k, problem.n}) < 2 * limits.smallest_leaf;
    return levels_allowed && !too_small ? search_levels(problem, machine, limits, classical)
                                        : std::move(classical.fastest);
}

/// The problem with zeros appended.
Problem padded_problem(const Problem& problem) {
    constexpr std::int64_t kUnit = 64;
    Problem larger = problem;
    larger.m = round_up(problem.m, kUnit);
    larger.k = round_up(problem.k, kUnit);
    larger.n = round_up(problem.n, kUnit);
    larger.options.accumulate = false;  // C is added to when it is copied back
    return larger;
}

/// The plan for the problem with zeros appended, whose levels are those of a plan for the larger problem.
ProductPlan padded_plan(const Problem& problem, const Machine& machine, const ProductPlan& larger) {
    Problem same_leaf = problem;
    if (is_float(problem.type) && problem.options.leaf == "auto") {
        same_leaf.options.leaf = larger.leaf;
    }
    ProductPlan plan = empty_plan(problem);
    plan.padded = true;
    plan.levels = larger.levels;
    fill_in(plan, same_leaf, machine);
    return plan;
}

}  // namespace

ProductPlan library_plan(const Problem& problem, const Machine& machine, const PlannerLimits& limits) {
    if (is_complex(problem.type) && !backend_traits(problem).is_device) {
        return complex_library_plan(problem, machine, limits);
    }
    return classical_plans(problem, machine, limits).library;
}

ProductPlan make_plan(const Problem& problem, const Machine& machine, const PlannerLimits& limits) {
    validate(problem, machine);
    if (is_complex(problem.type) && !backend_traits(problem).is_device) {
        return make_complex_plan(problem, machine, limits);
    }
    const bool only_by_residues = problem.type == Type::i64 && backend_traits(problem).is_device;
    if ((problem.options.accuracy == Accuracy::exact && is_float(problem.type)) || only_by_residues) {
        return make_residue_plan(problem, machine);
    }
    ProductPlan best = best_plan(problem, machine, limits);
    const bool has_fringes = best.core_m != best.m || best.core_k != best.k || best.core_n != best.n;
    const bool worth_a_look = is_on_device(best) && !is_complex(problem.type) && problem.options.levels < 0 &&
                              problem.options.workspace_limit_bytes > 0 &&
                              std::min({problem.m, problem.k, problem.n}) >= limits.smallest_leaf &&
                              (has_fringes || rows_are_misaligned(best));
    if (!worth_a_look) {
        return best;
    }
    const double min_gain = best.levels.empty() && !is_by_residues(best) ? limits.min_gain : 1;
    double most_s = best.predicted_s / min_gain;
    // How many zeros a plan needs depends on its levels, so the levels of a stricter word may be the better ones.
    Problem larger = padded_problem(problem);
    for (const Accuracy word : {Accuracy::fast, Accuracy::balanced, Accuracy::strict}) {
        if (word <= problem.options.accuracy) {
            larger.options.accuracy = word;
            ProductPlan plan = padded_plan(problem, machine, best_plan(larger, machine, limits));
            if (plan.predicted_s < most_s && fits_workspace(plan, problem)) {
                most_s = plan.predicted_s;
                best = std::move(plan);
            }
        }
    }
    return best;
}

}  // namespace heptad
