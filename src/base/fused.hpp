// How the products of a fused level are launched, and in blocks of which shape: words that plans and backends share.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace heptad {

/// P2's ways of running the products of one level, and one more. Only `atomic` is not reproducible: its updates of a
/// block happen in any order.
enum class FusedOrder : std::uint8_t {
    serial,       // one launch after another
    two_streams,  // two launches at a time, with events between those that update the same block
    atomic,       // all at once, each element of a target updated by an atomic addition
    batched,      // one launch for each group of products without a common target
    persistent,   // one launch for all of them, which walks their tiles without write conflicts
};
inline constexpr FusedOrder fused_orders[] = {FusedOrder::serial, FusedOrder::two_streams, FusedOrder::atomic,
                                              FusedOrder::batched, FusedOrder::persistent};

/// The block of M that one thread block makes, by P2's names. A backend without a tile of that name takes its nearest.
enum class FusedTile : std::uint8_t { automatic, small, medium, large, tall, wide, huge };
inline constexpr FusedTile fused_tiles[] = {FusedTile::automatic, FusedTile::small, FusedTile::medium, FusedTile::large,
                                            FusedTile::tall,      FusedTile::wide,  FusedTile::huge};

/// More products, terms of both sides or targets than that are done in several launches. Two levels of Strassen are 49
/// products with 144 terms on either side and 144 targets.
inline constexpr int kMostFusedInstances = 64, kMostFusedTerms = 400, kMostFusedTargets = 160;
/// What a launch may add to the terms of a product, one on each side, so that each sum begins with the coefficient 1.
inline constexpr int kSpareFusedTerms = 2;

const char* fused_order_name(FusedOrder order);
const char* fused_tile_name(FusedTile tile);
std::optional<FusedTile> fused_tile_of(std::string_view name);

}  // namespace heptad
