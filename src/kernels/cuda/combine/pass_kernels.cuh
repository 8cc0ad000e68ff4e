// The kernels of combine passes. `known_pass` has the additions of a pass that is run often compiled in (generated
// from the .alg files, see tools/generate_passes.cpp); `any_pass` takes coefficients as arguments and multiplies by
// zeros where the other skips. Both move 16 bytes at a time where the matrices allow it.
#pragma once

#include "kernels/cuda/combine/pass_values.cuh"

namespace heptad::cuda {
namespace {

constexpr int kCopyThreads = 128;

/// A pass whose inputs lie in memory alike, and its outputs too: one offset for all of them.
template <class Pass, class T, class Out>
struct KnownArguments {
    PassArguments<T, Out, Pass::kInputs, Pass::kOutputs> pass;
    std::int64_t input_stride, output_stride;  // between rows
};

/// The same pass with powers of two, one element at a time: few registers, so that the kernel that has both takes no
/// more of them than without.
template <class Pass, class T, class Out>
__device__ __forceinline__ void known_pass_with_lines(const KnownArguments<Pass, T, Out>& args) {
    const auto& pass = args.pass;
    MagnitudeOf<T> seen = 0;
    for_each_place<1, 1>(pass, [&](const std::int64_t* rows, const std::int64_t* cols, const bool*) {
        using One = Values<ArithmeticOf<T>, 1>;
        struct Lined {
            T value;
            std::int32_t exponent;
        };
        const std::int64_t row = rows[0], col = cols[0];
        Pass::run(
            [&](int i) {
                return Lined{pass.input[i][row * args.input_stride + col], exponent_at(pass.input_lines[i], row, col)};
            },
            [](const Lined& x) {
                One value;
                value.element[0] = times_power(widen(x.value), x.exponent);
                return value;
            },
            [] { return One(); }, pass.watch != nullptr,
            [&](const One* const(&all)[Pass::kInputs]) {
#pragma unroll
                for (int i = 0; i < Pass::kInputs; ++i) {
                    note_largest<T, 1>(all[i]->element, seen);
                }
            },
            [&](int j, One sum) {
                Out* const place = pass.output[j] + row * args.output_stride + col;
                sum.element[0] = times_power(sum.element[0], -exponent_at(pass.output_lines[j], row, col));
                if (pass.keeps) {
                    keep_old<Out, 1>(place, pass.keep, sum.element);
                }
                store<Out, 1>(sum.element, place);
            });
    });
    if (pass.watch != nullptr) {
        note_maximum(seen, pass.watch);
    }
}

template <class Pass, class T, class Out, bool Scaled, int N, int Together>
__global__ void __launch_bounds__(kPassThreads<Pass::kInputs, Pass::kOutputs>)
    known_pass(const __grid_constant__ KnownArguments<Pass, T, Out> args) {
    const auto& pass = args.pass;
    if (!should_run(pass.guard)) {
        return;
    }
    if constexpr (kTakesLines<T, Out, Scaled>) {
        if (counts_lines(pass)) {
            known_pass_with_lines<Pass, T, Out>(args);
            return;
        }
        if (pass.only_if_scaled) {
            return;
        }
    }
    MagnitudeOf<T> seen = 0, seen_results = 0;
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
            [] { return Few(); }, pass.watch != nullptr,
            [&](const Few* const(&all)[Pass::kInputs]) {
#pragma unroll
                for (int i = 0; i < Pass::kInputs; ++i) {
                    note_largest<T, N * Together>(all[i]->element, seen);
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
    std::int64_t input_stride[Inputs], output_stride[kMostOutputs];  // between rows
    std::int64_t input_step[Inputs], output_step[kMostOutputs];      // between columns; all 1 where N is not
    ArithmeticOf<T> coefficient[kMostOutputs][Inputs];
};

template <class T, class Out, int Inputs>
__device__ __forceinline__ void any_pass_with_lines(const AnyArguments<T, Out, Inputs>& args) {
    const auto& pass = args.pass;
    using Wide = ArithmeticOf<T>;
    MagnitudeOf<T> seen = 0;
    for_each_place<1, 1>(pass, [&](const std::int64_t* rows, const std::int64_t* cols, const bool*) {
        const std::int64_t row = rows[0], col = cols[0];
        Wide value[Inputs];
#pragma unroll
        for (int i = 0; i < Inputs; ++i) {
            value[i] = Wide(0);
            if (i < args.inputs) {
                const T* const place = pass.input[i] + row * args.input_stride[i] + col * args.input_step[i];
                value[i] = times_power(widen(*place), exponent_at(pass.input_lines[i], row, col));
            }
        }
        if (pass.watch != nullptr) {
            note_largest<T, Inputs>(value, seen);
        }
#pragma unroll 1
        for (int j = 0; j < args.outputs; ++j) {
            Out* const place = pass.output[j] + row * args.output_stride[j] + col * args.output_step[j];
            Wide sum = Wide(0);
#pragma unroll
            for (int i = 0; i < Inputs; ++i) {
                sum += args.coefficient[j][i] * value[i];
            }
            sum = times_power(sum, -exponent_at(pass.output_lines[j], row, col));
            if (pass.keeps) {
                keep_old<Out, 1>(place, pass.keep, &sum);
            }
            store<Out, 1>(&sum, place);
        }
    });
    if (pass.watch != nullptr) {
        note_maximum(seen, pass.watch);
    }
}

template <class T, class Out, bool Scaled, int Inputs, int N>
__global__ void __launch_bounds__(kPassThreads<Inputs, 1>)
    any_pass(const __grid_constant__ AnyArguments<T, Out, Inputs> args) {
    const auto& pass = args.pass;
    if (!should_run(pass.guard)) {
        return;
    }
    if constexpr (kTakesLines<T, Out, Scaled>) {
        if (counts_lines(pass)) {
            any_pass_with_lines<T, Out, Inputs>(args);
            return;
        }
        if (pass.only_if_scaled) {
            return;
        }
    }
    using Wide = ArithmeticOf<T>;
    MagnitudeOf<T> seen = 0, seen_results = 0;
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

}  // namespace
}  // namespace heptad::cuda
