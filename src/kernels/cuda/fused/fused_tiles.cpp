#include "kernels/cuda/fused/fused_tiles.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <list>
#include <vector>

#include "base/shared_state.hpp"
#include "kernels/cuda/device/status.hpp"
#include "kernels/cuda/fused/fused_arguments.hpp"
#include "kernels/cuda/fused/fused_build.hpp"
#include "kernels/cuda/fused/fused_f32.hpp"
#include "kernels/cuda/fused/fused_product.hpp"

namespace heptad::cuda {
namespace {

int chosen_device() {
    int device = 0;
    check(cudaGetDevice(&device), "tell the current device");
    return device;
}

struct TileChoice {
    FusedTile tile;
    FusedKernel kernel;
    /// Of the rate of the best one when all multiprocessors are busy, measured on an H200.
    double efficiency;
};

/// From the smallest to the largest tile; none for a type without kernels. No products: those for any.
std::vector<TileChoice> choices(Type type, std::span<const FusedProduct> products = {},
                                FusedOrder order = FusedOrder::persistent) {
    if (type == Type::f64) {
        return {{FusedTile::large, fused_kernel_f64(products), 1.0}};
    }
    if (type != Type::f32) {
        return {};
    }
    std::vector<TileChoice> all{{FusedTile::small, fused_kernel_f32_small(), 0.48},
                                {FusedTile::tall, fused_kernel_f32_tall(), 0.51},
                                {FusedTile::large, fused_kernel_f32_large(), 0.84},
                                {FusedTile::huge, fused_kernel_f32_huge(), 0.64}};
    if (const auto layout = regular_layout(products)) {
        all[2] = {FusedTile::large, fused_kernel_f32_regular_large(*layout), 0.97};
        all[3] = {FusedTile::huge,
                  order == FusedOrder::atomic ? fused_kernel_f32_regular_huge_atomic(*layout)
                                              : fused_kernel_f32_regular_huge(*layout),
                  1.0};
    }
    return all;
}

/// A measure of time: rounds of tiles on the multiprocessor with the most of them, and what storing a tile takes, as if
/// k were longer.
double expected_time(const TileChoice& choice, std::span<const FusedProduct> products, FusedOrder order) {
    constexpr double kStoreDepth = 64;
    const auto rounded = [](double count, double of) { return std::max(1.0, std::ceil(count / of)); };
    const FusedProduct& one = products[0];
    const double tiles = rounded(static_cast<double>(one.m), choice.kernel.tile_rows) *
                         rounded(static_cast<double>(one.n), choice.kernel.tile_cols);
    const bool together = order == FusedOrder::persistent || order == FusedOrder::atomic;
    const auto count = static_cast<double>(products.size());
    const double rounds =
        together ? rounded(tiles * count, multiprocessors()) : count * rounded(tiles, multiprocessors());
    return rounds * choice.kernel.tile_rows * choice.kernel.tile_cols * (static_cast<double>(one.k) + kStoreDepth) /
           choice.efficiency;
}

}  // namespace

int multiprocessors() {
    int count = 0;
    check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, chosen_device()), "count multiprocessors");
    return count;
}

int blocks_of_multiprocessor(const FusedKernel& kernel) {
    struct Known {
        int device;
        const void* function;
        int blocks;
    };
    static constinit Guarded<std::list<Known>> all;
    const int device = chosen_device();
    const auto known = all.lock();
    for (const Known& one : *known) {
        if (one.device == device && one.function == kernel.function) {
            return one.blocks;
        }
    }
    int most_bytes = 0, blocks = 0;
    check(cudaDeviceGetAttribute(&most_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
          "tell its shared memory");
    if (kernel.shared_bytes <= most_bytes) {
        check(cudaFuncSetAttribute(kernel.function, cudaFuncAttributeMaxDynamicSharedMemorySize, kernel.shared_bytes),
              "give a kernel its shared memory");
        check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel.function, kernel.threads,
                                                            static_cast<std::size_t>(kernel.shared_bytes)),
              "tell how many blocks of a kernel run at once");
    }
    known->push_back({device, kernel.function, blocks});
    return blocks;
}

bool fused_available(Type type, int left_terms, int right_terms, int targets) {
    const std::vector<TileChoice> all = choices(type);
    const bool fits = std::any_of(all.begin(), all.end(),
                                  [](const TileChoice& choice) { return blocks_of_multiprocessor(choice.kernel) > 0; });
    return fits && left_terms >= 1 && right_terms >= 1 && targets >= 1 &&
           left_terms + right_terms + kSpareFusedTerms <= kMostFusedTerms && targets <= kMostFusedTargets;
}

bool fused_tile_fits(Type type, FusedTile tile, int shared_bytes) {
    const std::vector<TileChoice> all = choices(type);
    return std::any_of(all.begin(), all.end(), [&](const TileChoice& choice) {
        return choice.tile == tile && choice.kernel.shared_bytes <= shared_bytes;
    });
}

std::vector<FusedTileShape> fused_shapes(Type type) {
    const auto regular_blocks = [&](FusedTile tile) {
        constexpr RegularLayout by_rows{true, false};
        if (type != Type::f32 || (tile != FusedTile::large && tile != FusedTile::huge)) {
            return 0;
        }
        return blocks_of_multiprocessor(tile == FusedTile::large ? fused_kernel_f32_regular_large(by_rows)
                                                                 : fused_kernel_f32_regular_huge(by_rows));
    };
    std::vector<FusedTileShape> shapes;
    for (const TileChoice& choice : choices(type)) {
        if (const int blocks = blocks_of_multiprocessor(choice.kernel); blocks > 0) {
            shapes.push_back(
                {choice.tile, choice.kernel.tile_rows, choice.kernel.tile_cols, blocks, regular_blocks(choice.tile)});
        }
    }
    return shapes;
}

FusedKernel fused_kernel(Type type, FusedTile tile, std::span<const FusedProduct> products, FusedOrder order) {
    std::vector<TileChoice> possible = choices(type, products, order);
    if (possible.empty()) {
        fail(ErrorCode::usage, "products of {} with sums inside do not run on cuda; use a plan without fused levels",
             type_name(type));
    }
    std::erase_if(possible, [](const TileChoice& choice) { return blocks_of_multiprocessor(choice.kernel) == 0; });
    if (possible.empty()) {
        fail(ErrorCode::resource,
             "this device has too little shared memory for products with sums inside; use a plan without fused levels");
    }
    if (tile == FusedTile::automatic) {
        return std::min_element(possible.begin(), possible.end(),
                                [&](const TileChoice& one, const TileChoice& other) {
                                    return expected_time(one, products, order) < expected_time(other, products, order);
                                })
            ->kernel;
    }
    if (tile == FusedTile::medium || tile == FusedTile::wide) {
        tile = FusedTile::tall;  // as large as that
    }
    const auto same =
        std::find_if(possible.begin(), possible.end(), [&](const TileChoice& choice) { return choice.tile == tile; });
    return same != possible.end() ? same->kernel : possible.back().kernel;
}

}  // namespace heptad::cuda
