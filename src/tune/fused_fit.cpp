#include "tune/fused_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace heptad {
namespace {

constexpr std::int64_t kLongSide = 8192, kDeep = 4096, kShallow = 512, kFewWaves = 4;
/// Columns that tiles at the edge do not have: few, and all others still begin where vectors do.
constexpr int kMissing = 4;
constexpr int kProductsInTurn = 4;
/// Below what can be measured; a parameter must stay positive.
constexpr double kLeastFlops = 1e-3;

}  // namespace

WholeWaves whole_waves(const FusedProfile& profile, const FusedDevice& device, std::int64_t side) {
    const std::int64_t at_once = std::int64_t{device.multiprocessors} * profile.blocks_of_multiprocessor;
    const std::int64_t most_rows = std::max<std::int64_t>(1, 2 * side / profile.tile_m);
    WholeWaves best;
    double least = std::numeric_limits<double>::infinity();
    for (std::int64_t rows = 1; rows <= most_rows; ++rows) {
        const std::int64_t step = at_once / std::gcd(at_once, rows);  // tiles across in multiples of that
        const std::int64_t cols = step * std::max<std::int64_t>(1, side / profile.tile_n / step);
        const double off = std::abs(std::log(static_cast<double>(rows * profile.tile_m) / static_cast<double>(side))) +
                           std::abs(std::log(static_cast<double>(cols * profile.tile_n) / static_cast<double>(side)));
        if (off < least) {
            least = off;
            best = {rows, cols};
        }
    }
    return best;
}

FusedProfile fit_fused_profile(FusedProfile profile, const FusedDevice& device, const FusedStopwatch& seconds,
                               std::int64_t more_k) {
    const std::int64_t deep = kDeep + more_k, shallow = kShallow + more_k;
    const WholeWaves waves = whole_waves(profile, device, kLongSide);
    const double tile = static_cast<double>(profile.tile_m) * profile.tile_n;
    const double tiles = static_cast<double>(waves.rows * waves.cols);
    const auto time = [&](const OperandCounts& counts, std::int64_t k, bool misaligned = false) {
        return std::max(1e-9,
                        seconds({counts, waves.rows * profile.tile_m, k, waves.cols * profile.tile_n, misaligned}) -
                            device.launch_s);
    };
    const double deep_s = time({1, 1, 1}, deep), shallow_s = time({1, 1, 1}, shallow);
    const double deeper_s = std::max(deep_s - shallow_s, deep_s / 2);  // noise must not make the rate infinite
    profile.flops_per_s = 2 * tile * tiles * static_cast<double>(deep - shallow) / deeper_s;
    const double flops_per_tile_s = profile.flops_per_s / tiles;
    // Updates are measured over few waves, as products of levels have them: blocks that share a multiprocessor have
    // begun together and update together, and do not hide it from each other yet.
    const double few_tiles = static_cast<double>(kFewWaves) * device.multiprocessors * profile.blocks_of_multiprocessor;
    const auto flops_of_few = [&](int targets, FusedOrder order) {
        const std::int64_t cols = kFewWaves * profile.blocks_of_multiprocessor;
        const double taken_s = seconds({{1, 1, targets},
                                        std::int64_t{device.multiprocessors} * profile.tile_m,
                                        shallow,
                                        cols * profile.tile_n,
                                        false,
                                        order}) -
                               device.launch_s;
        return profile.flops_per_s * std::max(1e-9, taken_s) / (few_tiles * tile);
    };
    const auto update_flops = [&](FusedOrder order) {
        const double with_one = flops_of_few(1, order), first_update = with_one - 2 * static_cast<double>(shallow);
        const double update =
            profile.most_targets >= 2 ? (first_update + flops_of_few(2, order) - with_one) / 2 : first_update;
        return std::max(update, kLeastFlops);
    };
    profile.update_flops = update_flops(FusedOrder::serial);
    profile.atomic_flops = update_flops(FusedOrder::atomic);
    if (profile.most_terms >= 2) {
        const double added = static_cast<double>(profile.tile_m + profile.tile_n) * static_cast<double>(deep);
        profile.addition_flops = std::max(flops_per_tile_s * (time({2, 2, 1}, deep) - deep_s) / added, kLeastFlops);
    }
    const int terms = std::min(profile.most_terms, 4);
    const double words =
        terms * static_cast<double>(profile.tile_m + profile.tile_n) * static_cast<double>(deep) + tile;
    profile.global_bytes_per_s =
        tiles * words * static_cast<double>(element_bytes(profile.type)) / time({terms, terms, 1}, deep);
    const std::int64_t multiprocessors = device.multiprocessors;
    const auto column_s = [&](const OperandCounts& counts, std::int64_t blocks, std::int64_t cols) {
        return std::max(1e-9,
                        seconds({counts, multiprocessors * blocks * profile.tile_m, deep, cols}) - device.launch_s);
    };
    const double alone_s = column_s({1, 1, 1}, 1, profile.tile_n);
    // Loads bind where there are two terms and multiprocessors are full.
    const OperandCounts pairs{std::min(profile.most_terms, 2), std::min(profile.most_terms, 2), 1};
    profile.edge = std::max(1.0, column_s(pairs, profile.blocks_of_multiprocessor, profile.tile_n - kMissing) /
                                     column_s(pairs, profile.blocks_of_multiprocessor, profile.tile_n));
    const double block_flops = 2 * tile * static_cast<double>(deep) + profile.update_flops * tile;
    profile.alone = std::clamp(block_flops * device.multiprocessors / profile.flops_per_s / alone_s, 0.05, 1.0);
    profile.misaligned = std::max(1.0, time({1, 1, 1}, deep, true) / deep_s);
    const std::int64_t rows =
        std::max(1, device.multiprocessors * profile.blocks_of_multiprocessor / kProductsInTurn);  // of each of them
    const auto in_turn_s = [&](bool one_target) {
        return seconds({{1, 1, 1},
                        rows * profile.tile_m,
                        shallow,
                        profile.tile_n,
                        false,
                        FusedOrder::persistent,
                        kProductsInTurn,
                        one_target});
    };
    profile.turn_s = std::max(0.0, (in_turn_s(true) - in_turn_s(false)) / (kProductsInTurn - 1));
    return profile;
}

}  // namespace heptad
