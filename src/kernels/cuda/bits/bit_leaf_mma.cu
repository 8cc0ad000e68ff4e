// C = A * B' of bits on chips from compute capability 8.0 on: counts of common ones by warp products of the binary
// tensor cores (m16n8k256, AND and POPC). A block makes 128 x 256 of C, a warp 32 x 128; shared memory is a ring of
// four stages of 64 bytes of k, filled by asynchronous copies.
#include "kernels/cuda/bits/bit_leaf_pack.cuh"

namespace heptad::cuda {
namespace {

constexpr int kTileRows = 128, kTileCols = 256;
constexpr int kWarpRows = 32, kWarpCols = 128;
constexpr int kMmaThreads = 32 * (kTileRows / kWarpRows) * (kTileCols / kWarpCols);
constexpr int kMmaStepBytes = 64;  // of k, per stage
constexpr int kStages = 4;
constexpr int kPieces = kMmaStepBytes / 16;
constexpr int kStageBytes = (kTileRows + kTileCols) * kMmaStepBytes;
constexpr int kSharedBytes = kStages * kStageBytes;

struct MmaArguments {
    LeafResult c;
    BitBlocks a, b;
    std::int64_t row_bytes;  // of k that there are
    int steps;
    unsigned tile_cols;  // of C
};

/// Where 16-byte piece `piece` of a row lies: eight rows of one piece are in eight different groups of banks.
__device__ __forceinline__ std::uint32_t place(int row, int piece) {
    return static_cast<std::uint32_t>(row * kMmaStepBytes + (piece ^ (row / 2 % kPieces)) * 16);
}

/// Starts the copy of `rows` rows of a stage; what lies outside of the matrix becomes zero.
template <int rows>
__device__ __forceinline__ void fetch(const BitBlocks& from, std::int64_t first, std::int64_t count, std::int64_t block,
                                      std::int64_t byte, std::int64_t row_bytes, std::uint32_t to) {
    const auto* const data = reinterpret_cast<const unsigned char*>(from.data + block * from.block_words);
#pragma unroll
    for (int i = 0; i < rows * kPieces / kMmaThreads; ++i) {
        const int at = i * kMmaThreads + static_cast<int>(threadIdx.x), row = at / kPieces, piece = at % kPieces;
        const std::int64_t left = row_bytes - byte - piece * 16;
        const bool there = first + row < count && left > 0;
        const unsigned char* const source =
            there ? data + (first + row) * from.row_words * 8 + byte + piece * 16 : data;
        const int bytes = !there ? 0 : left < 16 ? static_cast<int>(left) : 16;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to + place(row, piece)), "l"(source),
                     "r"(bytes)
                     : "memory");
    }
}

__device__ __forceinline__ void load_matrices(std::uint32_t (&x)[4], std::uint32_t address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(address)
                 : "memory");
}

__device__ __forceinline__ void product(int* d, const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

template <BitOperation operation>
__global__ void __launch_bounds__(kMmaThreads, 1) multiply(const __grid_constant__ MmaArguments args) {
    extern __shared__ __align__(128) unsigned char shared_bytes[];
    const auto ring = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared_bytes));
    // Tiles are numbered along one side of the grid: the others are too short for the rows of a tall matrix.
    const std::int64_t row = blockIdx.x / args.tile_cols * std::int64_t{kTileRows};
    const std::int64_t col = blockIdx.x % args.tile_cols * std::int64_t{kTileCols}, block = blockIdx.y;
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const int warp_row = warp % (kTileRows / kWarpRows) * kWarpRows;
    const int warp_col = warp / (kTileRows / kWarpRows) * kWarpCols;
    const auto start_stage = [&](int step) {
        if (step < args.steps) {
            const std::uint32_t to = ring + static_cast<std::uint32_t>(step % kStages * kStageBytes);
            const std::int64_t byte = static_cast<std::int64_t>(step) * kMmaStepBytes;
            fetch<kTileRows>(args.a, row, args.c.m, block, byte, args.row_bytes, to);
            fetch<kTileCols>(args.b, col, args.c.n, block, byte, args.row_bytes, to + kTileRows * kMmaStepBytes);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");  // an empty one keeps the count
    };
    for (int step = 0; step < kStages - 1; ++step) {
        start_stage(step);
    }
    int d[2][kWarpCols / 2] = {};  // [16 rows each][as the header of the packing says]
    for (int step = 0; step < args.steps; ++step) {
        asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2) : "memory");
        __syncthreads();
        start_stage(step + kStages - 1);
        const std::uint32_t at_a = ring + static_cast<std::uint32_t>(step % kStages * kStageBytes);
        const std::uint32_t at_b = at_a + kTileRows * kMmaStepBytes;
#pragma unroll
        for (int half = 0; half < kMmaStepBytes / 32; ++half) {
            // Four matrices of 8 rows x 16 bytes: for A rows 0-7 and 8-15, then their next 16 bytes; for B rows 0-7
            // with both pieces, then rows 8-15.
            std::uint32_t a[2][4];
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                load_matrices(a[i], at_a + place(warp_row + 16 * i + lane % 16, 2 * half + lane / 16));
            }
#pragma unroll
            for (int j = 0; j < kWarpCols / 16; ++j) {
                std::uint32_t b[4];
                load_matrices(b, at_b + place(warp_col + 16 * j + lane % 8 + lane / 16 * 8, 2 * half + lane / 8 % 2));
#pragma unroll
                for (int i = 0; i < 2; ++i) {
                    product(d[i] + 8 * j, a[i], b[0], b[1]);
                    product(d[i] + 8 * j + 4, a[i], b[2], b[3]);
                }
            }
        }
    }
    if constexpr (operation == BitOperation::count) {
        store_counts<kWarpCols / 8>(args.c, block, row + warp_row, col + warp_col, d[0]);
        store_counts<kWarpCols / 8>(args.c, block, row + warp_row + 16, col + warp_col, d[1]);
    } else {
        // 16 rows of each: lanes 2 and 3 of four have the second 16.
        store_bits<operation>(args.c, block, row + warp_row + lane / 4 + 8 * (lane % 4), col + warp_col,
                              pack_32x128<operation>(d));
    }
}

template <BitOperation operation>
DeviceStatus start(const BitLeafLaunch& launch, const MmaArguments& args, cudaStream_t stream) {
    if (const cudaError_t status =
            cudaFuncSetAttribute(multiply<operation>, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
        status != cudaSuccess) {
        return status;
    }
    const dim3 grid(args.tile_cols * static_cast<unsigned>((launch.m + kTileRows - 1) / kTileRows),
                    static_cast<unsigned>(launch.batch));
    multiply<operation><<<grid, kMmaThreads, kSharedBytes, stream>>>(args);
    return cudaGetLastError();
}

}  // namespace

DeviceStatus launch_bit_leaf_mma(const BitLeafLaunch& launch, StreamHandle stream) {
    if (launch.m == 0 || launch.n == 0 || launch.batch == 0) {
        return 0;
    }
    const std::int64_t row_bytes = (launch.k + 63) / 64 * 8;
    const MmaArguments args{leaf_result(launch),
                            launch.a,
                            launch.b,
                            row_bytes,
                            static_cast<int>((row_bytes + kMmaStepBytes - 1) / kMmaStepBytes),
                            static_cast<unsigned>((launch.n + kTileCols - 1) / kTileCols)};
    auto* const queue = static_cast<cudaStream_t>(stream);
    switch (launch.operation) {
        case BitOperation::parity:
            return start<BitOperation::parity>(launch, args, queue);
        case BitOperation::any:
            return start<BitOperation::any>(launch, args, queue);
        default:
            return start<BitOperation::count>(launch, args, queue);
    }
}

}  // namespace heptad::cuda
