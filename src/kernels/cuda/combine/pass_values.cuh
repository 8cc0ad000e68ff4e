// What the kernels of combine passes are made of: arguments, a few neighbouring values at once, the way over all
// positions, and largest magnitudes of rows and columns on that way.
#pragma once

#include "kernels/cuda/device/device_code.cuh"

namespace heptad::cuda {
namespace {

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

}  // namespace
}  // namespace heptad::cuda
