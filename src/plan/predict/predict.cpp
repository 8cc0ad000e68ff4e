#include "plan/predict/predict.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "algorithm/catalogue.hpp"
#include "plan/model/normalize_plan.hpp"
#include "plan/predict/error_bound.hpp"
#include "plan/predict/fused_prediction.hpp"
#include "plan/predict/measured_plans.hpp"
#include "plan/search/device_residue_plan.hpp"
#include "plan/search/level_layout.hpp"

namespace heptad {
namespace {

/// Seconds of the parts peeled off: the rest of k for the core, the last rows, the last columns.
double fringe_seconds(const ProductPlan& plan, const Machine& machine) {
    // A device's library is that much slower on products a few rows thin (measured on an H200, n = 8191 and 16383).
    const double thin = is_on_device(plan) ? 25 : 1;
    double seconds = 0;
    const auto add = [&](std::int64_t m, std::int64_t k, std::int64_t n) {
        if (m > 0 && k > 0 && n > 0) {
            seconds += thin * leaf_seconds(machine, plan.fringe_leaf, plan.type, m, k, n);
        }
    };
    add(plan.core_m, plan.k - plan.core_k, plan.core_n);
    add(plan.m - plan.core_m, plan.k, plan.n);
    add(plan.core_m, plan.k, plan.n - plan.core_n);
    return seconds;
}

}  // namespace

double odd_blocks_factor(const BackendTraits& backend, const Algorithm& algorithm) {
    const bool square = algorithm.m == algorithm.k && algorithm.k == algorithm.n;
    const bool halves = square && std::has_single_bit(static_cast<unsigned>(algorithm.m));
    return halves ? 1 : backend.odd_blocks;
}

double passes_factor(const BackendTraits& backend, const LevelPlan& level) {
    const bool known = std::ranges::find(backend.known_passes, level.algorithm) != backend.known_passes.end();
    return known || level.mode != LevelMode::parallel ? 1 : backend.other_passes;
}

bool rows_are_misaligned(const ProductPlan& plan) {
    constexpr std::int64_t kRowAlignment = 16;
    const auto element = static_cast<std::int64_t>(element_bytes(plan.type));
    return plan.k * element % kRowAlignment != 0 || plan.n * element % kRowAlignment != 0;
}

bool are_leaves_alone(const ProductPlan& plan) {
    return plan.levels.empty() || plan.levels.back().mode != LevelMode::parallel;
}

/// On a device the rows of A, B and C as the caller has them may be slow to multiply; blocks in workspace are not.
double alignment_factor(const ProductPlan& plan, const Machine& machine) {
    const bool from_workspace = !plan.levels.empty() && level_storage(plan, plan.levels.size() - 1).batched;
    if (!is_on_device(plan) || from_workspace || plan.padded) {
        return 1;
    }
    return rows_are_misaligned(plan) ? misaligned_factor(machine, plan.leaf, plan.type) : 1;
}

FusedWork fused_work(const ProductPlan& plan) {
    const LeafSize leaf = leaf_size(plan);
    const std::size_t outer = plan.levels.size() - 1;
    const bool in_batches = outer > 0 && plan.levels[outer - 1].mode == LevelMode::parallel;
    ProblemSize whole{leaf.m, leaf.k, leaf.n};
    for (const LevelPlan& level : plan.levels) {
        const Algorithm& algorithm = find_algorithm(level.algorithm).algorithm;
        whole = {whole.m * algorithm.m, whole.k * algorithm.k, whole.n * algorithm.n};
    }
    return {leaf.m, leaf.k, leaf.n, in_batches ? find_algorithm(plan.levels[outer - 1].algorithm).algorithm.rank() : 1,
            whole.m == plan.core_m && whole.k == plan.core_k && whole.n == plan.core_n};
}

namespace {

/// The kernel of the fused level of a plan that has one, and the time of all its products in one call.
std::optional<FusedChoice> fused_choice(const ProductPlan& plan, const Machine& machine) {
    const LevelPlan& level = plan.levels.back();
    return choose_fused_tile(machine, plan.type, level.order, level.tile, fused_instances(level.algorithm),
                             fused_work(plan));
}

/// Rounded once, random data takes so many (docs/residues.md).
double expected_moduli(const ProductPlan& plan) {
    const bool follows_data = rounds_once(plan) && !is_integer(plan.type);
    return follows_data ? std::min(plan.arithmetic.moduli, plan.type == Type::f64 ? 22 : 15) : plan.arithmetic.moduli;
}
/// The type whose products by residues say how long those of the plan take.
Type measured_type(const ProductPlan& plan, const Machine& machine) {
    const bool has_own = std::any_of(machine.leaves.begin(), machine.leaves.end(), [&](const LeafProfile& profile) {
        return profile.leaf == plan.leaf && profile.type == plan.type;
    });
    return has_own ? plan.type : plan.type == Type::f32 || plan.type == Type::c64 ? Type::f32 : Type::f64;
}
/// A leaf by residues is measured with the moduli of `balanced`, and of integers with those that they take.
double moduli_over_measured(const ProductPlan& plan, Type measured) {
    if (!rounds_once(plan)) {
        return plan.least_evenness == 0 ? 0.87 : 1;
    }
    return is_integer(measured) ? 1 : expected_moduli(plan) / (measured == Type::f32 ? 7 : 14);
}

/// The products at the bottom, with their sums inside where that is the plan.
double products_seconds(const ProductPlan& plan, const Machine& machine) {
    const LeafSize leaf = leaf_size(plan);
    if (is_fused(plan)) {
        const LevelPlan& level = plan.levels.back();
        if (const auto choice = fused_choice(plan, machine)) {
            const Algorithm& algorithm = find_algorithm(level.algorithm).algorithm;
            const double levels = static_cast<double>(leaf.count) / static_cast<double>(algorithm.rank());
            const double calls = levels / fused_work(plan).levels_together;
            const double launch_s = machine.fused_device.launch_s;
            // What judges the operands or the result is launched beside it.
            const double guard_launches = choice->judges_result ? 1 : 3;
            const double guard_s = plan.levels.size() == 1 ? guard_launches * launch_s : 0;
            const bool misaligned = plan.levels.size() == 1 && !plan.padded && rows_are_misaligned(plan);
            double seconds = guard_s + calls * choice->seconds * (misaligned ? choice->misaligned : 1);
            if (level.order == FusedOrder::atomic) {  // additions in any order find zeros
                const double result = static_cast<double>(leaf.m * algorithm.m) *
                                      static_cast<double>(leaf.n * algorithm.n) *
                                      static_cast<double>(element_bytes(plan.type));
                const double clearing_launches = choice->judges_result ? 0 : calls;  // or begins while that runs
                seconds += clearing_launches * launch_s + levels * result / machine.combine_bytes_per_s;
            }
            return seconds;
        }
    }
    if (is_by_residues(plan) && is_on_device(plan)) {
        const Type measured = measured_type(plan, machine);
        const double misaligned = rows_are_misaligned(plan) ? misaligned_factor(machine, plan.leaf, measured) : 1;
        return moduli_over_measured(plan, measured) * misaligned *
               leaf_seconds(machine, plan.leaf, measured, plan.m, plan.k, plan.n);
    }
    return static_cast<double>(leaf.count) *
           leaf_seconds(machine, plan.leaf, leaf_type(plan), leaf.m, leaf.k, leaf.n,
                        are_leaves_alone(plan) ? LeafUse::whole_product : LeafUse::below_levels) *
           alignment_factor(plan, machine);
}

/// Levels inside residues: the products of bytes get fewer, and the bytes more.
double residues_with_levels_seconds(const ProductPlan& plan, const Machine& machine, double without_s) {
    if (plan.levels.empty()) {
        return without_s;
    }
    // Beside the bytes there is their arithmetic; products of small blocks end more often. Both as measured on an H200:
    // f64 with no, one and two levels takes 12.0, 12.2 and 14.5 ms at 8192, 39.3, 37.4 and 40.3 ms at 12288, 93, 89 and
    // 91 ms at 16384, and 651 and 628 ms with one and two at 32768; f32 with one and two 40.6 and 39.2 ms at 16384.
    const double arithmetic = plan.type == Type::f64 ? 1.8 : plan.type == Type::f32 ? 1.3 : 2;
    constexpr double kEnd = 1.01, kShort = 1000;
    const auto m = static_cast<double>(plan.m), k = static_cast<double>(plan.k), n = static_cast<double>(plan.n);
    const double bytes_s = arithmetic * (m * k + k * n + m * n) / machine.combine_bytes_per_s;
    const ResidueLevels levels = residue_levels(plan);
    const BlockGrid& blocks = levels.blocks;
    double products = static_cast<double>(levels.products) / (blocks.m * blocks.k * blocks.n);
    // Bytes of all products over those without levels. Sums in passes are as slow as if they moved so many bytes more
    // for each number and modulus (strassen on an H200: 3.7 in f32 at 16384, 5.3 in i64 at 8192).
    const double all = m * k + k * n + m * n;
    const double bytes =
        levels.products *
        (m * k / (blocks.m * blocks.k) + k * n / (blocks.k * blocks.n) + m * n / (blocks.m * blocks.n)) / all;
    constexpr double kBytesOfPasses = 4;
    const double planes = expected_moduli(plan) * residue_parts(plan.type);
    const double whole_s = levels.in_kernels ? 0 : planes * kBytesOfPasses * all / machine.combine_bytes_per_s;
    const LeafSize leaf = leaf_size(plan);
    const double shortness =
        kShort / static_cast<double>(std::max<std::int64_t>(1, std::min({leaf.m, leaf.k, leaf.n})));
    products *= kEnd + shortness * shortness;
    const double of_moduli_s = planes * bytes_s;
    const double passes_s = std::min(without_s, static_cast<double>(element_bytes(plan.type)) * bytes_s + of_moduli_s);
    return products * (without_s - passes_s) + passes_s + (bytes - 1) * of_moduli_s + whole_s;
}

}  // namespace

double seconds_with_starts(const BackendTraits& backend, const Machine& machine, double work_s, double passes) {
    if (!backend.is_device) {
        return work_s + passes * machine.call_s;
    }
    return passes > 0 ? std::max(work_s + machine.call_s, passes * machine.call_s) : work_s;
}

double model_seconds(const ProductPlan& plan, const Machine& machine) {
    double seconds = products_seconds(plan, machine);
    if (is_by_residues(plan) && is_on_device(plan)) {
        const double operands = static_cast<double>(plan.k) * static_cast<double>(plan.m + plan.n) *
                                static_cast<double>(element_bytes(plan.type));
        const double certificate_s = is_certified(plan) ? operands / machine.scan_bytes_per_s : 0;
        return residues_with_levels_seconds(plan, machine, seconds) + certificate_s;
    }
    ProblemSize block{plan.core_m, plan.core_k, plan.core_n};
    if (plan.padded) {  // each matrix is read and written once
        seconds += traffic_bytes({2, 2, 2, 0, false}, block, {plan.type, false}) / machine.combine_bytes_per_s +
                   5 * machine.call_s;
    }
    if (plan.levels.empty()) {
        return seconds;
    }
    const BackendTraits& backend = backend_traits(plan.backend);
    double odd_blocks = 1;
    double count = 1;
    double bytes = wider_operand_bytes(block, plan.type, plan.scaled_sums);
    double passes = 0;
    const std::vector<std::vector<LevelEntry>> entries = level_entries(plan);
    LevelEntry entry = entries.front().back();  // adding to C, if it may be asked for
    const auto element = static_cast<double>(element_bytes(plan.type));
    const auto operands = [&](const ProblemSize& b) {
        return (static_cast<double>(b.m) * static_cast<double>(b.k) +
                static_cast<double>(b.k) * static_cast<double>(b.n)) *
               element;
    };
    if (plan.change_basis) {  // read and write every operand and the result once per level
        bytes += 2 * static_cast<double>(plan.levels.size()) *
                 (operands(block) + static_cast<double>(block.m) * static_cast<double>(block.n) * element);
    }
    for (std::size_t depth = 0; depth < plan.levels.size(); ++depth) {
        const LevelPlan& level = plan.levels[depth];
        const Algorithm& algorithm = find_algorithm(level.algorithm).algorithm;
        odd_blocks = std::max(odd_blocks, odd_blocks_factor(backend, algorithm));
        block = {block.m / algorithm.m, block.k / algorithm.k, block.n / algorithm.n};
        const LevelCost cost = level_cost(level, plan.change_basis, entry, level_storage(plan, depth));
        bytes += count * passes_factor(backend, level) * traffic_bytes(cost, block, {plan.type, plan.scaled_sums});
        passes += count * cost.passes;
        const bool operands_die = entry.operands_die && level.mode == LevelMode::serial &&
                                  level_schedule(level, plan.change_basis, entry).operands_die;
        entry = {cost.adds_products, operands_die};
        count *= algorithm.rank();
    }
    seconds += bytes / machine.combine_bytes_per_s;
    seconds += plan.padded ? 0 : fringe_seconds(plan, machine);
    const bool watched_in_passes =
        backend.is_device && plan.levels.front().mode == LevelMode::parallel && !plan.change_basis && !plan.scaled_sums;
    if (is_float(plan.type) && !watched_in_passes) {
        const double result = static_cast<double>(plan.m) * static_cast<double>(plan.n) * element;
        // A fused level on a device is judged by the result where that is not added to, and by all three otherwise.
        const bool judges_result = backend.is_device && plan.levels.front().mode == LevelMode::fused;
        const bool scans_operands = !judges_result || plan.accumulate || plan.padded;
        const auto choice = judges_result ? fused_choice(plan, machine) : std::nullopt;
        const bool scans_result = judges_result && (scans_operands || !choice || !choice->judges_result);
        seconds += ((scans_result ? result : 0) + (scans_operands ? operands({plan.m, plan.k, plan.n}) : 0)) /
                   machine.scan_bytes_per_s;
    }
    seconds = seconds_with_starts(backend, machine, seconds, passes);
    if (backend.is_device && is_fused(plan)) {  // the host makes products while the device is at others
        const auto products = static_cast<double>(leaf_size(plan).count);
        seconds = std::max(seconds, passes * machine.call_s + products * machine.fused_device.product_s);
    }
    // What f16 gains over large products while it is measured by itself, the device's power takes away again (H200: 1.2
    // by its parts and 0.96 to 0.99 measured at n = 16384, 1.5 and 1.12 to 1.14 at n = 32768).
    constexpr double kScaledSums = 1.28;
    return seconds * odd_blocks * (plan.scaled_sums ? kScaledSums : 1);
}

double predict_seconds(const ProductPlan& plan, const Machine& machine) {
    const double seconds = model_seconds(plan, machine);
    if (machine.measured_plans.empty()) {
        return seconds;
    }
    double library_over_plan = 1;
    if (plan.levels.empty() && !is_by_residues(plan)) {
        const auto leaf_s = [&](const std::string& leaf) {
            return leaf_seconds(machine, leaf, plan.type, plan.m, plan.k, plan.n);
        };
        library_over_plan = leaf_s(best_leaf(machine, plan.type, plan.m, plan.k, plan.n)) / leaf_s(plan.leaf);
    }
    return seconds * measured_ratio(plan, machine, library_over_plan);
}

}  // namespace heptad
