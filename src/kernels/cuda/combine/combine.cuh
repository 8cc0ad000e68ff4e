// Combine passes: many matrices in, many out, every value read once and written once.
//
// Two kernels do all of them. `known_pass` has the additions of a pass that is run often compiled in (generated from
// the .alg files, see tools/generate_passes.cpp); `any_pass` takes coefficients as arguments and multiplies by zeros
// where the other skips. Both move 16 bytes at a time where the matrices allow it. Included by one file per element
// type, so that they compile side by side.
#pragma once

#include <algorithm>
#include <utility>

#include "kernels/cuda/device/device_code.cuh"
#include "known_passes.cuh"  // generated

namespace heptad::cuda {
namespace {

constexpr int kCopyThreads = 128;

/// Threads of a block that a pass over so many matrices is compiled for: compiled for more, the large
/// ones took more registers a thread (136 instead of 108), and fewer of them fit.
template <int Inputs, int Outputs>
constexpr int kPassThreads = Inputs <= static_cast<int>(kMostOfFew) && Outputs <= static_cast<int>(kMostOfFew)
                                 ? kMostPassThreads
                                 : kMostPassThreads / 2;

template <class T, class Out, int Inputs, int Outputs>
struct PassArguments {
    const T* input[Inputs];
    Out* output[Outputs];
    std::int64_t rows, cols;
    ArithmeticOf<T> keep;
    bool keeps;
    unsigned long long* watch;
    unsigned long long* watch_results;
    LineMaxima lines;
    bool turned;                                        // blocks are counted column by column
    std::int64_t first_row[Inputs], first_col[Inputs];  // of the blocks, in the matrix whose lines are watched
    Scale scale;
    Guard guard;
};

/// Sums in 16 bits may be scaled in any pass; f32 on its way to them and back is in kernels of its own (`Scaled`), so
/// that passes of f32 itself multiply nothing.
template <class T>
constexpr bool kMayBeScaled = sizeof(T) == 2;

/// What moves N elements at once. An aggregate of its own would be stored element by element, at half the speed.
template <int Bytes>
struct WordOf;
template <>
struct WordOf<16> {
    using type = uint4;
};
template <>
struct WordOf<8> {
    using type = uint2;
};
template <>
struct WordOf<4> {
    using type = unsigned int;
};
template <>
struct WordOf<2> {
    using type = unsigned short;
};

template <class T, int N>
using WordFor = typename WordOf<static_cast<int>(sizeof(T)) * N>::type;

template <class T, int N>
__device__ __forceinline__ void unpack(const WordFor<T, N>& word, ArithmeticOf<T>* to) {
    T element[N];
    memcpy(element, &word, sizeof(word));
#pragma unroll
    for (int e = 0; e < N; ++e) {
        to[e] = widen(element[e]);
    }
}

template <class T, int N>
__device__ __forceinline__ void load(const T* from, ArithmeticOf<T>* to) {
    unpack<T, N>(*reinterpret_cast<const WordFor<T, N>*>(from), to);
}

template <class T, int N>
__device__ __forceinline__ void store(const ArithmeticOf<T>* from, T* to) {
    T element[N];
#pragma unroll
    for (int e = 0; e < N; ++e) {
        element[e] = narrow<T>(from[e]);
    }
    WordFor<T, N> word;
    memcpy(&word, element, sizeof(word));
    __stcg(reinterpret_cast<WordFor<T, N>*>(to), word);  // past the first-level cache: nobody here reads it again
}

template <class T, int N>
__device__ __forceinline__ void keep_old(const T* place, ArithmeticOf<T> keep, ArithmeticOf<T>* sum) {
    ArithmeticOf<T> old[N];
    load<T, N>(place, old);
#pragma unroll
    for (int e = 0; e < N; ++e) {
        sum[e] += keep * old[e];
    }
}

/// Goes over all positions of a pass, N columns at a time (N divides their number): `body(row, col, inside)` with
/// Together positions at once, of which those that are not inside do not exist.
template <int N, int Together, class Args, class Body>
__device__ __forceinline__ void for_each_place(const Args& args, Body&& body) {
    const std::int64_t across = args.cols / N;
    const std::int64_t places = args.rows * across;
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    for (std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; first < places;
         first += step * Together) {
        std::int64_t rows[Together], cols[Together];
        bool inside[Together];
#pragma unroll
        for (int t = 0; t < Together; ++t) {
            const std::int64_t at = first + t * step;
            // 32-bit division is several times faster.
            rows[t] =
                places <= 0xffffffffLL
                    ? static_cast<std::int64_t>(static_cast<std::uint32_t>(at) / static_cast<std::uint32_t>(across))
                    : at / across;
            cols[t] = (at - rows[t] * across) * N;
            inside[t] = t == 0 || at < places;
        }
        body(rows, cols, inside);
    }
}

template <class T, int N>
__device__ __forceinline__ void note_largest(const ArithmeticOf<T>* value, MagnitudeOf<T>& seen) {
#pragma unroll
    for (int e = 0; e < N; ++e) {
        const MagnitudeOf<T> here = magnitude(value[e]);
        seen = here > seen ? here : seen;
    }
}

/// N magnitudes of neighbouring columns, as the cache has them.
template <int N>
__device__ __forceinline__ void load_lines(const std::uint32_t* from, std::uint32_t* to) {
    if constexpr (N % 4 == 0) {
#pragma unroll
        for (int e = 0; e < N; e += 4) {
            const uint4 four = __ldca(reinterpret_cast<const uint4*>(from + e));
            to[e] = four.x, to[e + 1] = four.y, to[e + 2] = four.z, to[e + 3] = four.w;
        }
    } else if constexpr (N == 2) {
        const uint2 two = __ldca(reinterpret_cast<const uint2*>(from));
        to[0] = two.x, to[1] = two.y;
    } else {
        to[0] = __ldca(from);
    }
}

/// `warp_in_row`: all threads of the warp are here, with values of the same row.
__device__ __forceinline__ void note_row(std::uint32_t* line, std::uint32_t largest, bool warp_in_row) {
    if (warp_in_row) {
        largest = __reduce_max_sync(0xffffffffU, largest);
    }
    if (!warp_in_row || threadIdx.x % 32 == 0) {
        raise_line(line, largest);
    }
}

template <int N>
__device__ __forceinline__ void note_cols(std::uint32_t* line, const std::uint32_t* largest) {
    std::uint32_t known[N];
    load_lines<N>(line, known);
#pragma unroll
    for (int e = 0; e < N; ++e) {
        if (largest[e] > known[e]) {
            atomicMax(line + e, largest[e]);
        }
    }
}

/// Notes N values of one row of a block.
template <class T, int N>
__device__ __forceinline__ void note_lines(const LineMaxima& lines, std::int64_t row, std::int64_t col,
                                           const ArithmeticOf<T>* value, bool warp_in_row) {
    std::uint32_t here[N], of_row = 0;
#pragma unroll
    for (int e = 0; e < N; ++e) {
        here[e] = line_magnitude(value[e]);
        of_row = max(of_row, here[e]);
    }
    note_cols<N>(lines.cols + col, here);
    note_row(lines.rows + row, of_row, warp_in_row);
}

/// Blocks on a side of a matrix of so many, of which a pass that is compiled in has all; 0: it is not square.
template <int Blocks>
constexpr int kSide = Blocks == 4    ? 2
                      : Blocks == 16 ? 4
                                     : 0;

/// The same of all blocks at once: `value(block, e)`. Of those in one row or column of blocks the largest is enough.
/// `Turned`: they are counted column by column.
template <class T, int N, int Side, bool Turned, class Pass, class Value>
__device__ __forceinline__ void note_blocks(const Pass& pass, std::int64_t row, std::int64_t col, bool warp_in_row,
                                            Value&& value) {
    const auto block = [](int i, int j) { return Turned ? j * Side + i : i * Side + j; };
    std::uint32_t of_row[Side] = {};
#pragma unroll
    for (int j = 0; j < Side; ++j) {
        std::uint32_t of_col[N] = {};
#pragma unroll
        for (int i = 0; i < Side; ++i) {
#pragma unroll
            for (int e = 0; e < N; ++e) {
                const std::uint32_t here = line_magnitude(value(block(i, j), e));
                of_row[i] = max(of_row[i], here);
                of_col[e] = max(of_col[e], here);
            }
        }
        note_cols<N>(pass.lines.cols + pass.first_col[block(0, j)] + col, of_col);
    }
#pragma unroll
    for (int i = 0; i < Side; ++i) {
        note_row(pass.lines.rows + pass.first_row[block(i, 0)] + row, of_row[i], warp_in_row);
    }
}

/// A few neighbouring elements, with the arithmetic that the generated code uses.
template <class Wide, int N>
struct Values {
    Wide element[N];
    __device__ __forceinline__ Values() {
#pragma unroll
        for (int e = 0; e < N; ++e) {
            element[e] = Wide(0);
        }
    }
    friend __device__ __forceinline__ Values operator+(Values x, const Values& y) {
#pragma unroll
        for (int e = 0; e < N; ++e) {
            x.element[e] += y.element[e];
        }
        return x;
    }
    friend __device__ __forceinline__ Values operator-(Values x, const Values& y) {
#pragma unroll
        for (int e = 0; e < N; ++e) {
            x.element[e] -= y.element[e];
        }
        return x;
    }
    friend __device__ __forceinline__ Values operator-(const Values& x) {
        return Values() - x;
    }
    friend __device__ __forceinline__ Values operator*(double c, Values x) {
#pragma unroll
        for (int e = 0; e < N; ++e) {
            x.element[e] *= static_cast<Wide>(c);
        }
        return x;
    }
};

/// A pass whose inputs lie in memory alike, and its outputs too: one offset for all of them.
template <class Pass, class T, class Out>
struct KnownArguments {
    PassArguments<T, Out, Pass::kInputs, Pass::kOutputs> pass;
    std::int64_t input_stride, output_stride;  // between rows
};

template <class Pass, class T, class Out, bool Scaled, int N, int Together>
__global__ void __launch_bounds__(kPassThreads<Pass::kInputs, Pass::kOutputs>)
    known_pass(const __grid_constant__ KnownArguments<Pass, T, Out> args) {
    const auto& pass = args.pass;
    if (!should_run(pass.guard)) {
        return;
    }
    MagnitudeOf<T> seen = 0, seen_results = 0;
    const bool warp_in_row = pass.cols / N % 32 == 0;
    const ScaleFactors scaled(pass.scale);
    for_each_place<N, Together>(pass, [&](const std::int64_t* row, const std::int64_t* col, const bool* inside) {
        using Few = Values<ArithmeticOf<T>, N * Together>;
        struct Words {
            WordFor<T, N> word[Together];
        };
        std::int64_t from[Together], to[Together];
#pragma unroll
        for (int t = 0; t < Together; ++t) {
            from[t] = row[t] * args.input_stride + col[t];
            to[t] = row[t] * args.output_stride + col[t];
        }
        Pass::run(
            [&](int i) {
                Words words{};
#pragma unroll
                for (int t = 0; t < Together; ++t) {
                    if (inside[t]) {
                        words.word[t] = *reinterpret_cast<const WordFor<T, N>*>(pass.input[i] + from[t]);
                    }
                }
                return words;
            },
            [&](const Words& words) {
                Few value;
#pragma unroll
                for (int t = 0; t < Together; ++t) {
                    unpack<T, N>(words.word[t], value.element + t * N);
                }
                return value;
            },
            [] { return Few(); }, pass.watch != nullptr || pass.lines.rows != nullptr,
            [&](const Few* const(&all)[Pass::kInputs]) {
                if (pass.lines.rows == nullptr) {
#pragma unroll
                    for (int i = 0; i < Pass::kInputs; ++i) {
                        note_largest<T, N * Together>(all[i]->element, seen);
                    }
                    return;
                }
                if constexpr (kSide < Pass::kInputs >> 0) {
#pragma unroll
                    for (int t = 0; t < Together; ++t) {
                        if (inside[t]) {
                            const auto value = [&](int i, int e) { return all[i]->element[t * N + e]; };
                            if (pass.turned) {
                                note_blocks<T, N, kSide<Pass::kInputs>, true>(pass, row[t], col[t], warp_in_row, value);
                            } else {
                                note_blocks<T, N, kSide<Pass::kInputs>, false>(pass, row[t], col[t], warp_in_row,
                                                                               value);
                            }
                        }
                    }
                }
            },
            [&](int j, Few sum) {
                if constexpr (Scaled) {
#pragma unroll
                    for (int e = 0; e < N * Together; ++e) {
                        sum.element[e] = scaled(sum.element[e]);
                    }
                    if (pass.watch_results != nullptr) {
                        note_largest<T, N * Together>(sum.element, seen_results);
                    }
                }
#pragma unroll
                for (int t = 0; t < Together; ++t) {
                    if (inside[t]) {
                        Out* const place = pass.output[j] + to[t];
                        if (pass.keeps) {
                            keep_old<Out, N>(place, pass.keep, sum.element + t * N);
                        }
                        store<Out, N>(sum.element + t * N, place);
                    }
                }
            });
    });
    if (pass.watch != nullptr) {
        note_maximum(seen, pass.watch);
    }
    if (Scaled && pass.watch_results != nullptr) {
        note_maximum(seen_results, pass.watch_results);
    }
}

template <class T, class Out, int Inputs>
struct AnyArguments {
    PassArguments<T, Out, Inputs, kMostOutputs> pass;
    int inputs, outputs;
    int blocks;  // of the inputs, those of the matrix whose lines are watched
    std::int64_t input_stride[Inputs], output_stride[kMostOutputs];  // between rows
    std::int64_t input_step[Inputs], output_step[kMostOutputs];      // between columns; all 1 where N is not
    ArithmeticOf<T> coefficient[kMostOutputs][Inputs];
};

template <class T, class Out, bool Scaled, int Inputs, int N>
__global__ void __launch_bounds__(kPassThreads<Inputs, 1>)
    any_pass(const __grid_constant__ AnyArguments<T, Out, Inputs> args) {
    const auto& pass = args.pass;
    if (!should_run(pass.guard)) {
        return;
    }
    using Wide = ArithmeticOf<T>;
    MagnitudeOf<T> seen = 0, seen_results = 0;
    const bool warp_in_row = pass.cols / N % 32 == 0;
    const ScaleFactors scaled(pass.scale);
    for_each_place<N, 1>(pass, [&](const std::int64_t* rows, const std::int64_t* cols, const bool*) {
        const std::int64_t row = rows[0], col = cols[0];
        Wide value[Inputs][N];
#pragma unroll
        for (int i = 0; i < Inputs; ++i) {
            if (i < args.inputs) {
                load<T, N>(pass.input[i] + row * args.input_stride[i] + (N == 1 ? col * args.input_step[i] : col),
                           value[i]);
            } else {
#pragma unroll
                for (int e = 0; e < N; ++e) {
                    value[i][e] = Wide(0);
                }
            }
        }
        if (pass.watch != nullptr) {
#pragma unroll
            for (int i = 0; i < Inputs; ++i) {
                note_largest<T, N>(value[i], seen);
            }
        }
        if (pass.lines.rows != nullptr) {
#pragma unroll
            for (int i = 0; i < Inputs; ++i) {
                if (i < args.blocks) {
                    note_lines<T, N>(pass.lines, pass.first_row[i] + row, pass.first_col[i] + col, value[i],
                                     warp_in_row);
                }
            }
        }
#pragma unroll 1
        for (int j = 0; j < args.outputs; ++j) {
            Out* const place =
                pass.output[j] + row * args.output_stride[j] + (N == 1 ? col * args.output_step[j] : col);
            Wide sum[N] = {};
            if (pass.keeps && !Scaled) {
                keep_old<Out, N>(place, pass.keep, sum);
            }
#pragma unroll
            for (int i = 0; i < Inputs; ++i) {
#pragma unroll
                for (int e = 0; e < N; ++e) {
                    sum[e] += args.coefficient[j][i] * value[i][e];
                }
            }
            if constexpr (Scaled) {
#pragma unroll
                for (int e = 0; e < N; ++e) {
                    sum[e] = scaled(sum[e]);
                }
                if (pass.watch_results != nullptr) {
                    note_largest<T, N>(sum, seen_results);
                }
                if (pass.keeps) {
                    keep_old<Out, N>(place, pass.keep, sum);
                }
            }
            store<Out, N>(sum, place);
        }
    });
    if (pass.watch != nullptr) {
        note_maximum(seen, pass.watch);
    }
    if (Scaled && pass.watch_results != nullptr) {
        note_maximum(seen_results, pass.watch_results);
    }
}

/// to = coefficient * from + keep * to, for rows that begin anywhere: one element at a time, but several on their way.
template <class T>
struct CopyArguments {
    const T* from;
    T* to;
    std::int64_t from_stride, to_stride, rows, cols;
    ArithmeticOf<T> coefficient, keep;
    bool keeps;
    Guard guard;
};
constexpr int kOnTheirWay = 8;

template <class T>
__global__ void __launch_bounds__(kCopyThreads) copy_pass(const __grid_constant__ CopyArguments<T> args) {
    if (!should_run(args.guard)) {
        return;
    }
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kCopyThreads * kOnTheirWay + threadIdx.x;
    for (std::int64_t row = blockIdx.y; row < args.rows; row += gridDim.y) {
        const T* const from = args.from + row * args.from_stride;
        T* const to = args.to + row * args.to_stride;
        T value[kOnTheirWay];
#pragma unroll
        for (int i = 0; i < kOnTheirWay; ++i) {
            const std::int64_t col = first + i * kCopyThreads;
            value[i] = col < args.cols ? from[col] : narrow<T>(ArithmeticOf<T>(0));
        }
#pragma unroll
        for (int i = 0; i < kOnTheirWay; ++i) {
            const std::int64_t col = first + i * kCopyThreads;
            if (col < args.cols) {
                ArithmeticOf<T> sum = args.coefficient * widen(value[i]);
                if (args.keeps) {
                    sum += args.keep * widen(to[col]);
                }
                to[col] = narrow<T>(sum);
            }
        }
    }
}

/// The side along which elements lie side by side comes second in every matrix.
void make_rows_contiguous(LinearLaunch& launch) {
    const auto all = [&](auto&& holds) {
        return std::all_of(launch.inputs.begin(), launch.inputs.end(), holds) &&
               std::all_of(launch.outputs.begin(), launch.outputs.end(), holds);
    };
    const bool by_rows = all([](const DeviceMatrix& x) { return x.col_stride == 1 || x.cols == 1; });
    const bool by_columns = all([](const DeviceMatrix& x) { return x.row_stride == 1 || x.rows == 1; });
    if (!by_rows && by_columns) {
        for (auto* list : {&launch.inputs, &launch.outputs}) {
            for (DeviceMatrix& x : *list) {
                std::swap(x.rows, x.cols);
                std::swap(x.row_stride, x.col_stride);
            }
        }
        std::swap(launch.lines.rows, launch.lines.cols);
        std::swap(launch.block_row, launch.block_col);
    }
}

bool has_unit_steps(const LinearLaunch& launch) {
    const auto unit_step = [](const DeviceMatrix& x) { return x.col_stride == 1 || x.cols == 1; };
    return std::all_of(launch.inputs.begin(), launch.inputs.end(), unit_step) &&
           std::all_of(launch.outputs.begin(), launch.outputs.end(), unit_step);
}

/// Can `length` elements be moved at once, everywhere?
template <class T>
bool is_wide(const LinearLaunch& launch, int length) {
    const auto bytes = static_cast<std::int64_t>(sizeof(T)) * length;
    const auto aligned = [&](const DeviceMatrix& x) {
        return reinterpret_cast<std::uintptr_t>(x.data) % static_cast<std::uintptr_t>(bytes) == 0 &&
               (x.rows == 1 || x.row_stride % length == 0);
    };
    return launch.outputs.front().cols % length == 0 && has_unit_steps(launch) &&
           std::all_of(launch.inputs.begin(), launch.inputs.end(), aligned) &&
           std::all_of(launch.outputs.begin(), launch.outputs.end(), aligned);
}

template <class T, class Out, int Inputs, int Outputs>
void fill(const LinearLaunch& launch, std::size_t first, std::size_t count,
          PassArguments<T, Out, Inputs, Outputs>& args) {
    for (std::size_t i = 0; i < launch.inputs.size(); ++i) {
        args.input[i] = static_cast<const T*>(launch.inputs[i].data);
    }
    for (std::size_t j = 0; j < count; ++j) {
        args.output[j] = static_cast<Out*>(launch.outputs[first + j].data);
    }
    args.rows = launch.outputs.front().rows;
    args.cols = launch.outputs.front().cols;
    args.keep = scalar_of<T>(launch.keep);
    args.keeps = launch.keep != 0;
    args.watch = launch.watch;
    args.lines = launch.lines;
    args.turned = launch.block_row.size() > 1 && launch.block_row[1] != 0;
    for (std::size_t i = 0; i < std::min(launch.block_row.size(), launch.inputs.size()); ++i) {
        args.first_row[i] = launch.block_row[i] * args.rows;
        args.first_col[i] = launch.block_col[i] * args.cols;
    }
    args.watch_results = launch.watch_results;
    args.scale = launch.scale;
    args.guard = launch.guard;
}

unsigned blocks_for(std::int64_t rows, std::int64_t cols, int length, const PassShape& shape) {
    constexpr std::int64_t kMostBlocks = 1 << 30;
    const std::int64_t of_block = static_cast<std::int64_t>(shape.threads) * shape.places;
    return static_cast<unsigned>(std::min((rows * (cols / length) + of_block - 1) / of_block, kMostBlocks));
}

/// Elements that one thread moves at once. Sixteen bytes, less where the values of a pass would not fit the registers:
/// `held` of them are alive at once.
template <class T>
constexpr int vector_length(int held) {
    constexpr int kFull = 16 / static_cast<int>(sizeof(T));
    constexpr int kWideBytes = sizeof(ArithmeticOf<T>);
    constexpr int kMostBytes = 512;
    int length = kFull;
    while (length > 1 && held * length * kWideBytes > kMostBytes) {
        length /= 2;
    }
    return length;
}

template <class Pass, class T, class Out, bool Scaled>
DeviceStatus launch_known(const LinearLaunch& launch, cudaStream_t stream) {
    constexpr int kLength = vector_length<T>(std::min(Pass::kInputs, Pass::kOutputs));
    KnownArguments<Pass, T, Out> args{};
    fill(launch, 0, launch.outputs.size(), args.pass);
    args.input_stride = launch.inputs.front().row_stride;
    args.output_stride = launch.outputs.front().row_stride;
    const std::int64_t rows = args.pass.rows, cols = args.pass.cols;
    const PassShape shape{std::min(launch.shape.threads, kPassThreads<Pass::kInputs, Pass::kOutputs>),
                          launch.shape.places};
    const auto threads = static_cast<unsigned>(shape.threads);
    if (!is_wide<T>(launch, kLength)) {
        known_pass<Pass, T, Out, Scaled, 1, 1><<<blocks_for(rows, cols, 1, shape), threads, 0, stream>>>(args);
        return cudaGetLastError();
    }
    const unsigned blocks = blocks_for(rows, cols, kLength, shape);
    if constexpr (Pass::kInputs <= kMostOfFew && Pass::kOutputs <= kMostOfFew) {
        if (shape.places > 1) {  // the registers hold the values of two places
            known_pass<Pass, T, Out, Scaled, kLength, 2><<<blocks, threads, 0, stream>>>(args);
            return cudaGetLastError();
        }
    }
    known_pass<Pass, T, Out, Scaled, kLength, 1><<<blocks, threads, 0, stream>>>(args);
    return cudaGetLastError();
}

bool have_one_stride(const std::vector<DeviceMatrix>& matrices) {
    return std::all_of(matrices.begin(), matrices.end(), [&](const DeviceMatrix& x) {
        return x.rows == 1 || x.row_stride == matrices.front().row_stride;
    });
}

/// Nothing to note of lines, or all blocks of a square grid: row by row, or column by column where that is turned.
template <class Pass>
bool has_known_lines(const LinearLaunch& launch) {
    constexpr std::int64_t side = kSide<Pass::kInputs>;
    if (launch.lines.rows == nullptr) {
        return true;
    }
    if constexpr (side > 0) {
        const std::int64_t blocks = static_cast<std::int64_t>(launch.block_row.size());
        bool by_rows = blocks == Pass::kInputs, by_columns = by_rows;
        for (std::int64_t i = 0; i < blocks && (by_rows || by_columns); ++i) {
            const std::int64_t row = launch.block_row[static_cast<std::size_t>(i)];
            const std::int64_t col = launch.block_col[static_cast<std::size_t>(i)];
            by_rows = by_rows && row == i / side && col == i % side;
            by_columns = by_columns && row == i % side && col == i / side;
        }
        return by_rows || by_columns;
    } else {
        return false;
    }
}

template <class Pass>
bool is_pass(const LinearLaunch& launch) {
    return launch.inputs.size() == Pass::kInputs && launch.outputs.size() == Pass::kOutputs &&
           has_known_lines<Pass>(launch) &&
           std::equal(launch.coefficients.begin(), launch.coefficients.end(), Pass::kCoefficients) &&
           has_unit_steps(launch) && have_one_stride(launch.inputs) && have_one_stride(launch.outputs);
}

template <class T, class Out, bool Scaled, class... Passes>
bool try_known(const LinearLaunch& launch, cudaStream_t stream, DeviceStatus& status, PassList<Passes...>) {
    return ((is_pass<Passes>(launch) && (status = launch_known<Passes, T, Out, Scaled>(launch, stream), true)) || ...);
}

template <class T, class Out, bool Scaled, int Inputs>
DeviceStatus launch_any(const LinearLaunch& launch, cudaStream_t stream) {
    constexpr int kLength = vector_length<T>(Inputs);
    for (std::size_t first = 0; first < launch.outputs.size(); first += kMostOutputs) {
        const std::size_t count = std::min<std::size_t>(kMostOutputs, launch.outputs.size() - first);
        AnyArguments<T, Out, Inputs> args{};
        fill(launch, first, count, args.pass);
        args.inputs = static_cast<int>(launch.inputs.size());
        args.outputs = static_cast<int>(count);
        args.blocks = static_cast<int>(std::min(launch.block_row.size(), launch.inputs.size()));
        for (std::size_t i = 0; i < launch.inputs.size(); ++i) {
            args.input_stride[i] = launch.inputs[i].row_stride;
            args.input_step[i] = launch.inputs[i].col_stride;
        }
        for (std::size_t j = 0; j < count; ++j) {
            args.output_stride[j] = launch.outputs[first + j].row_stride;
            args.output_step[j] = launch.outputs[first + j].col_stride;
            for (std::size_t i = 0; i < launch.inputs.size(); ++i) {
                args.coefficient[j][i] = scalar_of<T>(launch.coefficients[(first + j) * launch.inputs.size() + i]);
            }
        }
        if (first > 0) {
            args.pass.watch = nullptr;
            args.pass.lines = {};
        }
        const bool wide = is_wide<T>(launch, kLength);
        const PassShape shape{std::min(launch.shape.threads, kPassThreads<Inputs, 1>), launch.shape.places};
        const unsigned blocks = blocks_for(args.pass.rows, args.pass.cols, wide ? kLength : 1, shape);
        const auto threads = static_cast<unsigned>(shape.threads);
        if (wide) {
            any_pass<T, Out, Scaled, Inputs, kLength><<<blocks, threads, 0, stream>>>(args);
        } else {
            any_pass<T, Out, Scaled, Inputs, 1><<<blocks, threads, 0, stream>>>(args);
        }
        if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess) {
            return status;
        }
    }
    return 0;
}

bool writes_an_input(const LinearLaunch& launch) {
    return std::any_of(launch.outputs.begin(), launch.outputs.end(), [&](const DeviceMatrix& output) {
        return std::any_of(launch.inputs.begin(), launch.inputs.end(),
                           [&](const DeviceMatrix& input) { return input.data == output.data; });
    });
}

/// More inputs than registers: the sum over the first ones, then the others added to it.
template <class T, class Out, bool Scaled>
DeviceStatus launch_in_parts(const LinearLaunch& launch, cudaStream_t stream) {
    const std::size_t all = launch.inputs.size();
    for (std::size_t first = 0; first < all; first += kMostInputs) {
        const std::size_t count = std::min<std::size_t>(kMostInputs, all - first);
        LinearLaunch part = launch;
        part.inputs.assign(launch.inputs.begin() + static_cast<std::ptrdiff_t>(first),
                           launch.inputs.begin() + static_cast<std::ptrdiff_t>(first + count));
        part.coefficients.clear();
        for (std::size_t j = 0; j < launch.outputs.size(); ++j) {
            const auto row = launch.coefficients.begin() + static_cast<std::ptrdiff_t>(j * all + first);
            part.coefficients.insert(part.coefficients.end(), row, row + static_cast<std::ptrdiff_t>(count));
        }
        for (auto* list : {&part.block_row, &part.block_col}) {
            list->erase(list->begin(), list->begin() + static_cast<std::ptrdiff_t>(std::min(first, list->size())));
        }
        part.keep = first == 0 ? launch.keep : 1;
        if (const DeviceStatus status = launch_any<T, Out, Scaled, kMostInputs>(part, stream); status != 0) {
            return status;
        }
    }
    return 0;
}

template <class T>
DeviceStatus launch_copy(const LinearLaunch& launch, cudaStream_t stream) {
    const DeviceMatrix& from = launch.inputs.front();
    const DeviceMatrix& to = launch.outputs.front();
    const CopyArguments<T> args{static_cast<const T*>(from.data),
                                static_cast<T*>(to.data),
                                from.row_stride,
                                to.row_stride,
                                to.rows,
                                to.cols,
                                scalar_of<T>(launch.coefficients.front()),
                                scalar_of<T>(launch.keep),
                                launch.keep != 0,
                                launch.guard};
    constexpr std::int64_t kWidth = kCopyThreads * kOnTheirWay;
    const dim3 grid(static_cast<unsigned>((to.cols + kWidth - 1) / kWidth),
                    static_cast<unsigned>(std::min<std::int64_t>(to.rows, 65535)));
    copy_pass<T><<<grid, kCopyThreads, 0, stream>>>(args);
    return cudaGetLastError();
}

template <class T, class Out = T, bool Scaled = kMayBeScaled<T>>
DeviceStatus launch_typed(const LinearLaunch& asked, StreamHandle handle) {
    if (asked.outputs.empty() || asked.outputs.front().rows == 0 || asked.outputs.front().cols == 0) {
        return 0;
    }
    if ((asked.inputs.size() > kMostInputs || asked.outputs.size() > kMostOutputs) && writes_an_input(asked)) {
        return cudaErrorNotSupported;  // a pass that is cut cannot overwrite what it still has to read
    }
    auto* const stream = static_cast<cudaStream_t>(handle);
    LinearLaunch launch = asked;
    make_rows_contiguous(launch);
    DeviceStatus status = 0;
    if (try_known<T, Out, Scaled>(launch, stream, status, KnownPasses{})) {
        return status;
    }
    const std::size_t inputs = launch.inputs.size();
    if constexpr (std::is_same_v<T, Out>) {
        if (inputs == 1 && launch.outputs.size() == 1 && launch.watch == nullptr && launch.lines.rows == nullptr &&
            launch.scale.kind == Scale::Kind::none && has_unit_steps(launch) &&
            !is_wide<T>(launch, 16 / static_cast<int>(sizeof(T)))) {
            return launch_copy<T>(launch, stream);
        }
    }
    if (inputs > kMostInputs) {
        return launch_in_parts<T, Out, Scaled>(launch, stream);
    }
    return inputs <= 4    ? launch_any<T, Out, Scaled, 4>(launch, stream)
           : inputs <= 16 ? launch_any<T, Out, Scaled, 16>(launch, stream)
                          : launch_any<T, Out, Scaled, kMostInputs>(launch, stream);
}

}  // namespace
}  // namespace heptad::cuda
