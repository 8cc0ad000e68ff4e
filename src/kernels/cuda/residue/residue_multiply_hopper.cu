// Products of bytes on Hopper, one for each modulus; their sums are taken modulo it in registers, so that a byte for
// each entry is all that reaches memory.
#include <algorithm>

#include "kernels/cuda/device/hopper_launch.cuh"
#include "kernels/cuda/residue/residue_choice.cuh"
#include "kernels/cuda/residue/residue_products.cuh"

namespace heptad::cuda {
namespace {

struct ResidueLeaf {
    struct Arguments {
        BytePlanes c;
        ResidueChoice choice;
        TileOrder order;  // of clusters, in one plane
        int narrow_cols;  // of a block of those that make the last columns; 0: none are left
        int steps;
        int products;  // of each modulus
        ByteModulus moduli[kMostModuli];
    };
    static constexpr bool stores_row_blocks = true, has_narrow_tiles = true;
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    static __device__ __forceinline__ std::int64_t tile_count(const Arguments& args) {
        return moduli_taken(args.choice) * args.products * args.order.tiles;
    }
    static __device__ __forceinline__ TilePlace tile_to_make(const Arguments& args, std::int64_t index) {
        return tile_at(args.order, index);
    }
    static __device__ __forceinline__ int narrow_cols(const Arguments& args) {
        return args.narrow_cols;
    }
    static __device__ __forceinline__ std::int64_t narrow_count(const Arguments& args) {
        return args.narrow_cols == 0 ? 0 : moduli_taken(args.choice) * args.products * args.order.tile_rows;
    }
    static __device__ __forceinline__ TilePlace narrow_tile(const Arguments& args, std::int64_t index) {
        const std::int64_t plane = index / args.order.tile_rows;
        return {plane, index - plane * args.order.tile_rows, args.order.tile_cols};
    }
    template <int Count>
    static __device__ __forceinline__ void multiply(int (&d)[Count], std::uint64_t a, std::uint64_t b, int adds) {
        multiply_bytes(d, a, b, adds);
    }
    template <int Count>
    static __device__ __forceinline__ void store(const Arguments& args, std::int64_t plane, std::int64_t row,
                                                 std::int64_t col, const int (&d)[Count]) {
        store_remainders(args.c, args.moduli[plane / args.products], plane, row, col, d);
    }
#endif
};

ByteBlocks byte_blocks(const BytePlanes& planes, int count) {
    return {planes.data, planes.line_bytes, planes.lines, count, planes.line_bytes, planes.plane_bytes};
}

template <class Shape>
DeviceStatus start(const ResidueMultiply& launch, EncodeTiled encode, cudaStream_t stream) {
    int device = 0, clusters = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess) {
        status = resident_clusters<ResidueLeaf, Shape>(device, clusters);
    }
    const int products = launch.a.products(), planes = launch.choice.most * products;
    CUtensorMap map_a, map_b;
    if (status == cudaSuccess) {
        status = describe(encode, byte_blocks(launch.a, planes), Shape::fetched_rows, map_a);
    }
    if (status == cudaSuccess) {
        status = describe(encode, byte_blocks(launch.b, planes), Shape::fetched_cols, map_b);
    }
    if (status != cudaSuccess) {
        return status;
    }
    ResidueLeaf::Arguments args{};
    args.c = launch.c;
    args.choice = launch.choice;
    args.products = products;
    args.order.tile_rows = (launch.a.lines + Shape::cluster_rows - 1) / Shape::cluster_rows;
    // What is left of the columns is made by blocks of 64 or 128, where that is enough: at n = 2048 a ninth of the
    // work.
    args.order.tile_cols = launch.b.lines / Shape::cluster_cols;
    const std::int64_t rest = launch.b.lines % Shape::cluster_cols;
    args.narrow_cols = rest == 0 ? 0 : rest <= 64 * Shape::across ? 64 : rest <= 128 * Shape::across ? 128 : 0;
    if (rest != 0 && args.narrow_cols == 0) {
        ++args.order.tile_cols;
    }
    args.order.tiles = args.order.tile_rows * args.order.tile_cols;
    args.order.raster = kRasterRows / Shape::cluster_rows;
    args.steps = static_cast<int>((launch.a.line_bytes + kStepBytes - 1) / kStepBytes);
    constexpr auto kAll = byte_moduli();
    std::copy(kAll.begin(), kAll.end(), args.moduli);
    const std::int64_t most = planes * (args.order.tiles + (args.narrow_cols == 0 ? 0 : args.order.tile_rows));
    const LaunchShape<Shape> shape(std::min<std::int64_t>(clusters, most), stream);
    return cudaLaunchKernelEx(&shape.config, multiply_tiles<ResidueLeaf, Shape>, map_a, map_b, args);
}

}  // namespace

DeviceStatus find_residue_multiply_hopper(bool& compiled) {
    return is_compiled_for_hopper<ResidueLeaf>(compiled);
}

DeviceStatus launch_residue_multiply_hopper(const ResidueMultiply& launch, StreamHandle stream) {
    static const EncodeTiled encode = find_encoder();
    if (encode == nullptr) {
        return cudaErrorSymbolNotFound;
    }
    // Squares of tiles leave four of an H200's multiprocessors idle and fetch less: 0.94 to 1.01 times as fast at n =
    // 4096 and 8192, 1.06 at 16384, where power is the limit.
    constexpr std::int64_t kPowerIsTheLimit = std::int64_t{12288} * 12288 * 12288;
    const std::int64_t volume =
        launch.a.lines * launch.b.lines * launch.a.line_bytes * (launch.a.products() / launch.a.parts);
    auto* const queue = static_cast<cudaStream_t>(stream);
    return volume >= kPowerIsTheLimit ? start<SquareOfTiles>(launch, encode, queue)
                                      : start<PairOfTiles>(launch, encode, queue);
}

}  // namespace heptad::cuda
