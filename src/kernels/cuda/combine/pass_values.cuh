// What the kernels of combine passes are made of: arguments, a few neighbouring values at once, and the way over all
// positions.
#pragma once

#include <type_traits>

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
    Scale scale;
    Guard guard;
    bool has_lines, only_if_scaled;
    const unsigned int* scaled;  // null: powers of two count if there are any
    DeviceLines input_lines[Inputs], output_lines[Outputs];
};

/// Sums in 16 bits may be scaled in any pass; f32 on its way to them and back is in kernels of its own (`Scaled`), so
/// that passes of f32 itself multiply nothing.
template <class T>
constexpr bool kMayBeScaled = sizeof(T) == 2;

/// Passes between matrices that may have powers of two beside them.
template <class T, class Out, bool Scaled>
constexpr bool kTakesLines = !std::is_same_v<T, std::int32_t> &&
                             (std::is_same_v<T, Out> || std::is_same_v<Out, Tf32>)&&Scaled == kMayBeScaled<T>;

/// Do powers of two count? All threads of a launch have the same answer.
template <class Args>
__device__ __forceinline__ bool counts_lines(const Args& pass) {
    return pass.has_lines && (pass.scaled == nullptr || *pass.scaled != 0);
}

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
