// The classical product that answers where sums cannot be trusted, against cuBLAS's of the same matrices on a device.
//   answer_bench [n ...]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/half.hpp"
#include "base/types.hpp"
#include "kernels/cuda/device/cuda_backend.hpp"
#include "kernels/cuda/device/device.hpp"

namespace heptad {
namespace {

/// Uniform in [-1, 1]; the same 2^20 numbers again and again.
std::vector<std::byte> random_bytes(Type type, std::int64_t count) {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> uniform(-1, 1);
    const std::size_t element = element_bytes(type);
    std::vector<std::byte> bytes(static_cast<std::size_t>(count) * element);
    const std::size_t first = std::min<std::size_t>(bytes.size(), element << 20);
    const auto put = [&](std::size_t at, auto x) { std::memcpy(bytes.data() + at, &x, sizeof x); };
    for (std::size_t at = 0; at < first; at += element) {
        const float x = uniform(random);
        type == Type::bf16 ? put(at, to_bf16(x)) : type == Type::f16 ? put(at, to_f16(x)) : put(at, x);
    }
    for (std::size_t at = first; at < bytes.size(); ++at) {
        bytes[at] = bytes[at - first];
    }
    return bytes;
}

double median(std::vector<double> x) {
    std::sort(x.begin(), x.end());
    return x[x.size() / 2];
}

void compare(Type type, std::int64_t n) {
    const cuda::Stream stream(0);
    cuda::CudaBackend backend(0, stream.handle());
    const std::vector<std::byte> host = random_bytes(type, n * n);
    const auto bytes = static_cast<std::int64_t>(host.size());
    const cuda::DeviceMemory a(0, bytes, stream.handle()), b(0, bytes, stream.handle()), c(0, bytes, stream.handle()),
        free(0, 2 * bytes, stream.handle());
    cuda::copy_rows(host.data(), bytes, a.data(), bytes, bytes, 1, stream.handle());
    cuda::copy_rows(host.data(), bytes, b.data(), bytes, bytes, 1, stream.handle());
    const auto view = [&](const cuda::DeviceMemory& memory) { return View{memory.data(), type, n, n, n, 1}; };
    const Product product{1, view(a), view(b), 0, view(c)};
    const auto answer = [&](double limit) {
        backend.begin_product(nullptr, 0);
        backend.deferred_guard()->start({limit, limit, limit}, n, n, n);
        backend.deferred_guard()->answer_if_unsafe(
            product, {static_cast<std::byte*>(free.data()), static_cast<std::size_t>(2 * bytes)});
        backend.deferred_guard()->finish();
    };
    const std::function<void()> ways[] = {[&] {
                                              backend.multiply({&product, 1}, "cublas");
                                          },
                                          [&] { answer(0); }, [&] { answer(1e300); }};
    std::vector<double> times[3];
    for (int round = 0; round < 9; ++round) {
        for (int way = 0; way < 3; ++way) {
            stream.synchronize();
            const auto from = std::chrono::steady_clock::now();
            ways[way]();
            stream.synchronize();
            if (round >= 2) {
                times[way].push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count());
            }
        }
    }
    const double vendor = median(times[0]), ours = median(times[1]), standing_by = median(times[2]);
    const double operations = 2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
    std::printf("%-5s n = %6lld: cublas %9.1f us, answer %9.1f us (%.0f TFLOP/s), ratio %.3f; not needed %.1f us\n",
                std::string(type_name(type)).c_str(), static_cast<long long>(n), vendor * 1e6, ours * 1e6,
                operations / ours * 1e-12, vendor / ours, standing_by * 1e6);
}

}  // namespace
}  // namespace heptad

int main(int argc, char** argv) {
    std::vector<std::int64_t> sizes;
    for (int i = 1; i < argc; ++i) {
        sizes.push_back(std::atoll(argv[i]));
    }
    if (sizes.empty()) {
        sizes = {4096, 8192, 16384, 8191};
    }
    for (const heptad::Type type :
         {heptad::Type::bf16, heptad::Type::f16, heptad::Type::tf32, heptad::Type::f32, heptad::Type::f64}) {
        for (const std::int64_t n : sizes) {
            heptad::compare(type, n);
        }
    }
}
