// C = A * B' of bits on Hopper: counts of common ones by warpgroup products of the binary tensor cores
// (m64n256k256, AND and POPC), packed to bits in registers, so that no count reaches memory unless counts are asked
// for.
//
// A block makes 128 x 256 of C: one thread keeps a ring of shared memory filled by the copy engine, two warpgroups
// multiply 64 rows each. Up to four blocks, one above the other, form a cluster: each fetches a quarter of their common
// part of B for all, because what the L2 cache can deliver is the limit. Blocks stay and take one tile after another.
#include <cuda.h>

#include <algorithm>
#include <atomic>

#include "backend/cuda/bit_leaf_pack.cuh"
#include "backend/cuda/hopper_instructions.cuh"

namespace heptad::cuda {
namespace {

constexpr int kConsumers = 2;
constexpr int kTileRows = 64 * kConsumers, kTileCols = 256;
constexpr int kStepBytes = 128;  // of k, per stage: the width of the swizzle
constexpr int kStages = 4;
/// Blocks of a cluster, at most, and rows of tiles that are gone through column by column.
constexpr int kMostSharing = 2, kRasterRows = 16;
constexpr int kGroupThreads = 128;
constexpr int kThreads = kGroupThreads * (1 + kConsumers);
constexpr int kStageBytesA = kTileRows * kStepBytes, kStageBytesB = kTileCols * kStepBytes;
constexpr int kStageBytes = kStageBytesA + kStageBytesB;
/// The swizzle needs stages on 1024-byte boundaries.
constexpr int kSharedBytes = kStages * kStageBytes + 1024;

struct Arguments {
    LeafResult c;
    std::int64_t tiles;                 // of a cluster, in all products
    std::int64_t tile_rows, tile_cols;  // of a cluster, in one product
    std::int64_t raster;                // rows of tiles that are gone through column by column
    int steps;                          // of k
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

struct Tile {
    std::int64_t block, row, col;  // of the cluster, in its tiles
};

/// Neighbours in time are neighbours in C, so that what they read is in the L2 cache.
__device__ __forceinline__ Tile tile_at(const Arguments& args, std::int64_t index) {
    const std::int64_t per_block = args.tile_rows * args.tile_cols;
    const std::int64_t block = index / per_block, within = index - block * per_block;
    const std::int64_t band = within / (args.raster * args.tile_cols), first = band * args.raster;
    const std::int64_t rows = min(args.raster, args.tile_rows - first);
    const std::int64_t in_band = within - first * args.tile_cols;
    return {block, first + in_band % rows, in_band / rows};
}

/// The places of a ring and how often it went round.
struct Ring {
    int stage = 0;
    std::uint32_t phase = 0;
    __device__ __forceinline__ void advance() {
        if (++stage == kStages) {
            stage = 0;
            phase ^= 1;
        }
    }
};

template <BitOperation operation, int cluster>
__device__ __forceinline__ void run(const CUtensorMap& map_a, const CUtensorMap& map_b, const Arguments& args) {
    extern __shared__ unsigned char shared_bytes[];
    __shared__ std::uint64_t barriers[2 * kStages];
    const std::uint32_t ring_start = (shared_address(shared_bytes) + 1023U) & ~1023U;
    const auto full = [&](int stage) { return shared_address(&barriers[stage]); };
    const auto empty = [&](int stage) { return shared_address(&barriers[kStages + stage]); };
    const std::uint32_t rank = cluster > 1 ? cluster_rank() : 0;
    const int group = static_cast<int>(threadIdx.x) / kGroupThreads;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < kStages; ++stage) {
            barrier_init(full(stage), 1);
            barrier_init(empty(stage), cluster * kConsumers * kGroupThreads / 32);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    if constexpr (cluster > 1) {
        cluster_sync();
    } else {
        __syncthreads();
    }
    const std::int64_t first = blockIdx.x / cluster, stride = gridDim.x / cluster;
    Ring ring;
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 0) {
            for (std::int64_t index = first; index < args.tiles; index += stride) {
                const Tile tile = tile_at(args, index);
                const int row = static_cast<int>((tile.row * cluster + rank) * kTileRows);
                const int col = static_cast<int>(tile.col * kTileCols + rank * (kTileCols / cluster));
                const int block = static_cast<int>(tile.block);
                for (int step = 0; step < args.steps; ++step, ring.advance()) {
                    barrier_wait(empty(ring.stage), ring.phase ^ 1);
                    barrier_expect(full(ring.stage), kStageBytes);
                    const std::uint32_t to = ring_start + static_cast<std::uint32_t>(ring.stage * kStageBytes);
                    fetch(map_a, full(ring.stage), to, step * kStepBytes, row, block);
                    const std::uint32_t to_b = to + kStageBytesA + rank * (kStageBytesB / cluster);
                    if constexpr (cluster > 1) {
                        fetch(map_b, full(ring.stage), to_b, step * kStepBytes, col, block,
                              static_cast<std::uint16_t>((1U << cluster) - 1));
                    } else {
                        fetch(map_b, full(ring.stage), to_b, step * kStepBytes, col, block);
                    }
                }
            }
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        const int consumer = group - 1;
        const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) % kGroupThreads / 32;
        const auto release = [&](int stage) {
            if (lane < cluster) {
                barrier_arrive(empty(stage), static_cast<std::uint32_t>(lane));
            }
        };
        int d[128];
        for (std::int64_t index = first; index < args.tiles; index += stride) {
            const Tile tile = tile_at(args, index);
            int before = 0;
            for (int step = 0; step < args.steps; ++step) {
                barrier_wait(full(ring.stage), ring.phase);
                const std::uint32_t at = ring_start + static_cast<std::uint32_t>(ring.stage * kStageBytes);
                const std::uint64_t a = matrix_descriptor(at + static_cast<std::uint32_t>(consumer * 64 * kStepBytes));
                const std::uint64_t b = matrix_descriptor(at + kStageBytesA);
                products_begin();
#pragma unroll
                for (int part = 0; part < kStepBytes / 32; ++part) {
                    product(d, a + static_cast<std::uint64_t>(part * 2), b + static_cast<std::uint64_t>(part * 2),
                            step + part);
                }
                products_commit();
                if (step > 0) {
                    products_wait<1>();
                    release(before);
                }
                before = ring.stage;
                ring.advance();
            }
            products_wait<0>();
            release(before);
            const std::int64_t row = (tile.row * cluster + rank) * kTileRows + consumer * 64 + warp * 16;
            const std::int64_t col = tile.col * kTileCols;
            if constexpr (operation == BitOperation::count) {
                store_counts<kTileCols / 8>(args.c, tile.block, row, col, d);
            } else {
                const uint4 bits = pack_16x256<operation>(d);
                const int q = lane % 4;
                store_bits<operation>(args.c, tile.block, row + lane / 4 + 8 * (q % 2), col + 128 * (q / 2), bits);
            }
        }
    }
    if constexpr (cluster > 1) {
        cluster_sync();  // nobody may leave while another one can still signal to it
    }
}

#else

template <BitOperation operation, int cluster>
__device__ __forceinline__ void run(const CUtensorMap&, const CUtensorMap&, const Arguments&) {
    __trap();  // the host asks for this kernel on chips of compute capability 9.0 only
}

#endif

template <BitOperation operation, int cluster>
__global__ void __cluster_dims__(cluster, 1, 1) __launch_bounds__(kThreads, 1)
    multiply(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
             const __grid_constant__ Arguments args) {
    run<operation, cluster>(map_a, map_b, args);
}

using EncodeTiled = decltype(&cuTensorMapEncodeTiled);

/// The driver's function that describes a matrix to the copy engine; null where the driver is too old.
EncodeTiled find_encoder() {
    void* function = nullptr;
    auto found = cudaDriverEntryPointSymbolNotFound;
    const cudaError_t status =
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
    return status == cudaSuccess && found == cudaDriverEntryPointSuccess ? reinterpret_cast<EncodeTiled>(function)
                                                                         : nullptr;
}

/// Boxes of 128 bytes by `box_rows` rows; what lies outside of the matrix is fetched as zeros.
cudaError_t describe(EncodeTiled encode, const BitBlocks& blocks, std::int64_t rows, std::int64_t cols,
                     std::int64_t batch, int box_rows, CUtensorMap& map) {
    const auto row_bytes = static_cast<cuuint64_t>(8 * blocks.row_words);
    const auto block_bytes =
        batch > 1 ? static_cast<cuuint64_t>(8 * blocks.block_words) : row_bytes * static_cast<cuuint64_t>(rows);
    const cuuint64_t size[3] = {static_cast<cuuint64_t>((cols + 63) / 64 * 8), static_cast<cuuint64_t>(rows),
                                static_cast<cuuint64_t>(batch)};
    const cuuint64_t strides[2] = {row_bytes, block_bytes};
    const cuuint32_t box[3] = {kStepBytes, static_cast<cuuint32_t>(box_rows), 1};
    const cuuint32_t steps[3] = {1, 1, 1};
    const CUresult status = encode(&map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 3, const_cast<std::uint64_t*>(blocks.data),
                                   size, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                   CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return status == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

/// How many clusters of a kernel a device can run at a time; asked once.
template <BitOperation operation, int cluster>
cudaError_t resident_clusters(int device, int& count) {
    constexpr int kMostDevices = 64;
    static std::atomic<int> known[kMostDevices];
    if (device < kMostDevices && (count = known[device].load()) > 0) {
        return cudaSuccess;
    }
    if (const cudaError_t status = cudaFuncSetAttribute(multiply<operation, cluster>,
                                                        cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
        status != cudaSuccess) {
        return status;
    }
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(cluster);
    config.blockDim = dim3(kThreads);
    config.dynamicSmemBytes = kSharedBytes;
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {cluster, 1, 1};
    config.attrs = &attribute;
    config.numAttrs = 1;
    const cudaError_t status = cudaOccupancyMaxActiveClusters(&count, multiply<operation, cluster>, &config);
    if (status == cudaSuccess && device < kMostDevices) {
        known[device].store(count);
    }
    return status == cudaSuccess && count <= 0 ? cudaErrorInvalidConfiguration : status;
}

template <BitOperation operation, int cluster>
DeviceStatus start(const BitLeafLaunch& launch, EncodeTiled encode, cudaStream_t stream) {
    int device = 0, clusters = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess) {
        status = resident_clusters<operation, cluster>(device, clusters);
    }
    CUtensorMap map_a, map_b;
    if (status == cudaSuccess) {
        status = describe(encode, launch.a, launch.m, launch.k, launch.batch, kTileRows, map_a);
    }
    if (status == cudaSuccess) {
        status = describe(encode, launch.b, launch.n, launch.k, launch.batch, kTileCols / cluster, map_b);
    }
    if (status != cudaSuccess) {
        return status;
    }
    Arguments args{};
    args.c = leaf_result(launch);
    args.tile_rows = (launch.m + cluster * kTileRows - 1) / (cluster * kTileRows);
    args.tile_cols = (launch.n + kTileCols - 1) / kTileCols;
    args.tiles = launch.batch * args.tile_rows * args.tile_cols;
    args.raster = std::max(1, kRasterRows / cluster);
    args.steps = static_cast<int>((launch.k + 8 * kStepBytes - 1) / (8 * kStepBytes));
    const auto blocks = static_cast<unsigned>(cluster * std::min<std::int64_t>(clusters, args.tiles));
    multiply<operation, cluster><<<blocks, kThreads, kSharedBytes, stream>>>(map_a, map_b, args);
    return cudaGetLastError();
}

template <BitOperation operation>
DeviceStatus start(const BitLeafLaunch& launch, EncodeTiled encode, cudaStream_t stream) {
    // As many blocks share B as there are rows of tiles for.
    if (launch.m <= kTileRows) {
        return start<operation, 1>(launch, encode, stream);
    }
    return launch.m <= 2 * kTileRows ? start<operation, 2>(launch, encode, stream)
                                     : start<operation, kMostSharing>(launch, encode, stream);
}

}  // namespace

DeviceStatus launch_bit_leaf_hopper(const BitLeafLaunch& launch, StreamHandle stream) {
    if (launch.m == 0 || launch.n == 0 || launch.batch == 0) {
        return 0;
    }
    static const EncodeTiled encode = find_encoder();
    if (encode == nullptr) {
        return cudaErrorSymbolNotFound;
    }
    auto* const queue = static_cast<cudaStream_t>(stream);
    switch (launch.operation) {
        case BitOperation::parity:
            return start<BitOperation::parity>(launch, encode, queue);
        case BitOperation::any:
            return start<BitOperation::any>(launch, encode, queue);
        default:
            return start<BitOperation::count>(launch, encode, queue);
    }
}

}  // namespace heptad::cuda
