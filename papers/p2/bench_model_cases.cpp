#include "papers/p2/bench_model_cases.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "algorithm/catalogue.hpp"
#include "plan/predict/fused_prediction.hpp"

namespace heptad::cli {
namespace {

constexpr std::int64_t kSmallestBlock = 256;

bool leaves_large_blocks(const ProblemSize& size, const std::vector<LevelPlan>& levels) {
    std::int64_t m = size.m, k = size.k, n = size.n;
    for (const LevelPlan& level : levels) {
        const Algorithm& algorithm = find_algorithm(level.algorithm).algorithm;
        m /= algorithm.m;
        k /= algorithm.k;
        n /= algorithm.n;
    }
    return std::min({m, k, n}) >= kSmallestBlock;
}

}  // namespace

std::vector<ProblemSize> model_shapes() {
    std::vector<ProblemSize> shapes;
    for (const std::int64_t n : {1024, 1536, 2048, 2560, 3072, 4096, 6144, 8192, 12288, 16384}) {
        shapes.push_back({n, n, n});
    }
    for (const std::int64_t k : {1024, 2048, 4096, 8192}) {
        shapes.push_back({16384, k, 16384});
    }
    shapes.push_back({4096, 16384, 4096});
    return shapes;
}

std::vector<ModelVariant> model_variants(const ProblemSize& size, Type type, const Machine& machine, bool all_tiles) {
    std::vector<ModelVariant> variants;
    const auto add = [&](const std::string& name, const std::vector<LevelPlan>& levels) {
        const bool fuses = !levels.empty() && levels.back().mode == LevelMode::fused;
        if (leaves_large_blocks(size, levels) &&
            (!fuses || can_fuse(machine, type, fused_instances(levels.back().algorithm).most))) {
            variants.push_back({name, levels});
        }
    };
    const auto fused = [](const char* algorithm, FusedOrder order, FusedTile tile = FusedTile::automatic) {
        return LevelPlan{algorithm, LevelMode::fused, "", order, tile};
    };
    const LevelPlan winograd{"winograd", LevelMode::parallel, ""};
    const LevelPlan two_at_once{"winograd*winograd", LevelMode::parallel, ""};
    add("cublas", {});
    for (const FusedOrder order : fused_orders) {
        add(fmt::format("fused-1 {}", kFusedOrders.of(order)), {fused("strassen", order)});
    }
    for (const FusedProfile& profile : machine.fused) {
        if (all_tiles && profile.type == type) {
            add(fmt::format("fused-1 persistent {}", kFusedTiles.of(profile.tile)),
                {fused("strassen", FusedOrder::persistent, profile.tile)});
        }
    }
    add("fused-2x2x3 persistent", {fused("2x2x3-11", FusedOrder::persistent)});
    add("fused-2 direct", {fused("strassen*strassen", FusedOrder::persistent)});
    add("hybrid-2 persistent", {winograd, fused("strassen", FusedOrder::persistent)});
    add("hybrid-2 batched", {winograd, fused("strassen", FusedOrder::batched)});
    add("hybrid-3 persistent", {two_at_once, fused("strassen", FusedOrder::persistent)});
    add("parallel-1", {winograd});
    add("parallel-2", {two_at_once});
    add("parallel-3", {winograd, two_at_once});
    return variants;
}

}  // namespace heptad::cli
