// C = A * B' on Hopper's tensor cores, of whatever a leaf multiplies in lines of bytes along k.
//
// One thread of a block keeps a ring of shared memory filled by the copy engine, two warpgroups multiply. What the L2
// cache delivers is the limit, and power is, so tiles are as large as the registers allow, and the blocks of a cluster
// share what they fetch with their neighbours. Blocks stay and take one tile after another.
//
// A leaf says:
//   Arguments           with `steps`, of kStepBytes along k
//   tile_count(args), tile_to_make(args, index)    which tiles there are
//   multiply(d, a, b, adds)    the instruction: 64 rows by the columns of d, 32 bytes along k
//   store(args, block, row, col, d)    what a warp does with its 16 rows of each of d
//   stores_row_blocks   whether it may be called for one of two row blocks by itself
//   has_narrow_tiles    whether tiles of fewer columns follow: narrow_cols(args) of 0, 64 or 128 to a block,
//                       narrow_count(args), narrow_tile(args, index)
//   Sum                 of what d is, where that is not int
//   Operands            how they lie, where those are not bytes along k (BytesAlongK)
#pragma once

#include <cuda.h>

#include <type_traits>

#include "kernels/cuda/device/hopper_instructions.cuh"
#include "kernels/cuda/device/tile_order.cuh"

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

template <class Leaf>
struct SumsOf {
    using type = int;
};
template <class Leaf>
requires requires {
    typename Leaf::Sum;
}
struct SumsOf<Leaf> {
    using type = typename Leaf::Sum;
};

/// Operands of 16 bits may lie across k, that is along m or n: then 64 elements of those to a line of 128 bytes, 64
/// lines of k one below the other.
struct BytesAlongK {
    static constexpr bool a_across = false, b_across = false;
    static constexpr int step = kStepBytes;  // of k, in elements
};
template <class Leaf>
struct OperandsOf {
    using type = BytesAlongK;
};
template <class Leaf>
requires requires {
    typename Leaf::Operands;
}
struct OperandsOf<Leaf> {
    using type = typename Leaf::Operands;
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

/// Lines of one stage of an operand, from `line` on, for the blocks in the mask where they are `shared`.
template <bool across, int lines, bool shared>
__device__ __forceinline__ void fetch_lines(const CUtensorMap& map, std::uint32_t barrier, std::uint32_t to, int k,
                                            int line, int block, std::uint16_t mask) {
    constexpr int kLines = across ? 64 : lines;  // at a time
#pragma unroll
    for (int i = 0; i < lines; i += kLines) {
        const int x = across ? line + i : k, y = across ? k : line;
        const std::uint32_t at = to + static_cast<std::uint32_t>(i * kStepBytes);
        if constexpr (shared) {
            fetch(map, barrier, at, x, y, block, mask);
        } else {
            fetch(map, barrier, at, x, y, block);
        }
    }
}

template <class Leaf, class Shape>
__device__ __forceinline__ void run(const CUtensorMap& map_a, const CUtensorMap& map_b,
                                    const typename Leaf::Arguments& args) {
    using Operands = typename OperandsOf<Leaf>::type;
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
    const std::int64_t tiles = Leaf::tile_count(args);
    std::int64_t all_tiles = tiles;
    int narrow_cols = 0;
    if constexpr (Leaf::has_narrow_tiles) {
        all_tiles += Leaf::narrow_count(args);
        narrow_cols = Leaf::narrow_cols(args);
    }
    const auto tile_of = [&](std::int64_t index) {
        if constexpr (Leaf::has_narrow_tiles) {
            if (index >= tiles) {
                return Leaf::narrow_tile(args, index - tiles);
            }
        }
        return Leaf::tile_to_make(args, index);
    };
    const std::int64_t first = blockIdx.x / cluster, stride = gridDim.x / cluster;
    const std::int64_t rank_row = rank_down * Shape::rows;
    Ring ring;
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 0) {
            // Who shares A with this block, and who B.
            const auto mask_a = static_cast<std::uint16_t>(((1U << Shape::across) - 1) << (rank_down * Shape::across));
            constexpr unsigned kColumn = ((1U << cluster) - 1) / ((1U << Shape::across) - 1);  // every `across`-th bit
            const auto mask_b = static_cast<std::uint16_t>(kColumn << rank_across);
            for (std::int64_t index = first; index < all_tiles; index += stride) {
                const TilePlace tile = tile_of(index);
                const int cols = index < tiles ? Shape::cols : narrow_cols;
                const auto row =
                    static_cast<int>(tile.row * Shape::cluster_rows + rank_row + rank_across * Shape::fetched_rows);
                const auto col = static_cast<int>(tile.col * Shape::cluster_cols + rank_across * cols +
                                                  rank_down * Shape::fetched_cols);
                const auto block = static_cast<int>(tile.block);
                for (int step = 0; step < args.steps; ++step, ring.advance()) {
                    barrier_wait(empty(ring.stage), ring.phase ^ 1);
                    const std::uint32_t ready = full(ring.stage);
                    barrier_expect(ready, Shape::stage_bytes);
                    const std::uint32_t to_a = ring_start + static_cast<std::uint32_t>(ring.stage * Shape::stage_bytes);
                    const std::uint32_t to_b = to_a + Shape::a_bytes;
                    constexpr bool kSharesA = Shape::across > 1, kSharesB = Shape::down > 1;
                    fetch_lines<Operands::a_across, Shape::fetched_rows, kSharesA>(
                        map_a, ready, kSharesA ? to_a + rank_across * (Shape::a_bytes / Shape::across) : to_a,
                        step * Operands::step, row, block, mask_a);
                    fetch_lines<Operands::b_across, Shape::fetched_cols, kSharesB>(
                        map_b, ready, kSharesB ? to_b + rank_down * (Shape::b_bytes / Shape::down) : to_b,
                        step * Operands::step, col, block, mask_b);
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
        // Of the rows of some blocks, the products over one step.
        const auto multiply = [&](auto& d, int stage, int step, auto first_block, auto end_block) {
            const std::uint32_t at = ring_start + static_cast<std::uint32_t>(stage * Shape::stage_bytes);
            const std::uint64_t a = matrix_descriptor<Operands::a_across>(
                at + static_cast<std::uint32_t>(consumer * kGroupRows * kStepBytes));
            const std::uint64_t b = matrix_descriptor<Operands::b_across>(at + Shape::a_bytes);
            // From one part to the next: 32 bytes of a line, or 16 lines. Descriptors count in 16 bytes.
            constexpr int kPartA = Operands::a_across ? 16 * kStepBytes : 32;
            constexpr int kPartB = Operands::b_across ? 16 * kStepBytes : 32;
#pragma unroll
            for (int part = 0; part < kStepBytes / 32; ++part) {
#pragma unroll
                for (int block = decltype(first_block)::value; block < decltype(end_block)::value; ++block) {
                    Leaf::multiply(d[block],
                                   a + static_cast<std::uint64_t>((block * 64 * kStepBytes + part * kPartA) / 16),
                                   b + static_cast<std::uint64_t>(part * kPartB / 16), step + part);
                }
            }
        };
        constexpr std::integral_constant<int, 0> kFirst;
        constexpr std::integral_constant<int, 1> kSecond;
        constexpr std::integral_constant<int, Shape::row_blocks> kEnd;
        const auto row_of = [&](const TilePlace& tile) {
            return tile.row * Shape::cluster_rows + rank_row + consumer * kGroupRows + warp * 16;
        };
        const auto col_of = [&](const TilePlace& tile, int cols) {
            return tile.col * Shape::cluster_cols + rank_across * cols;
        };
        static_assert(Shape::row_blocks <= 2);
        constexpr int kSplit = kStages / 2;
        const bool overlaps = Leaf::stores_row_blocks && Shape::row_blocks == 2 && args.steps >= 2 * kSplit;
        if constexpr (Leaf::stores_row_blocks && Shape::row_blocks == 2) {
            typename SumsOf<Leaf>::type d[2][Shape::cols / 2];
            // Where a tile ends and the next one begins, the tensor cores work for half of the rows while the other
            // half is stored: the first half beside the last steps of the second, the second beside the first steps of
            // the next tile's first.
            const auto begin_split = [&](int first_step) {
                Ring at = ring;
                products_begin();
#pragma unroll
                for (int i = 0; i < kSplit; ++i, at.advance()) {
                    barrier_wait(full(at.stage), at.phase);
                    multiply(d, at.stage, first_step + i, kFirst, kSecond);
                }
                products_commit();
            };
            const auto end_split = [&](int first_step) {
                products_begin();
#pragma unroll
                for (int i = 0; i < kSplit; ++i, ring.advance()) {
                    multiply(d, ring.stage, first_step + i, kSecond, kEnd);
                }
                products_commit();
            };
            Ring held = ring;  // the first stage that was not given back
            const auto release_held = [&](int stages) {
                for (; stages > 0; --stages, held.advance()) {
                    release(held.stage);
                }
            };
            // From behind the first steps on. What is left to store is d[1].
            const auto make = [&](const TilePlace& tile) {
                int held_stages = kSplit;
                for (int step = kSplit; step < args.steps - kSplit; ++step) {
                    barrier_wait(full(ring.stage), ring.phase);
                    products_begin();
                    multiply(d, ring.stage, step, kFirst, kEnd);
                    products_commit();
                    products_wait<1>();
                    release_held(held_stages);
                    held_stages = 1;
                    ring.advance();
                }
                begin_split(args.steps - kSplit);
                products_wait<1>();
                release_held(held_stages);
                end_split(args.steps - kSplit);
                products_wait<1>();
                Leaf::store(args, tile.block, row_of(tile), col_of(tile, Shape::cols), d[0]);
                products_wait<0>();
                release_held(kSplit);
            };
            if (overlaps && first < tiles) {
                begin_split(0);
                end_split(0);
                std::int64_t index = first;
                for (; index + stride < tiles; index += stride) {
                    const TilePlace tile = Leaf::tile_to_make(args, index);
                    make(tile);
                    begin_split(0);
                    Leaf::store(args, tile.block, row_of(tile) + 64, col_of(tile, Shape::cols), d[1]);
                    end_split(0);
                }
                const TilePlace tile = Leaf::tile_to_make(args, index);
                make(tile);
                Leaf::store(args, tile.block, row_of(tile) + 64, col_of(tile, Shape::cols), d[1]);
            }
        }
        const auto make_tiles = [&](std::int64_t index, std::int64_t end, auto of_block) {
            constexpr int cols = decltype(of_block)::value;
            typename SumsOf<Leaf>::type d[Shape::row_blocks][cols / 2];
            for (; index < end; index += stride) {
                const TilePlace tile = tile_of(index);
                int before = 0;
                for (int step = 0; step < args.steps; ++step) {
                    barrier_wait(full(ring.stage), ring.phase);
                    products_begin();
                    multiply(d, ring.stage, step, kFirst, kEnd);
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
                if constexpr (Leaf::stores_row_blocks) {
#pragma unroll
                    for (int block = 0; block < Shape::row_blocks; ++block) {
                        Leaf::store(args, tile.block, row_of(tile) + 64 * block, col_of(tile, cols), d[block]);
                    }
                } else {
                    Leaf::store(args, tile.block, row_of(tile), col_of(tile, cols), d);
                }
            }
        };
        if (!overlaps) {
            make_tiles(first, tiles, std::integral_constant<int, Shape::cols>());
        }
        if constexpr (Leaf::has_narrow_tiles) {
            const std::int64_t behind = first + (max(tiles - first, std::int64_t{0}) + stride - 1) / stride * stride;
            if (narrow_cols == 64) {
                make_tiles(behind, all_tiles, std::integral_constant<int, 64>());
            } else if (narrow_cols == 128) {
                make_tiles(behind, all_tiles, std::integral_constant<int, 128>());
            }
        }
    }
    if constexpr (cluster > 1) {
        cluster_sync();  // nobody may leave while another one can still signal to it
    }
    // What comes after a kernel that ran beside another one expects both to be complete.
    wait_for_kernel_before();
}

#else

template <class Leaf, class Shape>
__device__ __forceinline__ void run(const CUtensorMap&, const CUtensorMap&, const typename Leaf::Arguments&) {
    __trap();  // the host asks is_compiled_for_hopper first
}

#endif

template <class Leaf, class Shape>
__global__ void __launch_bounds__(kThreads, 1)
    multiply_tiles(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
                   const __grid_constant__ typename Leaf::Arguments args) {
    if constexpr (requires { Leaf::map_of(0, map_a, args); }) {
        run<Leaf, Shape>(Leaf::map_of(0, map_a, args), Leaf::map_of(1, map_b, args), args);
    } else {
        run<Leaf, Shape>(map_a, map_b, args);
    }
}

}  // namespace
}  // namespace heptad::cuda
