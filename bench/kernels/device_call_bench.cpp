// What a small product on a device costs the host beyond cuBLAS's own call, and where: nanoseconds of the calling
// thread for one call and for its steps, medians of rounds in turns. Calls are enqueued and not waited for within a
// round.
//   device_call_bench
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include <heptad/heptad.hpp>

#include "base/timing.hpp"
#include "base/types.hpp"
#include "kernels/cuda/device/cuda_backend.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/device/loaded_driver.hpp"
#include "product/device/device_product.hpp"
#include "product/device/repeated_calls.hpp"
#include "product/memory/validate.hpp"

namespace heptad {
namespace {

struct Step {
    std::string name;
    std::function<void()> call;
};

/// Of each step, in turns. A round is short enough for the queue of a stream.
std::vector<double> nanoseconds(const std::vector<Step>& steps, int calls, const cuda::Stream& stream) {
    constexpr int kRounds = 101;
    std::vector<std::vector<double>> times(steps.size());
    for (int round = 0; round < kRounds; ++round) {
        for (std::size_t i = 0; i < steps.size(); ++i) {
            steps[i].call();
            stream.synchronize();
            const auto start = Clock::now();
            for (int call = 0; call < calls; ++call) {
                steps[i].call();
            }
            times[i].push_back(seconds_since(start) * 1e9 / calls);
            stream.synchronize();
        }
    }
    std::vector<double> medians;
    for (std::vector<double>& of_step : times) {
        medians.push_back(median(of_step));
    }
    return medians;
}

void print(const std::vector<Step>& steps, int calls, const cuda::Stream& stream) {
    const std::vector<double> times = nanoseconds(steps, calls, stream);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        std::printf("  %-52s %9.0f ns\n", steps[i].name.c_str(), times[i]);
    }
}

void compare(Type type, std::int64_t n, const cuda::Stream& stream) {
    constexpr int kCalls = 100;
    const std::int64_t bytes = n * n * static_cast<std::int64_t>(element_bytes(type));
    const cuda::DeviceMemory a(0, bytes, stream.handle()), b(0, bytes, stream.handle()), c(0, bytes, stream.handle());
    for (const auto* memory : {&a, &b, &c}) {
        cuda::fill_bytes(memory->data(), 0, bytes, stream.handle());
    }
    const Product product{1, ConstView(a.data(), type, n, n, n, 1), ConstView(b.data(), type, n, n, n, 1), 0,
                          View(c.data(), type, n, n, n, 1)};
    const auto any = [n, type](const cuda::DeviceMemory& memory) {
        AnyView view;
        view.data = memory.data();
        view.type = type;
        view.rows = view.cols = view.row_stride = n;
        view.col_stride = 1;
        return view;
    };
    const AnyView any_a = any(a), any_b = any(b), any_c = any(c);
    cuda::CudaBackend vendor(0, stream.handle());
    Context context;
    context.set_stream(stream.handle());
    ProductContext inner;
    inner.stream = stream.handle();
    Options open, named;
    named.device = "cuda";
    std::printf("%s, n = %lld\n", type_name(type), static_cast<long long>(n));
    print({{"cuBLAS's call",
            [&] {
                vendor.multiply({&product, 1}, "cublas");
            }},
           {"heptad::multiply, device left open", [&] { multiply(1, any_a, any_b, 0, any_c, open, context); }},
           {"heptad::multiply, device named", [&] { multiply(1, any_a, any_b, 0, any_c, named, context); }},
           {"the same, with a token to cancel",
            [&] {
                const CancelToken token;
                ProductContext cancellable = inner;
                cancellable.hooks.cancel = &token;
                multiply_on_device(product, named, cancellable);
            }},
           {"the long way (a progress callback)",
            [&] {
                ProductContext told = inner;
                told.hooks.progress = [](const Progress&) {};
                multiply_on_device(product, named, told);
            }},
           {"cuBLAS's call, again",
            [&] {
                vendor.multiply({&product, 1}, "cublas");
            }}},
          kCalls, stream);
    if (!repeat_on_device(product, open, inner)) {
        std::printf("  (not a repeated call here: its plan is more than one call of cuBLAS)\n");
    }
}

void steps_alone(const cuda::Stream& stream) {
    constexpr int kCalls = 2000;
    constexpr std::int64_t kSide = 128;
    const cuda::DeviceMemory memory(0, 3 * kSide * kSide * 4, stream.handle());
    auto* const at = static_cast<float*>(memory.data());
    const View a(at, Type::f32, kSide, kSide, kSide, 1), b(at + kSide * kSide, Type::f32, kSide, kSide, kSide, 1),
        c(at + 2 * kSide * kSide, Type::f32, kSide, kSide, kSide, 1);
    Options named;
    named.device = "cuda";
    ProductContext inner;
    inner.stream = stream.handle();
    const auto keep = cuda::backend_for(0, stream.handle());
    volatile bool sink = false;
    std::printf("steps\n");
    print({{"where a pointer lies (cuPointerGetAttributes)", [&] { sink = cuda::device_holding(at).has_value(); }},
           {"current device (cudaGetDevice)", [&] { const cuda::DeviceScope scope(0); }},
           {"capture mode, there and back", [&] { const cuda::CaptureScope scope; }},
           {"is the stream captured", [&] { sink = cuda::is_captured(stream.handle()); }},
           {"backend of the stream, and its lock",
            [&] {
                const auto backend = cuda::kept_backend(0, stream.handle());
                const std::lock_guard lock(backend->mutex());
            }},
           {"are the views valid, quickly", [&] { sink = is_plainly_valid(a, b, c); }},
           {"are the views valid, with reasons", [&] { validate_product(1, a, b, 0, c); }},
           {"plan from the cache, copied",
            [&] { sink = plan_device_product(kSide, kSide, kSide, Type::f32, named, inner).padded; }},
           {"workspace of 1 MiB from the pool",
            [&] { const cuda::DeviceMemory workspace(0, std::int64_t{1} << 20, stream.handle()); }},
           {"options, copied",
            [&] {
                const Options copy = named;
                sink = copy.levels < 0;
            }}},
          kCalls, stream);
}

int run() {
    if (const cuda::Report& report = cuda::known_report(); !report.available) {
        std::fprintf(stderr, "device_call_bench: no CUDA device: %s\n", report.problem.c_str());
        return 1;
    }
    const cuda::Stream stream(0);
    steps_alone(stream);
    for (const Type type : {Type::f32, Type::f64, Type::bf16}) {
        for (const std::int64_t n : {128, 256, 512, 1024}) {
            compare(type, n, stream);
        }
    }
    return 0;
}

}  // namespace
}  // namespace heptad

int main() {
    try {
        return heptad::run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "device_call_bench: %s\n", error.what());
        return 1;
    }
}
