#include "plan/search/residue_levels.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "algorithm/catalogue.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "plan/search/planner.hpp"

namespace heptad {

ResidueLevels residue_levels(const ProductPlan& plan) {
    ResidueLevels all;
    for (const LevelPlan& level : plan.levels) {
        const Algorithm& algorithm = find_algorithm(level.algorithm).algorithm;
        all.blocks = {all.blocks.m * algorithm.m, all.blocks.k * algorithm.k, all.blocks.n * algorithm.n};
        all.products *= algorithm.rank();
        all.in_kernels = all.in_kernels && level.algorithm == kHalving && !is_complex(plan.type);
    }
    return all;
}

std::string residue_levels_refusal(const std::vector<LevelPlan>& levels) {
    if (levels.size() > kMostResidueLevels) {
        return fmt::format("leaf {} has up to {} levels inside, not {}; set levels within that, or choose another leaf",
                           leaf_by_residues(), kMostResidueLevels, levels.size());
    }
    std::int64_t products = 1;
    double a = 1, b = 1, c = 1;
    for (const LevelPlan& level : levels) {
        if (level != LevelPlan{level.algorithm, LevelMode::parallel, ""}) {
            return fmt::format("levels inside leaf {} have no mode or schedule of their own; set mode to auto",
                               leaf_by_residues());
        }
        const CatalogueEntry& entry = find_algorithm(level.algorithm);
        if (entry.algorithm.ring != Ring::integers) {
            return fmt::format(
                "leaf {} has levels of algorithms over {} inside, and {} is over {}; `heptad algorithms` lists the "
                "others",
                leaf_by_residues(), ring_name(Ring::integers), level.algorithm, ring_name(entry.algorithm.ring));
        }
        products *= entry.algorithm.rank();
        a *= entry.facts.largest_sum_a;
        b *= entry.facts.largest_sum_b;
        c *= entry.facts.largest_sum_c;
    }
    if (products > kMostPlaneProducts || std::max({a, b, c}) > kMostPlaneSum) {
        return fmt::format(
            "leaf {} has levels inside with up to {} products and sums of {} blocks, and these have {} and {}; set "
            "levels to fewer, or choose another algorithm",
            leaf_by_residues(), kMostPlaneProducts, kMostPlaneSum, products, std::max({a, b, c}));
    }
    return "";
}

std::vector<LevelPlan> levels_inside_residues(const Options& options, int count) {
    return same_levels(options.algorithm == "auto" ? kHalving : options.algorithm, count, LevelMode::parallel);
}

int most_levels_inside_residues(const Options& options) {
    const auto refusal = [&](int count) { return residue_levels_refusal(levels_inside_residues(options, count)); };
    int count = options.levels < 0 ? kMostResidueLevels : options.levels;
    while (options.levels < 0 && count > 1 && !refusal(count).empty()) {
        --count;
    }
    if (const std::string sentence = refusal(count); !sentence.empty()) {
        fail(ErrorCode::usage, "{}", sentence);
    }
    return count;
}

LevelTerms residue_level_terms(const std::vector<LevelPlan>& levels) {
    std::vector<LevelTerms> terms;
    for (const LevelPlan& level : levels) {
        terms.push_back(level_terms(find_algorithm(level.algorithm).standard));
    }
    return nested_levels(terms, BlockNumbers::by_rows);
}

}  // namespace heptad
