#include "plan/predict/promised_error.hpp"

#include <algorithm>
#include <cmath>

#include "base/evenness_facts.hpp"
#include "base/names.hpp"
#include "base/types.hpp"
#include "plan/predict/error_bound.hpp"
#include "plan/search/host_layer.hpp"
#include "plan/search/planner.hpp"

namespace heptad {
namespace {

std::vector<LevelPlan> levels_of(const std::string& algorithm, int count) {
    return std::vector<LevelPlan>(static_cast<std::size_t>(std::max(count, 0)), {algorithm, LevelMode::serial, ""});
}

/// Levels that are taken outside of the place that multiplies, and judge A and B by themselves.
std::vector<LevelPlan> outer_levels(const ProductPlan& plan) {
    if (plan.disk && plan.disk->levels > 0) {
        return levels_of(plan.disk->algorithm, plan.disk->levels);
    }
    if (plan.rank) {
        return levels_of("strassen", plan.rank->algorithm == ClusterAlgorithm::caps ? plan.rank->steps : 0);
    }
    if (plan.host) {
        return levels_of(plan.host->algorithm, plan.host->levels);
    }
    return levels_of(plan.transfers ? plan.transfers->algorithm : "",
                     plan.transfers && !plan.transfers->algorithm.empty() ? 1 : 0);
}

/// Are rows and columns compared by bounds on their norms before the levels are taken (run/dense/evenness.hpp)? In
/// memory, on processors: a device knows the largest of a sample only, and of 16-bit types nobody makes sums.
bool compares_norms(const ProductPlan& plan) {
    const bool in_memory = !plan.disk && !plan.rank && !plan.host && !plan.transfers && !is_on_device(plan);
    return in_memory && plan.type != Type::bf16 && plan.type != Type::f16;
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
        growth = std::max(growth, expected_growth(levels_of(plan.transfers->algorithm, ends)));
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

ErrorPromise promised_error(const ProductPlan& plan, double growth, bool for_even_data) {
    ErrorPromise promise = classical_promise(plan);
    if (is_certified(plan)) {
        return promise;
    }
    if (is_by_residues(plan) && !rounds_once(plan)) {
        // Powers of two along k may make rows and columns larger, by no more than this both together.
        promise.over = BoundOver::lines;
        promise.bound = residue_error(plan) * (plan.least_evenness > 0 ? kMostBelow : 1);
        promise.growth = growth;
        promise.typical *= growth;
        return promise;
    }
    if (is_by_residues(plan) && promise.over != BoundOver::nothing) {
        promise.over = BoundOver::result;
        promise.bound = promise.typical = promise.roundoff;
        return promise;
    }
    const bool levels_outside = !outer_levels(plan).empty(), levels_inside = !plan.levels.empty();
    const bool is_definition = !levels_outside && !levels_inside && plan.complex != ComplexWay::three_products;
    if (promise.over == BoundOver::nothing || is_definition) {
        return promise;
    }
    promise.growth = growth;
    promise.typical *= growth;
    if (!levels_outside && !levels_inside) {  // of three products: 1 + 1 + 2 times the bound of each, over norms
        promise.over = BoundOver::lines;
        promise.bound *= 2;
        return promise;
    }
    // plan.error_bound is over the largest values of the matrices that the levels see. With A'' and B'', from which
    // powers of two were taken,
    //
    //   |AB - computed|_ij <= error_bound max|A''| max|B''| 2^-rows(i) 2^-cols(j),
    //
    // and levels are taken for even data only where max|A''| max|B''| <= kMostBelow r_i s_j for all i and j, with r_i =
    // 2^rows(i) max_k |a_ik| and s_j likewise (a device takes the largest of its sample of the row instead, which is no
    // larger). The largest value of a row is at most its 2-norm, so that
    //
    //   |AB - computed|_ij <= kMostBelow error_bound |a_i||b_j|.
    //
    // Where norms are compared, with R and S those of the longest row of A'' and column of B'',
    //
    //   |AB - computed|_ij <= line_error_bound R S 2^-rows(i) 2^-cols(j)   and
    //   R S <= kMostBelow 2^rows(i) |a_i| 2^cols(j) |b_j|,
    //
    // which is about k times less. `fast` scales where that makes the data even, and r_i s_j <= max|A| max|B| times the
    // powers. Levels of two places judge twice, the inner ones sums of blocks.
    const bool keeps_lines = plan.least_evenness > 0 || for_even_data;
    promise.over = keeps_lines ? BoundOver::lines : BoundOver::matrices;
    promise.bound = keeps_lines && compares_norms(plan)
                        ? kMostBelow * line_error_bound(plan)
                        : plan.error_bound * (levels_inside ? kMostBelow : 1) * (levels_outside ? kMostBelow : 1);
    return promise;
}

ErrorPromise promised_error(const ProductPlan& plan, const ProductPlan& block, Accuracy accuracy) {
    ProductPlan whole = plan;
    whole.levels = block.levels;
    whole.complex = block.complex;
    whole.least_evenness = block.least_evenness;
    const double u = unit_roundoff(plan.type);
    if (u == 0 || (is_certified(block) && outer_levels(plan).empty())) {
        return classical_promise(plan);
    }
    const auto k = static_cast<double>(plan.k), block_k = static_cast<double>(block.k);
    const double pieces = std::max(1.0, std::ceil(k / std::max(1.0, block_k)));
    const std::vector<LevelPlan> outside = outer_levels(plan);
    if (is_by_residues(block) && outside.empty()) {
        whole.arithmetic = block.arithmetic;
        whole.backend = block.backend;
        whole.leaf = block.leaf;
        // Norms of parts of lines multiply to no more than those of the lines, and each addition rounds what is there.
        ErrorPromise promise = promised_error(whole, expected_growth(whole, Machine{}), true);
        promise.bound += (pieces - 1) * u;
        return promise;
    }
    if (!outside.empty()) {
        const LayerGrowth growth =
            layer_growth(algorithm_layer(outside.front().algorithm, static_cast<int>(outside.size()), plan.type));
        whole.error_bound = growth.growth * (block.error_bound + growth.roundings * u * block_k);
    } else {
        // Sums of partial products: each has its bound, and each addition rounds what is there.
        whole.error_bound = pieces * block.error_bound + (pieces - 1) * k * u * (is_complex(plan.type) ? 2 : 1);
    }
    return promised_error(whole, expected_growth(whole), accuracy == Accuracy::balanced);
}

}  // namespace heptad
