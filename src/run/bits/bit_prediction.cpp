#include "run/bits/bit_prediction.hpp"

#include <algorithm>
#include <cmath>

#include "base/size.hpp"

namespace heptad::bits {
namespace {

/// What a sum costs in terms of a pass over memory by a leaf without such sums: one inside the leaf, where the blocks
/// of these levels are in the L2 cache and where they are not; one that is made beside the tiles of such a leaf; and
/// one that is a pass of its own, which no tile hides. The levels chosen on a Xeon with 2 MiB of that cache follow from
/// them.
constexpr double kFusedShare = 0.4, kFusedFarShare = 0.7, kBesideShare = 0.5, kTaskShare = 5;
constexpr double kCacheWords = 1 << 18;

}  // namespace

double levels_cost(const Leaf& leaf, const LeafShape& shape, const LevelProgram* program, int levels, int task_levels) {
    double cost =
        static_cast<double>(shape.m + leaf.overhead_rows) * static_cast<double>(shape.k) * static_cast<double>(shape.n);
    if (levels == 0) {
        return cost;
    }
    // A quarter of the additions each for A and B, half of them for C: P3 counts 3, 3 and 6, winograd has 4, 4 and 7.
    const auto additions = static_cast<double>(count_operations(*program, 1).additions);
    const double words = additions / 4 *
                         static_cast<double>(packed_words(shape.m, shape.k) + packed_words(shape.k, shape.n) +
                                             2 * packed_words(shape.m, shape.n));
    const int fused = fused_levels(*program, leaf, levels);
    const double fused_words =
        std::pow(4.0, fused) * static_cast<double>(packed_words(shape.m, shape.k) + packed_words(shape.k, shape.n) +
                                                   packed_words(shape.m, shape.n));
    const double fused_share = fused_words <= kCacheWords ? kFusedShare : kFusedFarShare;
    const double upper_share = fused > 0 ? kBesideShare : 1.0;
    double quarter = 1;
    for (int level = 0; level < levels; ++level) {
        const bool is_pass = fused > 0 && level >= levels - task_levels;
        const double share = level < fused ? fused_share : is_pass ? kTaskShare : upper_share;
        cost = static_cast<double>(program->steps.size()) * cost + quarter * words * leaf.products_per_addition * share;
        quarter *= 4;
    }
    return cost;
}

double packing_cost(const Leaf& leaf, const PackedShape& shape) {
    return static_cast<double>(shape.words()) * leaf.products_per_packing;
}

double thread_share(const LevelProgram* program, int task_levels, int threads) {
    if (task_levels == 0) {
        return 1.0 / threads;
    }
    std::int64_t tasks = 1;
    for (int level = 0; level < task_levels; ++level) {
        tasks *= static_cast<std::int64_t>(program->steps.size());
    }
    return static_cast<double>(ceil_div(tasks, threads)) / static_cast<double>(tasks);
}

}  // namespace heptad::bits
