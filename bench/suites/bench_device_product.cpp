#include "bench/suites/bench_device_product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "base/error.hpp"
#include "base/types.hpp"
#include "bench/suites/cublas_emulation.hpp"
#include "bench/suites/device_contest.hpp"
#include "bench/suites/device_energy.hpp"
#include "bench/suites/device_error.hpp"
#include "bench/suites/device_loop.hpp"
#include "cli/interrupt.hpp"
#include "cli/text.hpp"
#include "product/device/device_product.hpp"
#include "product/request/request.hpp"

namespace heptad::cli {
namespace {

constexpr double kEnergyOperations = 2e11;    // smaller products are not weighed
constexpr double kEnergySeconds = 0.3;        // how long they are repeated for that
constexpr std::array kEmulatedBits{53, 55};   // what f64 has, and what the library takes where it is free to
constexpr std::int64_t kEmulationBytes = 48;  // of workspace for each entry of A, B and C
constexpr double kEnergyRunInSeconds = 0.1;   // the counter lags; before and after it lags behind the same load

std::optional<double> joules_of(const Contestant& contestant, double call_s, int device) {
    if (!cuda::energy_joules(device)) {
        return std::nullopt;
    }
    const auto calls_in = [&](double seconds) { return static_cast<std::int64_t>(std::ceil(seconds / call_s)); };
    contestant.run_timed(calls_in(kEnergyRunInSeconds));
    const std::optional<double> before = cuda::energy_joules(device);
    contestant.run_timed(calls_in(kEnergySeconds));
    const std::optional<double> after = cuda::energy_joules(device);
    stop_if_interrupted();
    if (!before || !after) {
        return std::nullopt;
    }
    return (*after - *before) / static_cast<double>(calls_in(kEnergySeconds));
}

cuda::DeviceMatrix rows_on_device(const ConstView& view) {
    return {const_cast<void*>(view.data), view.rows, view.cols, view.row_stride, view.col_stride};
}

void multiply_by_loop(const Product& product, void* stream) {
    const cuda::DeviceStatus status =
        launch_i64_loop(rows_on_device(product.a), rows_on_device(product.b), rows_on_device(product.c), stream);
    if (status != 0) {
        fail(ErrorCode::internal, "CUDA could not multiply 64-bit integers (error {})", status);
    }
}

}  // namespace

void require_right(const BenchRecord& record) {
    const ProblemSize& size = record.size;
    if (is_integer(record.type) && (record.error != 0 || record.vendor_error != 0)) {
        fail(ErrorCode::verification, "the {} product of {} x {} x {} by {} is wrong modulo 2^{}",
             type_name(record.type), size.m, size.k, size.n, record.error != 0 ? "heptad" : record.vendor,
             8 * element_bytes(record.type));
    }
    // Written so that a NaN fails too.
    if (!(record.error <= record.error_bound)) {
        fail(ErrorCode::verification,
             "the {} product of {} x {} x {} has an error of {:.3g}, above its bound of {:.3g}; the plan was: {}",
             type_name(record.type), size.m, size.k, size.n, record.error, record.error_bound, record.plan);
    }
}

BenchRecord bench_device_product(const DeviceOperand& a, const DeviceOperand& b, const DeviceOperand& c,
                                 cuda::CudaBackend& vendor, const cuda::Stream& stream,
                                 const DeviceBenchSettings& settings,
                                 const std::function<void(int round, int rounds)>& progress) {
    const Type type = a.view.type;
    const bool integers = is_integer(type);
    Options options;
    options.device = settings.device;
    options.accuracy = settings.accuracy;
    options.algorithm = settings.algorithm;
    options.leaf = settings.leaf;
    options.levels = settings.levels;
    options.workspace_limit_bytes = settings.workspace_limit_bytes;
    ProductContext context;
    context.stream = stream.handle();
    context.hooks.cancel = &interrupt_token();
    const ProductPlan plan = plan_device_product(a.view.rows, a.view.cols, b.view.cols, type, options, context);

    const Product product{1, a.view, b.view, 0, c.view};
    const std::string vendor_leaf = integers ? "heptad" : "cublas";
    cuda::Timer timer(stream.device());
    std::vector<Contestant> contestants{
        device_contestant(integers ? "heptad-cuda-cores" : "cublas", timer, stream.handle(),
                          [&] {
                              if (type == Type::i64) {
                                  multiply_by_loop(product, stream.handle());
                              } else {
                                  vendor.multiply({&product, 1}, vendor_leaf);
                              }
                          }),
        device_contestant("heptad", timer, stream.handle(),
                          [&] { multiply_on_device(1, a.view, b.view, 0, c.view, options, context); })};
    std::vector<std::unique_ptr<cuda::CublasEmulation>> emulations;
    if (settings.with_emulation && type == Type::f64 && cuda::CublasEmulation::is_there()) {
        // Slices of A and B in bytes and sums of theirs in 32 bits: more than it takes, as far as there is memory.
        const std::int64_t entries = plan.m * plan.k + plan.k * plan.n + plan.m * plan.n;
        const std::int64_t bytes = std::min(settings.workspace_limit_bytes / 4, kEmulationBytes * entries);
        for (const int bits : kEmulatedBits) {
            emulations.push_back(
                std::make_unique<cuda::CublasEmulation>(stream.device(), stream.handle(), bits, bytes));
            contestants.push_back(
                device_contestant(fmt::format("cublas-emulated-{}", bits), timer, stream.handle(),
                                  [&product, own = emulations.back().get()] { own->multiply(product); }));
        }
    }
    if (settings.uniform_a.data != nullptr) {
        contestants.push_back(device_contestant("heptad, uniform data", timer, stream.handle(), [&] {
            multiply_on_device(1, settings.uniform_a, settings.uniform_b, 0, c.view, options, context);
        }));
    }
    warm_up_device(contestants);

    const DeviceError error(a.view, b.view, vendor, stream);
    std::vector<double> errors(contestants.size());
    std::vector<int> bits_used(emulations.size());
    ContestHooks hooks;
    hooks.poison = [&] { cuda::fill_bytes(c.view.data, kDevicePoison, c.size_bytes, stream.handle()); };
    hooks.progress = [&](int round, int rounds) {
        stop_if_interrupted();
        progress(round, rounds);
    };
    hooks.after_last_sample = [&](std::size_t i) {
        errors[i] = error.of(c.view);
        if (i >= 2 && i - 2 < emulations.size()) {
            bits_used[i - 2] = emulations[i - 2]->bits_used();
        }
    };
    const std::vector<Timing> timings = run_contest(contestants, settings.rules, hooks);

    BenchRecord record;
    record.suite = "gpu";
    record.type = type;
    record.size = {plan.m, plan.k, plan.n};
    record.device = settings.device_name;
    set_times(record, timings[0], timings[1]);
    record.vendor_error = errors[0];
    record.error = errors[1];
    record.error_bound = plan.error_bound;
    record.workspace_bytes = plan.workspace_bytes;
    record.predicted_s = plan.predicted_s;
    record.levels = static_cast<int>(plan.levels.size());
    record.accuracy = accuracy_name(settings.accuracy);
    record.plan = to_string(plan);
    record.libraries_s.emplace_back(record.vendor, record.vendor_s);
    for (std::size_t i = 0; i < emulations.size(); ++i) {
        const Timing& timing = timings[2 + i];
        record.emulated.push_back({kEmulatedBits[i], bits_used[i], timing.median_s, errors[2 + i], {}});
        record.libraries_s.emplace_back(timing.name, timing.median_s);
    }
    if (settings.uniform_a.data != nullptr) {
        record.over_uniform = record.heptad_s / timings.back().median_s;
    }
    require_right(record);
    if (operation_count(record.size) >= kEnergyOperations) {
        for (std::size_t i = 0; i < emulations.size(); ++i) {
            record.emulated[i].joules = joules_of(contestants[2 + i], record.emulated[i].seconds, stream.device());
        }
        record.vendor_joules = joules_of(contestants[0], record.vendor_s, stream.device());
        record.joules = joules_of(contestants[1], record.heptad_s, stream.device());
    }
    return record;
}

}  // namespace heptad::cli
