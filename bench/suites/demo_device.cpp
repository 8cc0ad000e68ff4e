#include <fmt/format.h>

#include "bench/suites/bench_device_product.hpp"
#include "bench/suites/demo_lines.hpp"
#include "kernels/cuda/device/device.hpp"

namespace heptad::cli {
namespace {

DemoLine against_cublas(Type type, std::int64_t n, const DemoSettings& settings) {
    constexpr int kFirst = 0;
    const cuda::DeviceInfo info = cuda::report().devices.at(kFirst);
    const cuda::DeviceScope scope(kFirst);
    const cuda::Stream stream(kFirst);
    cuda::CudaBackend vendor(kFirst, stream.handle());
    const RandomBlock random(type, n, stream);
    const DeviceOperand a = random.matrix(n, n, 1), b = random.matrix(n, n, 2), c(type, n, n, stream);
    DeviceBenchSettings bench;
    bench.device_name = info.name;
    bench.rules.rounds = settings.rounds;
    bench.workspace_limit_bytes = info.free_bytes / 2;
    const BenchRecord record =
        bench_device_product(a, b, c, vendor, stream, bench, [&](int, int) { settings.stop_if_interrupted(); });
    return {fmt::format("{} gpu", type_name(type)),
            fmt::format("{} {} x {}", type_name(type), n, n),
            record.heptad_s,
            record.ratio,
            record.vendor,
            fmt::format("{} x {}'s", error_ratio_text(record), record.vendor)};
}

}  // namespace

std::vector<DemoStep> demo_device_steps() {
    const cuda::Report report = cuda::report();
    if (!report.available || report.devices.empty()) {
        return {};
    }
    return {[](const DemoSettings& settings) { return against_cublas(Type::f32, settings.size(8192), settings); },
            [](const DemoSettings& settings) { return against_cublas(Type::f64, settings.size(8192), settings); },
            [](const DemoSettings& settings) { return against_cublas(Type::bf16, settings.size(8192), settings); }};
}

}  // namespace heptad::cli
