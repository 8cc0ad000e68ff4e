// Products with sums inside, on a device: what CudaBackend::multiply_fused hands on.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "kernels/backend.hpp"
#include "kernels/cuda/device/cuda_kernels.hpp"

namespace heptad::cuda {

/// Kernels count in 32 bits, up to a tile beyond the end.
inline constexpr std::int64_t kMostFusedSide = std::numeric_limits<std::int32_t>::max() - 512;

/// Whether the current device has a kernel for that type, and products of so many terms and targets fit into one
/// launch.
bool fused_available(Type type, int left_terms, int right_terms, int targets);

/// Whether the kernel of that type and tile needs no more shared memory for a block than that. Asks no device.
bool fused_tile_fits(Type type, FusedTile tile, int shared_bytes);

/// The tiles of a type that a caller may choose from, on the current device.
std::vector<FusedTileShape> fused_shapes(Type type);

/// Memory of the device that nothing else uses in the order of the stream.
struct FusedScratch {
    void* data = nullptr;
    std::int64_t bytes = 0;
};

/// Who judges the sums: `guard`, which has watched A and B (and says whether to run if they are safe or if they are
/// not); or, where `fresh` is not null, whoever looks at the result. Then these are its words, which nobody has cleared
/// or asked yet.
struct FusedGuard {
    Guard guard;
    GuardWords* fresh = nullptr;
};

/// Enqueues the products; the preconditions are those of Backend::multiply_fused. FusedOrder::persistent and atomic
/// count in `scratch` (4 bytes per tile of C, and 4), or, where that is too small, in memory from the device's pool.
/// FusedOrder::two_streams also needs a stream that nobody else uses meanwhile. Throws Error(usage) for products of
/// 2^31 rows, columns or more. Fresh words are cleared; true if the kernels note in them whatever could make the result
/// infinite or NaN, so that nobody has to look at that any more.
bool launch_fused(StreamHandle stream, StreamHandle second, Type type, std::span<const FusedProduct> products,
                  FusedOrder order, FusedTile tile, const FusedGuard& guard, const FusedScratch& scratch);

}  // namespace heptad::cuda
