// The parallel layers of a product over GF(2), one or two levels at a time in registers (P3 3.9, 3.11 and 3.15):
//   expanding    out[p1][p2] = sum over quarters q1, q2 of  m[p1][q1] m[p2][q2] in[q1][q2]
//   compressing  out[q1][q2] = sum over products p1, p2 of  m[p1][q1] m[p2][q2] in[p1][p2]
// The masks are arguments: x ^ (y & mask) is one instruction with the mask in constant memory, and memory is the limit.
// Changes of basis are part of the masks, so they cost no pass of their own.
#include <algorithm>
#include <type_traits>

#include "kernels/cuda/bits/bit_windows.cuh"

namespace heptad::cuda {
namespace {

constexpr int kThreads = 128;

struct Shape {
    std::int64_t rows, words;   // of a block
    std::int64_t across;        // 16-byte pieces of a row
    std::int64_t block_pieces;  // of a block
};

Shape shape_of(std::int64_t rows, std::int64_t words) {
    return {rows, words, words / 2, rows * (words / 2)};
}

template <int levels>
constexpr int kSums = levels == 0   ? 1
                      : levels == 1 ? kBitProducts
                                    : kBitProducts* kBitProducts;

struct ExpandArguments {
    DeviceWindows source;
    BitLevelMasks masks;
    Shape shape;
    uint4* target;
    bool transposed;
};

/// The place of a quarter: row 0 or 1, column 0 or 1.
__device__ __forceinline__ int row_of(int quarter, bool transposed) {
    return transposed ? quarter % 2 : quarter / 2;
}
__device__ __forceinline__ int col_of(int quarter, bool transposed) {
    return transposed ? quarter / 2 : quarter % 2;
}

/// `inside`: all windows lie in their matrix, on 16-byte boundaries.
template <int levels, bool inside>
__global__ void __launch_bounds__(kThreads) expand(const __grid_constant__ ExpandArguments args) {
    constexpr int kInner = levels == 2 ? kBitQuarters : 1, kOuter = levels >= 1 ? kBitQuarters : 1;
    const std::int64_t piece = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (piece >= args.shape.block_pieces) {
        return;
    }
    const std::int64_t row = piece / args.shape.across, word = 2 * (piece - row * args.shape.across);
    const std::int64_t matrix = blockIdx.y;
    uint4 x[kOuter][kInner] = {};
#pragma unroll 1
    for (int window = 0; window < args.source.windows.count; ++window) {
        // Unrolled within a window, so that all its loads are on their way together.
#pragma unroll
        for (int outer = 0; outer < kOuter; ++outer) {
#pragma unroll
            for (int inner = 0; inner < kInner; ++inner) {
                const std::int64_t block_row =
                    row_of(outer, args.transposed) * (levels == 2 ? 2 : 1) + row_of(inner, args.transposed);
                const std::int64_t block_col =
                    col_of(outer, args.transposed) * (levels == 2 ? 2 : 1) + col_of(inner, args.transposed);
                x[outer][inner] = x[outer][inner] ^ load_window<inside>(args.source, window, matrix,
                                                                        row + block_row * args.shape.rows,
                                                                        word + block_col * args.shape.words);
            }
        }
    }
    uint4* to = args.target + matrix * kSums<levels> * args.shape.block_pieces + piece;
    const auto store = [&](const uint4& sum) {
        *to = sum;
        to += args.shape.block_pieces;
    };
    if constexpr (levels == 0) {
        store(x[0][0]);
    } else {
#pragma unroll
        for (int outer = 0; outer < kBitProducts; ++outer) {
            uint4 sums[kInner] = {};
#pragma unroll
            for (int inner = 0; inner < kInner; ++inner) {
#pragma unroll
                for (int quarter = 0; quarter < kOuter; ++quarter) {
                    sums[inner] = add_masked(sums[inner], x[quarter][inner], args.masks.of[outer][quarter]);
                }
            }
            if constexpr (levels == 1) {
                store(sums[0]);
            } else {
#pragma unroll
                for (int product = 0; product < kBitProducts; ++product) {
                    uint4 sum{0, 0, 0, 0};
#pragma unroll
                    for (int quarter = 0; quarter < kInner; ++quarter) {
                        sum = add_masked(sum, sums[quarter], args.masks.of[product][quarter]);
                    }
                    store(sum);
                }
            }
        }
    }
}

struct CompressArguments {
    DeviceWindows target;
    BitLevelMasks masks;
    Shape shape;
    const uint4* source;
};

template <int levels, bool inside>
__global__ void __launch_bounds__(kThreads) compress(const __grid_constant__ CompressArguments args) {
    constexpr int kInner = levels == 2 ? kBitQuarters : 1, kOuter = levels >= 1 ? kBitQuarters : 1;
    constexpr int kOuterProducts = levels >= 1 ? kBitProducts : 1;
    const std::int64_t piece = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (piece >= args.shape.block_pieces) {
        return;
    }
    const std::int64_t row = piece / args.shape.across, word = 2 * (piece - row * args.shape.across);
    const std::int64_t matrix = blockIdx.y;
    const uint4* from = args.source + matrix * kSums<levels> * args.shape.block_pieces + piece;
    uint4 x[kOuter][kInner] = {};
#pragma unroll
    for (int outer = 0; outer < kOuterProducts; ++outer) {
        uint4 sums[kInner] = {};
        if constexpr (levels == 2) {
            uint4 products[kBitProducts];
#pragma unroll
            for (int product = 0; product < kBitProducts; ++product) {
                products[product] = *from;
                from += args.shape.block_pieces;
            }
#pragma unroll
            for (int product = 0; product < kBitProducts; ++product) {
#pragma unroll
                for (int quarter = 0; quarter < kInner; ++quarter) {
                    sums[quarter] = add_masked(sums[quarter], products[product], args.masks.of[product][quarter]);
                }
            }
        } else {
            sums[0] = *from;
            from += args.shape.block_pieces;
        }
#pragma unroll
        for (int quarter = 0; quarter < kOuter; ++quarter) {
#pragma unroll
            for (int inner = 0; inner < kInner; ++inner) {
                x[quarter][inner] = levels == 0
                                        ? sums[inner]
                                        : add_masked(x[quarter][inner], sums[inner], args.masks.of[outer][quarter]);
            }
        }
    }
#pragma unroll 1
    for (int window = 0; window < args.target.windows.count; ++window) {
        uint4 before[kOuter][kInner] = {};
        const bool assigned = (args.target.windows.assigned >> window & 1) != 0;
        const auto each_block = [&](auto&& visit) {
#pragma unroll
            for (int outer = 0; outer < kOuter; ++outer) {
#pragma unroll
                for (int inner = 0; inner < kInner; ++inner) {
                    const std::int64_t block_row = row_of(outer, false) * (levels == 2 ? 2 : 1) + row_of(inner, false);
                    const std::int64_t block_col = col_of(outer, false) * (levels == 2 ? 2 : 1) + col_of(inner, false);
                    visit(outer, inner, row + block_row * args.shape.rows, word + block_col * args.shape.words);
                }
            }
        };
        if (!assigned) {
            each_block([&](int outer, int inner, std::int64_t at_row, std::int64_t at_word) {
                before[outer][inner] = load_window<inside>(args.target, window, matrix, at_row, at_word);
            });
        }
        each_block([&](int outer, int inner, std::int64_t at_row, std::int64_t at_word) {
            store_window<inside>(args.target, window, matrix, at_row, at_word, x[outer][inner] ^ before[outer][inner]);
        });
    }
}

/// Do all windows lie inside their matrix, and may they be moved 16 bytes at a time?
bool lie_inside(const DeviceWindows& w, std::int64_t rows, std::int64_t words) {
    return w.wide && std::all_of(w.windows.corner, w.windows.corner + w.windows.count, [&](const auto& corner) {
               return corner.row + rows <= w.windows.rows && corner.word + words <= w.whole_words;
           });
}

template <class Kernel, class Arguments>
DeviceStatus start(Kernel kernel, const Arguments& args, std::int64_t batch, StreamHandle stream) {
    const auto blocks = static_cast<unsigned>((args.shape.block_pieces + kThreads - 1) / kThreads);
    const dim3 grid(blocks, static_cast<unsigned>(batch));
    kernel<<<grid, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(args);
    return cudaGetLastError();
}

/// action(levels, inside), which are compiled in.
template <class Action>
DeviceStatus with_constants(int levels, bool inside, const Action& action) {
    const auto with_levels = [&](auto count) {
        return inside ? action(count, std::true_type()) : action(count, std::false_type());
    };
    return levels == 0   ? with_levels(std::integral_constant<int, 0>())
           : levels == 1 ? with_levels(std::integral_constant<int, 1>())
                         : with_levels(std::integral_constant<int, 2>());
}

}  // namespace

DeviceStatus launch_bit_expand(const BitExpandLaunch& launch, StreamHandle stream) {
    const ExpandArguments args{device_windows(launch.source), launch.masks, shape_of(launch.rows, launch.words),
                               reinterpret_cast<uint4*>(launch.target), launch.transposed};
    if (args.shape.block_pieces == 0 || launch.batch == 0) {
        return 0;
    }
    const bool inside = lie_inside(args.source, launch.rows << launch.levels, launch.words << launch.levels);
    return with_constants(launch.levels, inside, [&](auto levels, auto all_inside) {
        return start(expand<levels, all_inside>, args, launch.batch, stream);
    });
}

DeviceStatus launch_bit_compress(const BitCompressLaunch& launch, StreamHandle stream) {
    const CompressArguments args{device_windows(launch.target), launch.masks, shape_of(launch.rows, launch.words),
                                 reinterpret_cast<const uint4*>(launch.source)};
    if (args.shape.block_pieces == 0 || launch.batch == 0) {
        return 0;
    }
    const bool inside = lie_inside(args.target, launch.rows << launch.levels, launch.words << launch.levels);
    return with_constants(launch.levels, inside, [&](auto levels, auto all_inside) {
        return start(compress<levels, all_inside>, args, launch.batch, stream);
    });
}

}  // namespace heptad::cuda
