#include "plan/model/level_trial.hpp"

#include <algorithm>

#include "algorithm/catalogue.hpp"
#include "base/evenness_facts.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kLines = 32, kPlaces = 128;

/// As much work for few levels, whatever their number, but for their products. Later on every block has its run.
std::int64_t sampled_in_block(std::int64_t wanted, std::int64_t blocks) {
    return std::max(kRun, wanted / blocks);
}

/// Multiplications that it takes to try them.
double work_of_trial(const std::vector<LevelPlan>& levels) {
    const LevelGrid grid = grid_of(levels);
    const auto in_block = [](std::int64_t wanted, std::int64_t blocks) {
        return static_cast<double>(sampled_in_block(wanted, blocks));
    };
    const double each = in_block(kLines, grid.m) * in_block(kPlaces, grid.k) * in_block(kLines, grid.n);
    double products = 1;
    for (const LevelPlan& level : levels) {
        products *= find_algorithm(level.algorithm).algorithm.rank();
    }
    return each * (static_cast<double>(grid.m) * static_cast<double>(grid.k) * static_cast<double>(grid.n) + products);
}

}  // namespace

LevelGrid grid_of(const std::vector<LevelPlan>& levels) {
    LevelGrid grid;
    for (const LevelPlan& level : levels) {
        const Algorithm& algorithm = find_algorithm(level.algorithm).algorithm;
        grid = {grid.m * algorithm.m, grid.k * algorithm.k, grid.n * algorithm.n};
    }
    return grid;
}

std::vector<LevelPlan> levels_to_try(const std::vector<LevelPlan>& levels) {
    constexpr double kMostWork = 1 << 22;  // four levels of 2 x 2 x 2
    std::vector<LevelPlan> tried;
    for (const LevelPlan& level : levels) {
        tried.push_back(level);
        if (tried.size() > 1 && work_of_trial(tried) > kMostWork) {
            tried.pop_back();
            break;
        }
    }
    return tried;
}

std::vector<std::int64_t> tried_lines(std::int64_t block_lines, std::int64_t blocks, bool by_runs) {
    return sampled_places(block_lines, sampled_in_block(kLines, blocks), by_runs ? kRun : 1);
}

std::vector<std::int64_t> tried_places(std::int64_t block_places, std::int64_t blocks) {
    return sampled_places(block_places, sampled_in_block(kPlaces, blocks), kRun);
}

}  // namespace heptad
