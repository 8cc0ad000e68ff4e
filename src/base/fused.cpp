#include "base/fused.hpp"

namespace heptad {

const char* fused_order_name(FusedOrder order) {
    switch (order) {
        case FusedOrder::serial:
            return "serial";
        case FusedOrder::two_streams:
            return "two-streams";
        case FusedOrder::atomic:
            return "atomic";
        case FusedOrder::batched:
            return "batched";
        case FusedOrder::persistent:
            return "persistent";
    }
    return "";
}

const char* fused_tile_name(FusedTile tile) {
    switch (tile) {
        case FusedTile::automatic:
            return "automatic";
        case FusedTile::small:
            return "small";
        case FusedTile::medium:
            return "medium";
        case FusedTile::large:
            return "large";
        case FusedTile::tall:
            return "tall";
        case FusedTile::wide:
            return "wide";
        case FusedTile::huge:
            return "huge";
    }
    return "";
}

std::optional<FusedOrder> fused_order_of(std::string_view name) {
    for (const FusedOrder order : fused_orders) {
        if (name == fused_order_name(order)) {
            return order;
        }
    }
    return std::nullopt;
}

std::optional<FusedTile> fused_tile_of(std::string_view name) {
    for (const FusedTile tile : fused_tiles) {
        if (name == fused_tile_name(tile)) {
            return tile;
        }
    }
    return std::nullopt;
}

}  // namespace heptad
