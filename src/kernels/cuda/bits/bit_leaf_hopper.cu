// C = A * B' of bits on Hopper: counts of common ones by warpgroup products of the binary tensor cores (AND and POPC),
// packed to bits in registers, so that no count reaches memory unless counts are asked for.
//
// One thread of a block keeps a ring of shared memory filled by the copy engine, two warpgroups multiply. What the L2
// cache delivers is the limit, and power is, so tiles are as large as the registers allow, and four blocks in a square
// form a cluster: each fetches half of what it shares with its neighbours. Blocks stay and take one tile after another.
#include <cuda.h>

#include <algorithm>
#include <atomic>
#include <limits>

#include "kernels/cuda/bits/bit_open_tiles.cuh"
#include "kernels/cuda/device/hopper_instructions.cuh"

namespace heptad::cuda {
namespace {

constexpr int kConsumers = 2, kGroupThreads = 128;
constexpr int kThreads = kGroupThreads * (1 + kConsumers);
constexpr int kStepBytes = 128;  // of k, per stage: the width of the swizzle
constexpr int kStages = 4;
/// Rows of C that are gone through column by column.
constexpr int kRasterRows = 2048;

/// What a block makes: each warpgroup `row_blocks` times 64 rows, all of the columns. Of the blocks of a cluster,
/// `across` lie side by side and share A, `down` one above the other and share B.
template <int row_blocks_, int cols_, int across_, int down_>
struct TileShape {
    static constexpr int row_blocks = row_blocks_, across = across_, down = down_, cluster = across * down;
    static constexpr int rows = 64 * kConsumers * row_blocks, cols = cols_;
    static constexpr int cluster_rows = rows * down, cluster_cols = cols * across;
    /// What one block fetches.
    static constexpr int fetched_rows = rows / across, fetched_cols = cols / down;
    static constexpr int a_bytes = rows * kStepBytes, b_bytes = cols * kStepBytes;
    static constexpr int stage_bytes = a_bytes + b_bytes;
    /// The swizzle needs stages, and what is fetched of them, on 1024-byte boundaries.
    static constexpr int shared_bytes = kStages * stage_bytes + 1024;
    static_assert(rows % (8 * across) == 0 && cols % (8 * down) == 0);
};
using SquareOfTiles = TileShape<2, 192, 2, 2>;
using PairOfTiles = TileShape<2, 192, 2, 1>;
using SmallTiles = TileShape<1, 256, 1, 2>;
using FlatTile = TileShape<1, 256, 1, 1>;

struct Arguments {
    LeafResult c;
    TileOrder order;  // of clusters
    int steps;        // of k
    OpenTiles open;   // those that are to be made; null: all of them
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

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

/// What is to be made: all tiles, or those of a list.
template <BitOperation operation>
__device__ __forceinline__ std::int64_t tile_count(const Arguments& args) {
    return operation == BitOperation::any && args.open != nullptr ? args.open[0] : args.order.tiles;
}
template <BitOperation operation>
__device__ __forceinline__ TilePlace tile_to_make(const Arguments& args, std::int64_t index) {
    return tile_at(args.order, operation == BitOperation::any && args.open != nullptr ? args.open[1 + index] : index);
}

template <BitOperation operation>
__device__ __forceinline__ void store(const LeafResult& c, std::int64_t block, std::int64_t row, std::int64_t col,
                                      const int (&d)[1][128]) {
    if constexpr (operation == BitOperation::count) {
        store_counts<32>(c, block, row, col, d[0]);
    } else {
        const int lane = static_cast<int>(threadIdx.x) % 32, q = lane % 4;
        store_bits<operation>(c, block, row + lane / 4 + 8 * (q % 2), col + 128 * (q / 2),
                              pack_16x256<operation>(d[0]));
    }
}
template <BitOperation operation>
__device__ __forceinline__ void store(const LeafResult& c, std::int64_t block, std::int64_t row, std::int64_t col,
                                      const int (&d)[2][96]) {
    if constexpr (operation == BitOperation::count) {
        store_counts<24>(c, block, row, col, d[0]);
        store_counts<24>(c, block, row + 64, col, d[1]);
    } else {
        const int lane = static_cast<int>(threadIdx.x) % 32, q = lane % 4;
        const std::int64_t own_row = row + lane / 4 + 8 * (q % 2) + 64 * (q / 2);
        store_bits<operation>(c, block, own_row, col, pack_32x128<operation>(d));
        store_bits<operation>(c, block, own_row, col + 128, pack_next_32x64<operation>(d));
    }
}

template <BitOperation operation, class Shape>
__device__ __forceinline__ void run(const CUtensorMap& map_a, const CUtensorMap& map_b, const Arguments& args) {
    constexpr int cluster = Shape::cluster;
    constexpr int kNeighbours = Shape::across + Shape::down - 1;  // that a block shares something with, and itself
    extern __shared__ unsigned char shared_bytes[];
    __shared__ std::uint64_t barriers[2 * kStages];
    let_next_kernel_begin();
    const std::uint32_t ring_start = (shared_address(shared_bytes) + 1023U) & ~1023U;
    const auto full = [&](int stage) { return shared_address(&barriers[stage]); };
    const auto empty = [&](int stage) { return shared_address(&barriers[kStages + stage]); };
    const std::uint32_t rank = cluster > 1 ? cluster_rank() : 0;
    const std::uint32_t rank_across = rank % Shape::across, rank_down = rank / Shape::across;
    const int group = static_cast<int>(threadIdx.x) / kGroupThreads;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < kStages; ++stage) {
            barrier_init(full(stage), 1);
            barrier_init(empty(stage), kNeighbours * kConsumers * kGroupThreads / 32);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    if constexpr (cluster > 1) {
        cluster_sync();
    } else {
        __syncthreads();
    }
    const std::int64_t first = blockIdx.x / cluster, stride = gridDim.x / cluster;
    const std::int64_t rank_row = rank_down * Shape::rows, rank_col = rank_across * Shape::cols;
    Ring ring;
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 0) {
            // Who shares A with this block, and who B.
            const auto mask_a = static_cast<std::uint16_t>(((1U << Shape::across) - 1) << (rank_down * Shape::across));
            constexpr unsigned kColumn = ((1U << cluster) - 1) / ((1U << Shape::across) - 1);  // every `across`-th bit
            const auto mask_b = static_cast<std::uint16_t>(kColumn << rank_across);
            for (std::int64_t index = first; index < tile_count<operation>(args); index += stride) {
                const TilePlace tile = tile_to_make<operation>(args, index);
                const auto row =
                    static_cast<int>(tile.row * Shape::cluster_rows + rank_row + rank_across * Shape::fetched_rows);
                const auto col =
                    static_cast<int>(tile.col * Shape::cluster_cols + rank_col + rank_down * Shape::fetched_cols);
                const auto block = static_cast<int>(tile.block);
                for (int step = 0; step < args.steps; ++step, ring.advance()) {
                    barrier_wait(empty(ring.stage), ring.phase ^ 1);
                    const std::uint32_t ready = full(ring.stage);
                    barrier_expect(ready, Shape::stage_bytes);
                    const std::uint32_t to_a = ring_start + static_cast<std::uint32_t>(ring.stage * Shape::stage_bytes);
                    const std::uint32_t to_b = to_a + Shape::a_bytes;
                    if constexpr (Shape::across > 1) {
                        fetch(map_a, ready, to_a + rank_across * (Shape::a_bytes / Shape::across), step * kStepBytes,
                              row, block, mask_a);
                    } else {
                        fetch(map_a, ready, to_a, step * kStepBytes, row, block);
                    }
                    if constexpr (Shape::down > 1) {
                        fetch(map_b, ready, to_b + rank_down * (Shape::b_bytes / Shape::down), step * kStepBytes, col,
                              block, mask_b);
                    } else {
                        fetch(map_b, ready, to_b, step * kStepBytes, col, block);
                    }
                }
            }
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        constexpr int kGroupRows = 64 * Shape::row_blocks;
        const int consumer = group - 1;
        const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) % kGroupThreads / 32;
        // Lanes tell one neighbour each: those of the block's row of the cluster, then the others of its column.
        const int own_down = static_cast<int>(rank_down), other = lane - Shape::across;
        const int down = lane < Shape::across ? own_down : other + (other >= own_down ? 1 : 0);
        const int across = lane < Shape::across ? lane : static_cast<int>(rank_across);
        const auto neighbour = static_cast<std::uint32_t>(down * Shape::across + across);
        const auto release = [&](int stage) {
            if (lane < kNeighbours) {
                barrier_arrive(empty(stage), neighbour);
            }
        };
        int d[Shape::row_blocks][Shape::cols / 2];
        for (std::int64_t index = first; index < tile_count<operation>(args); index += stride) {
            const TilePlace tile = tile_to_make<operation>(args, index);
            int before = 0;
            for (int step = 0; step < args.steps; ++step) {
                barrier_wait(full(ring.stage), ring.phase);
                const std::uint32_t at = ring_start + static_cast<std::uint32_t>(ring.stage * Shape::stage_bytes);
                const std::uint64_t a =
                    matrix_descriptor(at + static_cast<std::uint32_t>(consumer * kGroupRows * kStepBytes));
                const std::uint64_t b = matrix_descriptor(at + Shape::a_bytes);
                products_begin();
#pragma unroll
                for (int part = 0; part < kStepBytes / 32; ++part) {
#pragma unroll
                    for (int block = 0; block < Shape::row_blocks; ++block) {
                        // Descriptors count in 16 bytes.
                        product(d[block], a + static_cast<std::uint64_t>((block * 64 * kStepBytes + part * 32) / 16),
                                b + static_cast<std::uint64_t>(part * 32 / 16), step + part);
                    }
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
            store<operation>(args.c, tile.block,
                             tile.row * Shape::cluster_rows + rank_row + consumer * kGroupRows + warp * 16,
                             tile.col * Shape::cluster_cols + rank_col, d);
        }
    }
    if constexpr (cluster > 1) {
        cluster_sync();  // nobody may leave while another one can still signal to it
    }
    // What comes after a kernel that ran beside another one expects both to be complete.
    wait_for_kernel_before();
}

#else

template <BitOperation operation, class Shape>
__device__ __forceinline__ void run(const CUtensorMap&, const CUtensorMap&, const Arguments&) {
    __trap();  // the host asks find_bit_leaf_hopper first
}

#endif

template <BitOperation operation, class Shape>
__global__ void __launch_bounds__(kThreads, 1)
    multiply(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
             const __grid_constant__ Arguments args) {
    run<operation, Shape>(map_a, map_b, args);
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

/// When a kernel may begin.
enum class Turn : std::uint8_t {
    after,   // when what was launched before it is complete
    beside,  // when all blocks of the kernel before it are running
};

/// A launch of so many clusters. The attributes lie beside the configuration that points to them.
template <class Shape>
struct LaunchShape {
    cudaLaunchAttribute attributes[2]{};
    cudaLaunchConfig_t config{};

    LaunchShape(std::int64_t clusters, cudaStream_t stream, Turn turn = Turn::after) {
        attributes[0].id = cudaLaunchAttributeClusterDimension;
        attributes[0].val.clusterDim = {Shape::cluster, 1, 1};
        attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attributes[1].val.programmaticStreamSerializationAllowed = 1;
        config.gridDim = dim3(static_cast<unsigned>(Shape::cluster * clusters));
        config.blockDim = dim3(kThreads);
        config.dynamicSmemBytes = Shape::shared_bytes;
        config.stream = stream;
        config.attrs = attributes;
        config.numAttrs = turn == Turn::beside ? 2 : 1;
    }
    LaunchShape(const LaunchShape&) = delete;
    LaunchShape& operator=(const LaunchShape&) = delete;
};

/// How many clusters of a kernel a device can run at a time; asked once.
template <BitOperation operation, class Shape>
cudaError_t resident_clusters(int device, int& count) {
    constexpr int kMostDevices = 64;
    static std::atomic<int> known[kMostDevices];
    if (device < kMostDevices && (count = known[device].load()) > 0) {
        return cudaSuccess;
    }
    if (const cudaError_t status = cudaFuncSetAttribute(
            multiply<operation, Shape>, cudaFuncAttributeMaxDynamicSharedMemorySize, Shape::shared_bytes);
        status != cudaSuccess) {
        return status;
    }
    LaunchShape<Shape> shape(1, nullptr);
    const cudaError_t status = cudaOccupancyMaxActiveClusters(&count, multiply<operation, Shape>, &shape.config);
    if (status == cudaSuccess && device < kMostDevices) {
        known[device].store(count);
    }
    return status == cudaSuccess && count <= 0 ? cudaErrorInvalidConfiguration : status;
}

template <class Shape>
std::int64_t tiles_of(const BitLeafLaunch& launch) {
    return launch.batch * ((launch.m + Shape::cluster_rows - 1) / Shape::cluster_rows) *
           ((launch.n + Shape::cluster_cols - 1) / Shape::cluster_cols);
}

template <BitOperation operation, class Shape>
DeviceStatus start(const BitLeafLaunch& launch, EncodeTiled encode, cudaStream_t stream, Turn turn = Turn::after,
                   int most_clusters = std::numeric_limits<int>::max()) {
    int device = 0, clusters = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess) {
        status = resident_clusters<operation, Shape>(device, clusters);
        clusters = std::min(clusters, most_clusters);
    }
    CUtensorMap map_a, map_b;
    if (status == cudaSuccess) {
        status = describe(encode, launch.a, launch.m, launch.k, launch.batch, Shape::fetched_rows, map_a);
    }
    if (status == cudaSuccess) {
        status = describe(encode, launch.b, launch.n, launch.k, launch.batch, Shape::fetched_cols, map_b);
    }
    if (status != cudaSuccess) {
        return status;
    }
    Arguments args{};
    args.c = leaf_result(launch);
    args.order.tile_rows = (launch.m + Shape::cluster_rows - 1) / Shape::cluster_rows;
    args.order.tile_cols = (launch.n + Shape::cluster_cols - 1) / Shape::cluster_cols;
    args.order.tiles = tiles_of<Shape>(launch);
    args.order.raster = kRasterRows / Shape::cluster_rows;
    args.steps = static_cast<int>((launch.k + 8 * kStepBytes - 1) / (8 * kStepBytes));
    if constexpr (operation == BitOperation::any) {
        constexpr auto kMostListed = std::int64_t{std::numeric_limits<std::int32_t>::max()};
        if (launch.accumulate && launch.open_tiles != nullptr && args.order.tiles <= kMostListed) {
            static_assert(Shape::cluster_rows >= 128 && Shape::cluster_cols >= 256);  // see bit_open_tile_words
            args.open = reinterpret_cast<OpenTiles>(launch.open_tiles);
            status = find_open_tiles(args.c, args.order, Shape::cluster_rows, Shape::cluster_cols, args.open, stream);
            if (status != cudaSuccess) {
                return status;
            }
        }
    }
    const LaunchShape<Shape> shape(std::min<std::int64_t>(clusters, args.order.tiles), stream, turn);
    return cudaLaunchKernelEx(&shape.config, multiply<operation, Shape>, map_a, map_b, args);
}

/// What a launch takes with these tiles, in arbitrary units: rounds of clusters, the last of which may be nearly empty,
/// by what a cluster makes. `rate` is how fast the multiprocessors are with them on long products.
template <BitOperation operation, class Shape>
double cost_of(const BitLeafLaunch& launch, int device, double rate) {
    int clusters = 0;
    if (resident_clusters<operation, Shape>(device, clusters) != cudaSuccess) {
        cudaGetLastError();
        return std::numeric_limits<double>::infinity();
    }
    const std::int64_t rounds = (tiles_of<Shape>(launch) + clusters - 1) / clusters;
    return static_cast<double>(rounds) * Shape::rows * Shape::cols / rate;
}

constexpr double kSquareRate = 1.155, kPairRate = 1.12;

BitLeafLaunch columns_of(const BitLeafLaunch& launch, std::int64_t first, std::int64_t count) {
    BitLeafLaunch part = launch;
    part.n = count;
    part.b.data += first * launch.b.row_words;
    part.c = launch.operation == BitOperation::count ? static_cast<void*>(static_cast<std::int32_t*>(launch.c) + first)
                                                     : static_cast<std::uint64_t*>(launch.c) + first / 64;
    return part;
}

/// How squares of tiles and pairs of them share a product. Squares do not fill a device: where 18 multiprocessors form
/// a group, two are left over, and pairs fit there.
struct Shares {
    std::int64_t square_cols;  // the first columns; all of them: no pairs
    double cost;               // as of cost_of
};

/// The best way, if a second launch is worth it; `pairs`: how many fit beside the squares.
Shares share_out(const BitLeafLaunch& launch, int squares, int pairs) {
    if (squares == 0) {
        return {launch.n, std::numeric_limits<double>::infinity()};
    }
    constexpr double kLeastRounds = 16, kWorthIt = 0.98;
    constexpr std::int64_t kCols = SquareOfTiles::cluster_cols;
    static_assert(PairOfTiles::cluster_cols == kCols && PairOfTiles::rows == SquareOfTiles::rows);
    const auto rounds = [&](std::int64_t cluster_rows, std::int64_t tile_cols, int clusters) {
        const std::int64_t tiles = launch.batch * ((launch.m + cluster_rows - 1) / cluster_rows) * tile_cols;
        return static_cast<double>((tiles + clusters - 1) / clusters);
    };
    const auto by_squares = [&](std::int64_t tile_cols) {
        return rounds(SquareOfTiles::cluster_rows, tile_cols, squares) / kSquareRate;
    };
    const std::int64_t tile_cols = (launch.n + kCols - 1) / kCols;
    const double alone = by_squares(tile_cols);
    std::int64_t best_given = 0;
    double best = alone;
    if (pairs > 0 && rounds(SquareOfTiles::cluster_rows, tile_cols, squares) >= kLeastRounds) {
        for (std::int64_t given = 1; given < tile_cols; ++given) {
            const double by_pairs = rounds(PairOfTiles::cluster_rows, given, pairs) / kPairRate;
            const double both = std::max(by_pairs, by_squares(tile_cols - given));
            if (both < std::min(best, kWorthIt * alone)) {
                best = both;
                best_given = given;
            }
            if (by_pairs >= best) {
                break;
            }
        }
    }
    return {std::min((tile_cols - best_given) * kCols, launch.n), best * SquareOfTiles::rows * SquareOfTiles::cols};
}

template <BitOperation operation>
DeviceStatus start(const BitLeafLaunch& launch, EncodeTiled encode, cudaStream_t stream) {
    if (launch.m <= FlatTile::rows) {  // nobody to share B with
        return start<operation, FlatTile>(launch, encode, stream);
    }
    int device = 0, squares = 0, multiprocessors = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess) {
        status = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    }
    if (status != cudaSuccess) {
        return status;
    }
    if (resident_clusters<operation, SquareOfTiles>(device, squares) != cudaSuccess) {
        cudaGetLastError();
        squares = 0;
    }
    // Which tiles of a list are left is not known here, so neither is how to share them out.
    const bool listed = launch.accumulate && launch.open_tiles != nullptr;
    const int pairs = listed ? 0 : (multiprocessors - SquareOfTiles::cluster * squares) / PairOfTiles::cluster;
    const Shares shares = share_out(launch, squares, pairs);
    const double pair = cost_of<operation, PairOfTiles>(launch, device, kPairRate);
    const double small = cost_of<operation, SmallTiles>(launch, device, 1);
    if (shares.cost > pair || shares.cost > small) {
        return pair <= small ? start<operation, PairOfTiles>(launch, encode, stream)
                             : start<operation, SmallTiles>(launch, encode, stream);
    }
    const DeviceStatus started =
        start<operation, SquareOfTiles>(columns_of(launch, 0, shares.square_cols), encode, stream);
    return started != cudaSuccess || shares.square_cols == launch.n
               ? started
               : start<operation, PairOfTiles>(columns_of(launch, shares.square_cols, launch.n - shares.square_cols),
                                               encode, stream, Turn::beside, pairs);
}

}  // namespace

DeviceStatus find_bit_leaf_hopper(bool& compiled) {
    cudaFuncAttributes attributes{};
    const cudaError_t status = cudaFuncGetAttributes(&attributes, multiply<BitOperation::parity, FlatTile>);
    // The real kernel has its barriers in shared memory; the one that stands in for it has nothing there.
    compiled = status == cudaSuccess && attributes.sharedSizeBytes > 0;
    return status;
}

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
