// Combine passes: many matrices in, many out, every value read once and written once. Which kernel does a pass, and
// how it is started. Included by one file per element type, so that they compile side by side.
#pragma once

#include <algorithm>
#include <utility>

#include "kernels/cuda/combine/pass_kernels.cuh"
#include "known_passes.cuh"  // generated

namespace heptad::cuda {
namespace {

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
        for (auto* list : {&launch.input_lines, &launch.output_lines}) {
            for (DeviceLines& x : *list) {
                std::swap(x.rows, x.cols);
            }
        }
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
    args.watch_results = launch.watch_results;
    args.scale = launch.scale;
    args.guard = launch.guard;
    args.has_lines = !launch.output_lines.empty();
    args.only_if_scaled = launch.only_if_scaled;
    args.scaled = launch.scaled;
    if (args.has_lines) {
        std::copy(launch.input_lines.begin(), launch.input_lines.end(), args.input_lines);
        std::copy_n(launch.output_lines.begin() + static_cast<std::ptrdiff_t>(first), count, args.output_lines);
    }
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

template <class Pass>
bool is_pass(const LinearLaunch& launch) {
    return launch.inputs.size() == Pass::kInputs && launch.outputs.size() == Pass::kOutputs &&
           std::equal(launch.coefficients.begin(), launch.coefficients.end(), Pass::kCoefficients) &&
           has_unit_steps(launch) && have_one_stride(launch.inputs) && have_one_stride(launch.outputs);
}

template <class T, class Out, bool Scaled, class... Passes>
bool try_passes(const LinearLaunch& launch, cudaStream_t stream, DeviceStatus& status, PassList<Passes...>) {
    return ((is_pass<Passes>(launch) && (status = launch_known<Passes, T, Out, Scaled>(launch, stream), true)) || ...);
}

/// Scaled sums in another type are all copied out of their operand, rounded ones may leave its own blocks where they
/// are, and neither is a result; what is scaled back is nothing but that.
template <class T, class Out, bool Scaled>
bool try_known(const LinearLaunch& launch, cudaStream_t stream, DeviceStatus& status) {
    constexpr bool kOneType = std::is_same_v<T, Out> && Scaled == kMayBeScaled<T>;
    constexpr bool kRounds = std::is_same_v<Out, Tf32>;
    constexpr bool kScalesBack = !kOneType && !kRounds && !std::is_same_v<Out, __half>;
    const auto tries = [&](auto passes) { return try_passes<T, Out, Scaled>(launch, stream, status, passes); };
    if constexpr (!kScalesBack) {
        if (tries(CopyingPasses{})) {
            return true;
        }
    }
    if constexpr (kOneType || kRounds) {
        if (tries(SumPasses{})) {
            return true;
        }
    }
    if constexpr (kOneType || kScalesBack) {
        return tries(ResultPasses{});
    }
    return false;
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
        if (!launch.input_lines.empty()) {
            part.input_lines.assign(launch.input_lines.begin() + static_cast<std::ptrdiff_t>(first),
                                    launch.input_lines.begin() + static_cast<std::ptrdiff_t>(first + count));
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
    if (try_known<T, Out, Scaled>(launch, stream, status)) {
        return status;
    }
    const std::size_t inputs = launch.inputs.size();
    if constexpr (std::is_same_v<T, Out>) {
        if (inputs == 1 && launch.outputs.size() == 1 && launch.watch == nullptr && launch.output_lines.empty() &&
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
