#include "plan/predict/promised_error.hpp"

#include <algorithm>

#include "algorithm/catalogue.hpp"
#include "base/evenness_facts.hpp"
#include "base/names.hpp"
#include "base/norm_sample.hpp"
#include "base/size.hpp"
#include "base/types.hpp"
#include "plan/predict/error_bound.hpp"
#include "plan/search/host_layer.hpp"
#include "plan/search/planner.hpp"

namespace heptad {
namespace {

/// Levels that are taken outside of the place that multiplies, and judge A and B by themselves.
std::vector<LevelPlan> outer_levels(const ProductPlan& plan) {
    if (plan.disk && plan.disk->levels > 0) {
        return same_levels(plan.disk->algorithm, plan.disk->levels, LevelMode::serial);
    }
    if (plan.rank) {
        const bool has_levels = plan.rank->algorithm == ClusterAlgorithm::caps;
        return same_levels("strassen", has_levels ? plan.rank->steps : 0, LevelMode::serial);
    }
    if (plan.host) {
        return same_levels(plan.host->algorithm, plan.host->levels, LevelMode::serial);
    }
    const std::string transfers = plan.transfers ? plan.transfers->algorithm : "";
    return same_levels(transfers, transfers.empty() ? 0 : 1, LevelMode::serial);
}

/// The products that multiply what the cuts of a plan leave, and how many of them along k are added up.
struct Blocks {
    ProductPlan of_one;
    double pieces = 1;
};
Blocks blocks_of(const ProductPlan& plan) {
    Blocks blocks{plan, 1};
    ProductPlan& block = blocks.of_one;
    if (plan.disk) {
        std::int64_t part_k = plan.k;
        for (const LevelPlan& level : outer_levels(plan)) {
            part_k = ceil_div(part_k, std::int64_t{find_algorithm(level.algorithm).algorithm.k});
        }
        block.k = std::clamp<std::int64_t>(plan.disk->depth, 1, std::max<std::int64_t>(part_k, 1));
        const std::int64_t first = plan.disk->first_depth > 0 ? plan.disk->first_depth : block.k;
        blocks.pieces = static_cast<double>(1 + ceil_div(std::max<std::int64_t>(part_k - first, 0), block.k));
    } else if (plan.host) {
        block.k = std::clamp<std::int64_t>(plan.host->block_k, 1, std::max<std::int64_t>(plan.k, 1));
        blocks.pieces =
            plan.host->levels > 0 ? 1 : static_cast<double>(std::max<std::int64_t>(ceil_div(plan.k, block.k), 1));
    } else if (plan.transfers) {
        blocks.pieces = static_cast<double>(std::max<std::size_t>(plan.transfers->depths.size(), 1));
    }
    block.disk.reset();
    block.host.reset();
    block.rank.reset();
    return blocks;
}

/// |ST - computed|_ij over |s_i||t_j|, of a product that judges S and T by itself.
double bound_of_block(const ProductPlan& block) {
    if (is_certified(block)) {
        return classical_promise(block).bound;
    }
    if (is_by_residues(block)) {
        // Powers of two along k may make rows and columns larger, by no more than this both together.
        return rounds_once(block) ? unit_roundoff(block.type)
                                  : residue_error(block) * (block.least_evenness > 0 ? kMostBelow : 1);
    }
    if (block.levels.empty()) {  // of three products: 1 + 1 + 2 times the bound of each, over norms
        return (block.complex == ComplexWay::three_products ? 2 : 1) * classical_promise(block).bound;
    }
    // Rows and columns were compared: with the norms of the longest on processors (run/dense/evenness.hpp), with the
    // largest values on devices, which bound those norms (base/norm_sample.hpp).
    return (is_on_device(block) ? most_above_norms(block.padded ? block.k : block.core_k) : kMostBelow) *
           line_error_bound(block);
}

/// Of levels around those products, taken for A and B whose rows and columns were compared by their norms; and of sums
/// of them along k.
///
/// Sums along k: norms of parts of lines multiply to no more than those of the lines (Cauchy and Schwarz), and every
/// addition rounds what is there.
///
/// Levels: with R and S the longest row of A'' and the longest column of B'', rows of a sum of blocks are no longer
/// than |u_s|_1 R, and its roundings change them by gamma_Q of that. Its product is off by b of the norms of its own
/// rows and columns, whichever way it was made and whatever it judged. So
///
///   |AB - computed|_ij <= E ((1 + b) (1 + gamma_Q) - 1) R S 2^-rows(i) 2^-cols(j),
///
/// and R S <= kMostBelow 2^rows(i) |a_i| 2^cols(j) |b_j| is what was compared. No step has a factor of k.
double bound_of_whole(double of_block, double pieces, const std::vector<LevelPlan>& outside, Type type) {
    const double u = unit_roundoff(type);
    const double bound = (1 + of_block) * (1 + gamma_of(pieces - 1, u)) - 1;
    if (outside.empty()) {
        return bound;
    }
    const LayerGrowth growth =
        layer_growth(algorithm_layer(outside.front().algorithm, static_cast<int>(outside.size()), type));
    return kMostBelow * growth.growth * ((1 + bound) * (1 + gamma_of(growth.roundings, u)) - 1);
}

ErrorPromise promise_of_blocks(const ProductPlan& plan, const Blocks& blocks, double growth, bool keeps_lines) {
    const ProductPlan& block = blocks.of_one;
    const std::vector<LevelPlan> outside = outer_levels(plan);
    ErrorPromise promise = classical_promise(plan);
    if (element_bytes(plan.type) == 2) {  // C is rounded with every part of k; others count those among k additions
        promise.bound = (1 + promise.bound) * (1 + gamma_of(blocks.pieces - 1, promise.roundoff)) - 1;
    }
    const bool is_definition = block.levels.empty() && block.complex != ComplexWay::three_products;
    if (promise.over == BoundOver::nothing ||
        (outside.empty() && (is_by_residues(block) ? is_certified(block) : is_definition))) {
        return promise;
    }
    if (outside.empty() && rounds_once(block) && blocks.pieces == 1) {
        promise.over = BoundOver::result;
        promise.bound = promise.typical = promise.roundoff;
        return promise;
    }
    promise.growth = growth;
    promise.typical *= growth;
    const bool has_levels = !outside.empty() || !(block.levels.empty() || is_by_residues(block));
    promise.over = keeps_lines || !has_levels ? BoundOver::lines : BoundOver::matrices;
    if (plan.transfers && !outside.empty()) {
        // Sums beside transfers are made before the norms of lines are known: in the end the largest values of A and B
        // are compared with those of their lines, which are no larger than the norms, and plan.error_bound is over
        // largest values.
        const bool judges_twice = !block.levels.empty() || is_by_residues(block);
        promise.bound = plan.error_bound * kMostBelow * (judges_twice ? kMostAboveRms : 1);
        return promise;
    }
    // `fast` takes levels whatever the data is like, but powers of two only where the same was compared. Without them
    // no line is longer than sqrt(k) times the largest value, and with them the bound over lines holds.
    promise.bound = bound_of_whole(bound_of_block(block), blocks.pieces, outside, plan.type) *
                    (promise.over == BoundOver::matrices ? static_cast<double>(plan.k) : 1);
    return promise;
}

}  // namespace

const char* bound_over_text(BoundOver over) {
    static constexpr Names<BoundOver, 5> texts{{"", "|AB|_ij", "(|A||B|)_ij", "|a_i||b_j|", "max|A| max|B|"}};
    return texts.of(over);
}

double typical_classical_error(Type type) {
    // Uniform and normal data, n from 256 to 1024, OpenBLAS and our own leaf on two Xeon cores: 0.9 to 2.0 roundoffs in
    // f32 and 1.2 to 2.4 in f64, less for longer sums, which are made in parts. The test of this file measures it
    // again.
    constexpr double kInRoundoffs = 1.5;
    return kInRoundoffs * unit_roundoff(type);
}

double expected_growth(const ProductPlan& plan) {
    double growth = complex_growth(plan) * expected_growth(outer_levels(plan)) * expected_growth(plan.levels);
    if (plan.transfers && !plan.transfers->algorithm.empty()) {
        // The products at both ends are made by more levels of the schedule in place of the plan's.
        const int ends = std::max(plan.transfers->opening, plan.transfers->closing);
        growth = std::max(growth, expected_growth(same_levels(plan.transfers->algorithm, ends, LevelMode::serial)));
    }
    return growth;
}

ErrorPromise classical_promise(const ProductPlan& plan) {
    ErrorPromise promise;
    const double u = unit_roundoff(plan.type);
    if (u == 0) {
        return promise;
    }
    promise.roundoff = u;
    promise.typical = typical_classical_error(plan.type);
    promise.over = BoundOver::entries;
    if (is_complex(plan.type)) {  // 2k real products in each part, and both parts together
        promise.typical *= 2;
        promise.bound = 2 * gamma_of(2 * static_cast<double>(plan.k) + 2, u);
        return promise;
    }
    promise.bound = classical_bound(plan.type, static_cast<double>(plan.k));
    return promise;
}

ErrorPromise stored_as(Type type, const ProductPlan& plan, ErrorPromise promise) {
    const double u = unit_roundoff(type);
    if (promise.over == BoundOver::nothing || u <= promise.roundoff) {
        return promise;
    }
    // |AB|_ij is no larger than what bounds are over, but k times the product of largest values.
    promise.bound += u * ((promise.over == BoundOver::matrices ? static_cast<double>(plan.k) : 1) + promise.bound);
    promise.typical = std::max(promise.typical, typical_classical_error(type));
    promise.roundoff = u;
    return promise;
}

ErrorPromise promised_error(const ProductPlan& plan, double growth, bool for_even_data) {
    return promise_of_blocks(plan, blocks_of(plan), growth, plan.least_evenness > 0 || for_even_data);
}

ErrorPromise promised_error(const ProductPlan& plan, const ProductPlan& block, Accuracy accuracy) {
    ProductPlan whole = plan;
    whole.levels = block.levels;
    whole.complex = block.complex;
    whole.least_evenness = block.least_evenness;
    whole.arithmetic = block.arithmetic;
    whole.backend = block.backend;
    whole.leaf = block.leaf;
    const bool has_levels = !outer_levels(plan).empty();
    const auto pieces = static_cast<double>(ceil_div(plan.k, std::max<std::int64_t>(block.k, 1)));
    return promise_of_blocks(
        whole, {block, has_levels ? 1 : std::max(1.0, pieces)},
        is_by_residues(block) && !has_levels ? expected_growth(whole, Machine{}) : expected_growth(whole),
        block.least_evenness > 0 || accuracy == Accuracy::balanced);
}

}  // namespace heptad
