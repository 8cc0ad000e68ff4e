#include "kernels/cuda/fused/fused_split.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <span>

namespace heptad::cuda {
namespace {

/// In slabs: what a multiprocessor could multiply while it updates the targets of a tile, and while it waits for one
/// that updates the same tile before (an H200, tiles of 128 x 256).
constexpr double kUpdate = 12, kTurn = 10;
constexpr int kFewestSlabs = 8;

int best_pieces(std::int64_t tiles, std::int64_t at_once, int slabs) {
    constexpr int kMostPieces = 16;
    int best = 1;
    double least = slabs + kUpdate;
    for (int pieces = 2; pieces <= kMostPieces && slabs / pieces >= kFewestSlabs; ++pieces) {
        const std::int64_t rounds = (tiles * pieces + at_once - 1) / at_once;
        const double time =
            static_cast<double>(rounds) * (static_cast<double>(slabs) / pieces + kUpdate) + (pieces - 1) * kTurn;
        if (time < least) {
            best = pieces;
            least = time;
        }
    }
    return best;
}

template <class T>
bool has_addends(const FusedArguments<T>& args) {
    for (const FusedInstanceArgument& instance :
         std::span(args.instances, static_cast<std::size_t>(args.instance_count))) {
        for (int t = 0; t < instance.target_count; ++t) {
            if (args.targets[instance.target_begin + t].addend_coefficient != T{0}) {
                return true;
            }
        }
    }
    return false;
}

}  // namespace

template <class T>
void keep_tiles_whole(FusedArguments<T>& args) {
    args.whole_tiles = args.instance_count * args.tiles_down * args.tiles_across;
    args.pieces = 1;
    args.ranges = 0;
    for (FusedTargetArgument<T>& target : args.targets) {
        target.whole_turns[0] = target.whole_turns[1] = 0;
    }
}

template <class T>
void split_last_tiles(FusedArguments<T>& args, std::int64_t at_once, int slabs) {
    keep_tiles_whole(args);
    if (has_addends(args)) {
        return;  // an addend is added once, and only when an earlier target of the product is complete
    }
    const std::span instances(args.instances, static_cast<std::size_t>(args.instance_count));
    const std::int64_t tiles = args.whole_tiles, rest = tiles % at_once;
    const int pieces = best_pieces(rest, at_once, slabs);
    if (rest == 0 || pieces == 1) {
        return;
    }
    args.whole_tiles = static_cast<std::int32_t>(tiles - rest);
    args.pieces = pieces;
    // Some tiles of one product are whole and the others in pieces; before it all are whole, after it none.
    const int mixed = args.whole_tiles / (args.tiles_down * args.tiles_across);
    std::map<std::int32_t, std::int32_t> before[2];  // updates of a block by products before it, and with it
    for (int i = 0; i <= mixed; ++i) {
        for (int t = 0; t < args.instances[i].target_count; ++t) {
            const std::int32_t block = args.targets[args.instances[i].target_begin + t].block;
            before[0][block] += i < mixed ? 1 : 0;
            ++before[1][block];
        }
    }
    for (const FusedInstanceArgument& instance : instances) {
        for (int t = 0; t < instance.target_count; ++t) {
            FusedTargetArgument<T>& target = args.targets[instance.target_begin + t];
            target.whole_turns[0] = before[0][target.block];
            target.whole_turns[1] = before[1][target.block];
        }
    }
}

template <class T>
void share_last_tiles(FusedArguments<T>& args, int multiprocessors, int slabs) {
    keep_tiles_whole(args);
    const std::int64_t tiles = args.whole_tiles;
    // Where there are few rounds, all are shared: then blocks do not update their targets all at once.
    constexpr std::int64_t kFewRounds = 8;
    const std::int64_t shared = tiles <= kFewRounds * multiprocessors ? tiles : tiles % multiprocessors;
    const std::int64_t all = shared * slabs;
    const std::int64_t ranges = std::min<std::int64_t>(multiprocessors, all / kFewestSlabs);
    if (tiles % multiprocessors == 0 || has_addends(args) || ranges < 2 ||
        all > std::numeric_limits<std::int32_t>::max()) {
        return;
    }
    // A range begins and ends within tiles, most often, so that it has one update more than it makes tiles.
    const std::int64_t rounds = (shared + multiprocessors - 1) / multiprocessors;
    const double whole_s = static_cast<double>(rounds) * (slabs + kUpdate);
    const double shared_s = static_cast<double>(all) / static_cast<double>(ranges) +
                            kUpdate * (static_cast<double>(shared) / static_cast<double>(ranges) + 1);
    if (shared_s < whole_s) {
        args.whole_tiles -= static_cast<std::int32_t>(shared);
        args.ranges = static_cast<std::int32_t>(ranges);
    }
}

template void keep_tiles_whole(FusedArguments<float>&);
template void keep_tiles_whole(FusedArguments<double>&);
template void split_last_tiles(FusedArguments<float>&, std::int64_t, int);
template void split_last_tiles(FusedArguments<double>&, std::int64_t, int);
template void share_last_tiles(FusedArguments<float>&, int, int);
template void share_last_tiles(FusedArguments<double>&, int, int);

}  // namespace heptad::cuda
