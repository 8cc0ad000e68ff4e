#include "product/device/device_choice.hpp"

#include <limits>

#include "base/fail_if.hpp"
#include "base/types.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/device/loaded_driver.hpp"
#include "product/device/host_operand_plan.hpp"
#include "product/memory/validate.hpp"

namespace heptad {
namespace {

/// By estimate, what a process pays once that has not used a device yet: on an H200 a process that only looks at its
/// devices takes 0.4 s in all.
/// Counted every time, so that equal products go the same way and give the same bits.
constexpr double kStart_s = 0.3;

/// Below this many multiplications a processor of one core and 10 GFLOP/s is done before a device has started.
constexpr double kLeastWork = kStart_s * 10e9 / 2;

bool is_short_for_devices(std::int64_t m, std::int64_t k, std::int64_t n) {
    return static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n) < kLeastWork;
}

bool runs_on_devices(Type type) {
    return !cuda::device_leaves(type).empty();
}

/// Where the product is to be rounded once: do devices do that?
bool may_round_once(Type type, const Options& options) {
    return options.accuracy != Accuracy::exact || !is_float(type) || type == Type::f32 || type == Type::f64;
}

/// Infinity where it refuses: for its memory, or the length of sums.
double seconds_on_device(const ProblemSize& size, Type type, Type result_type, const Options& options,
                         const ProductContext& context) {
    try {
        return predicted_from_host_s(size, type, result_type, options.accumulate, options, context);
    } catch (const Error&) {
        return std::numeric_limits<double>::infinity();
    }
}

}  // namespace

std::optional<std::string> device_of_matrices(const std::string& asked, std::initializer_list<NamedMatrix> matrices) {
    if (cuda::is_device_name(asked)) {
        return std::nullopt;
    }
    for (const NamedMatrix& matrix : matrices) {
        const std::optional<int> device = matrix.empty ? std::nullopt : cuda::device_holding(matrix.data);
        if (!device) {
            continue;
        }
        fail_if(asked != "auto", ErrorCode::input,
                "{} is on cuda:{}, and the product is to run on {}; set the device to auto, or copy the "
                "matrices to host memory",
                matrix.name, *device, asked);
        return "cuda:" + std::to_string(*device);
    }
    return std::nullopt;
}

std::optional<std::string> device_of_matrices(const std::string& asked, const ConstView& a, const ConstView& b,
                                              const ConstView& c) {
    const auto named = [](const char* name, const ConstView& view) {
        return NamedMatrix{name, view.data, view.rows == 0 || view.cols == 0};
    };
    return device_of_matrices(asked, {named("A", a), named("B", b), named("C", c)});
}

std::string device_that_pays(const ProblemSize& size, Type type, Type result_type, const Options& options,
                             const ProductContext& context) {
    const bool is_free = options.algorithm == "auto" && options.levels < 0 && options.mode == "auto" &&
                         options.leaf == "auto" && may_round_once(type, options);
    if (options.device != "auto" || !is_free || is_short_for_devices(size.m, size.k, size.n) ||
        !runs_on_devices(type) || context.workspace_bytes >= 0) {
        return options.device;
    }
    const double processor_s = plan_product(size.m, size.k, size.n, type, options, context).predicted_s;
    if (processor_s < kStart_s || !cuda::known_report().available) {
        return options.device;
    }
    Options there = options;
    there.device = "cuda";
    const double device_s = seconds_on_device(size, type, result_type, there, context);
    return device_s + kStart_s < processor_s ? there.device : options.device;
}

std::string device_that_pays(const ConstView& a, const ConstView& b, double beta, const View& c, const Options& options,
                             const ProductContext& context) {
    for (const ConstView& view : {a, b, ConstView(c)}) {
        if (view.row_stride != 1 && view.col_stride != 1) {
            return options.device;
        }
    }
    if (options.device != "auto" || is_short_for_devices(a.rows, a.cols, b.cols)) {
        return options.device;
    }
    validate_product(1, a, b, beta, c);
    Options adding = options;
    adding.accumulate = beta != 0;
    return device_that_pays({a.rows, a.cols, b.cols}, a.type, c.type, adding, context);
}

}  // namespace heptad
