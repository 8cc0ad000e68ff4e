#include "base/fused.hpp"

#include "base/names.hpp"

namespace heptad {
namespace {

constexpr Names<FusedTile, 7> kTiles{{"automatic", "small", "medium", "large", "tall", "wide", "huge"}};

}  // namespace

const char* fused_order_name(FusedOrder order) {
    static constexpr Names<FusedOrder, 5> names{{"serial", "two-streams", "atomic", "batched", "persistent"}};
    return names.of(order);
}

const char* fused_tile_name(FusedTile tile) {
    return kTiles.of(tile);
}

std::optional<FusedTile> fused_tile_of(std::string_view name) {
    return kTiles.find(name);
}

}  // namespace heptad
