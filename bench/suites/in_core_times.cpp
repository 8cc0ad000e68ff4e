#include "bench/suites/in_core_times.hpp"

#include <algorithm>

#include "bench/suites/device_contest.hpp"
#include "bench/suites/device_operand.hpp"
#include "cli/interrupt.hpp"
#include "kernels/cuda/device/device.hpp"
#include "move/staging.hpp"
#include "product/device/device_product.hpp"

namespace heptad::cli {
namespace {

constexpr std::int64_t kReservedBytes = std::int64_t{1} << 30;  // the library, its kernels

void bring(const Matrix& from, const DeviceOperand& to, const cuda::Stream& stream) {
    const std::int64_t row_bytes = from.cols() * static_cast<std::int64_t>(element_bytes(from.type()));
    // Only read.
    auto* const data = static_cast<std::byte*>(const_cast<void*>(from.data()));
    Staging staging(stream.device());
    staging.upload({data, from.rows(), row_bytes, row_bytes}, {static_cast<std::byte*>(to.view.data), row_bytes},
                   stream);
    stream.synchronize();
}

InCoreTimes time_there(const DeviceOperand& a, const DeviceOperand& b, const DeviceOperand& c, const Options& options,
                       const ContestRules& rules, const cuda::Stream& stream,
                       const std::function<void(int round, int rounds)>& progress) {
    const int device = stream.device();
    Options limited = options;
    limited.workspace_limit_bytes = std::max<std::int64_t>(
        0, cuda::report().devices.at(static_cast<std::size_t>(device)).free_bytes - kReservedBytes);
    ProductContext context;
    context.stream = stream.handle();
    context.hooks.cancel = &interrupt_token();
    const ProductPlan plan = plan_device_product(a.view.rows, a.view.cols, b.view.cols, a.view.type, limited, context);
    cuda::Timer timer(device);
    const std::vector<Contestant> contestants{device_contestant("in-core", timer, stream.handle(), [&] {
        multiply_on_device(1, a.view, b.view, 0, c.view, limited, context);
    })};
    ContestHooks hooks;
    hooks.poison = [&] { cuda::fill_bytes(c.view.data, kDevicePoison, c.size_bytes, stream.handle()); };
    hooks.progress = progress;
    hooks.after_last_sample = [](std::size_t) {};
    return {run_contest(contestants, rules, hooks).front(), to_string(plan), plan.error_bound};
}

}  // namespace

InCoreTimes time_in_core(const Matrix& a, const Matrix& b, const Options& options, const ContestRules& rules,
                         const std::function<void(int round, int rounds)>& progress) {
    const int device = cuda::device_index(options.device);
    const cuda::DeviceScope scope(device);
    const cuda::Stream stream(device);
    const DeviceOperand there_a(a.type(), a.rows(), a.cols(), stream), there_b(b.type(), b.rows(), b.cols(), stream),
        there_c(a.type(), a.rows(), b.cols(), stream);
    bring(a, there_a, stream);
    bring(b, there_b, stream);
    return time_there(there_a, there_b, there_c, options, rules, stream, progress);
}

InCoreTimes time_in_core(Type type, const ProblemSize& size, const Options& options, const ContestRules& rules,
                         const std::function<void(int round, int rounds)>& progress) {
    const int device = cuda::device_index(options.device);
    const cuda::DeviceScope scope(device);
    const cuda::Stream stream(device);
    const RandomBlock random(type, std::max({size.m, size.k, size.n}), stream);
    const DeviceOperand a = random.matrix(size.m, size.k, 1), b = random.matrix(size.k, size.n, 2),
                        c(type, size.m, size.n, stream);
    return time_there(a, b, c, options, rules, stream, progress);
}

}  // namespace heptad::cli
