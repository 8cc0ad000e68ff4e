#include "tune/device_tuning.hpp"

#include <algorithm>

#include "base/fail_if.hpp"
#include "base/size.hpp"
#include "tune/fused_fit.hpp"

namespace heptad {
namespace {

/// Blocks of the tuning memory, one after another.
class Blocks {
public:
    Blocks(Type type, const FusedTuning& tuning) : type_(type), tuning_(tuning) {}
    /// `misaligned`: rows one element apart from where they would begin.
    View take(std::int64_t rows, std::int64_t cols, bool misaligned) {
        const std::int64_t stride = round_up(cols, 16) + (misaligned ? 1 : 0);
        const std::int64_t bytes = round_up(rows * stride * static_cast<std::int64_t>(element_bytes(type_)), 256);
        fail_if(used_ + bytes > tuning_.memory_bytes, ErrorCode::resource,
                "tuning fused kernels needs more than the {} bytes of device memory set aside for it",
                tuning_.memory_bytes);
        const View view(tuning_.memory + used_, type_, rows, cols, stride, 1);
        used_ += bytes;
        return view;
    }

private:
    Type type_;
    const FusedTuning& tuning_;
    std::int64_t used_ = 0;
};

/// In any order, additions find what is there: clearing it is a pass of its own.
std::vector<FusedProduct> products_of(const FusedTrial& trial, Blocks& blocks) {
    std::vector<FusedProduct> products;
    for (int p = 0; p < trial.products; ++p) {
        FusedProduct product{trial.m, trial.k, trial.n, {}, {}, {}};
        for (int i = 0; i < trial.counts.a; ++i) {
            product.left.push_back({blocks.take(trial.m, trial.k, trial.misaligned), i == 0 ? 1.0 : -1.0});
        }
        for (int i = 0; i < trial.counts.b; ++i) {
            product.right.push_back({blocks.take(trial.k, trial.n, trial.misaligned), 1});
        }
        for (int i = 0; i < trial.counts.c; ++i) {
            const bool stores = i == 0 && p == 0 && trial.order != FusedOrder::atomic;
            const View target = trial.one_target && p > 0 ? products[0].targets[static_cast<std::size_t>(i)].block
                                                          : blocks.take(trial.m, trial.n, trial.misaligned);
            product.targets.push_back({target, 1, stores ? 0.0 : 1.0});
        }
        products.push_back(std::move(product));
    }
    return products;
}

int most_accepted(const std::function<bool(int)>& accepts) {
    constexpr int kMost = 16;
    int most = 1;
    while (most < kMost && accepts(most + 1)) {
        ++most;
    }
    return most;
}

}  // namespace

double fused_launch_seconds(Type type, const FusedTuning& tuning) {
    constexpr int kProducts = 8;
    constexpr std::int64_t kSide = 16;
    Blocks blocks(type, tuning);
    FusedTrial trial{{1, 1, 1}, kSide, kSide, kSide};
    trial.products = kProducts;
    const std::vector<FusedProduct> products = products_of(trial, blocks);
    return tuning.seconds_of([&] {
        tuning.backend.multiply_fused(products, FusedOrder::serial, FusedTile::automatic);
    }) / kProducts;
}

std::vector<FusedProfile> tune_fused(Type type, const FusedDevice& device, const FusedTuning& tuning) {
    std::vector<FusedProfile> profiles;
    for (const FusedTileShape& shape : tuning.backend.fused_tile_shapes(type)) {
        FusedProfile profile{.type = type,
                             .tile = shape.tile,
                             .tile_m = shape.rows,
                             .tile_n = shape.cols,
                             .blocks_of_multiprocessor = shape.blocks_of_multiprocessor};
        profile.most_terms = most_accepted([&](int terms) { return tuning.backend.fuses(type, terms, terms, 1); });
        profile.most_targets = most_accepted([&](int targets) { return tuning.backend.fuses(type, 1, 1, targets); });
        const auto seconds = [&, tile = shape.tile](const FusedTrial& trial) {
            Blocks blocks(type, tuning);
            const std::vector<FusedProduct> products = products_of(trial, blocks);
            return tuning.seconds_of([&] { tuning.backend.multiply_fused(products, trial.order, tile); });
        };
        if (shape.regular_blocks_of_multiprocessor == 0) {
            profiles.push_back(fit_fused_profile(profile, device, seconds));
        } else {
            // With a k that is no multiple of 8 few terms go through the kernel of many, too.
            profiles.push_back(fit_fused_profile(profile, device, seconds, 4));
            profile.blocks_of_multiprocessor = shape.regular_blocks_of_multiprocessor;
            profile.most_terms = std::min(profile.most_terms, 2);
            profile.regular = true;
            profiles.push_back(fit_fused_profile(profile, device, seconds));
        }
    }
    return profiles;
}

}  // namespace heptad
