// The classical product that answers where sums cannot be trusted, against cuBLAS's of the same matrices on a device:
// its speed, and how far the two are apart. Fails where that is farther than rounding explains.
//   answer_bench [type ...] [n ...]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/device_layout.hpp"
#include "base/half.hpp"
#include "base/types.hpp"
#include "device_turns.hpp"
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
        type == Type::bf16  ? put(at, to_bf16(x))
        : type == Type::f16 ? put(at, to_f16(x))
        : type == Type::f64 ? put(at, static_cast<double>(x))
                            : put(at, x);
    }
    for (std::size_t at = first; at < bytes.size(); ++at) {
        bytes[at] = bytes[at - first];
    }
    return bytes;
}

/// Every 61st row of a matrix on the device.
std::vector<double> some_rows(const View& matrix, const cuda::Stream& stream) {
    constexpr std::int64_t kStep = 61;
    const auto element = static_cast<std::int64_t>(element_bytes(matrix.type));
    const std::int64_t rows = (matrix.rows + kStep - 1) / kStep, row_bytes = matrix.cols * element;
    std::vector<std::byte> bytes(static_cast<std::size_t>(rows * row_bytes));
    cuda::copy_rows(matrix.data, kStep * row_bytes, bytes.data(), row_bytes, row_bytes, rows, stream.handle());
    stream.synchronize();
    std::vector<double> entries;
    for (std::size_t at = 0; at < bytes.size(); at += static_cast<std::size_t>(element)) {
        const auto as = [&](auto x) {
            std::memcpy(&x, bytes.data() + at, sizeof x);
            return x;
        };
        entries.push_back(matrix.type == Type::bf16  ? to_float(as(bf16{}))
                          : matrix.type == Type::f16 ? to_float(as(f16{}))
                          : matrix.type == Type::f64 ? as(double{})
                                                     : as(float{}));
    }
    return entries;
}

/// |x - y| / |y|, in the 2-norm.
double distance(const std::vector<double>& x, const std::vector<double>& y) {
    double of_difference = 0, of_y = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        of_difference += (x[i] - y[i]) * (x[i] - y[i]);
        of_y += y[i] * y[i];
    }
    return std::sqrt(of_difference / of_y);
}

/// A backend whose guard has watched A and B, as it has behind levels, and finds all below `limit` safe.
struct Judged {
    cuda::CudaBackend backend;
    cuda::DeviceMemory reserved;
    Judged(const Product& product, double limit, const cuda::Stream& stream)
        : backend(0, stream.handle()), reserved(0, bytes(product), stream.handle()) {
        const std::int64_t m = product.c.rows, k = product.a.cols, n = product.c.cols;
        backend.begin_product(reserved.data(), bytes(product));
        backend.deferred_guard()->start({limit, limit, limit}, m, k, n);
        backend.deferred_guard()->watch(0, product.a);
        backend.deferred_guard()->watch(1, product.b);
    }
    static std::int64_t bytes(const Product& product) {
        return guard_bytes(product.c.rows, product.a.cols, product.c.cols);
    }
};

bool compare(Type type, std::int64_t n) {
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
    Judged unsafe(product, 0, stream), safe(product, 1e300, stream);
    const auto answer = [&](Judged& judged) {
        judged.backend.deferred_guard()->answer_if_unsafe(
            product, {static_cast<std::byte*>(free.data()), static_cast<std::size_t>(2 * bytes)});
    };
    const std::function<void()> ways[] = {[&] {
                                              backend.multiply({&product, 1}, "cublas");
                                          },
                                          [&] { answer(unsafe); }, [&] { answer(safe); }};
    ways[0]();
    const std::vector<double> expected = some_rows(product.c, stream);
    cuda::copy_rows(host.data(), bytes, c.data(), bytes, bytes, 1, stream.handle());
    ways[1]();
    const double apart = distance(some_rows(product.c, stream), expected);
    // Both round operands or results once, and sums of n products in their own order.
    const double explained =
        3 * unit_roundoff(type) + 2 * std::sqrt(static_cast<double>(n)) * (type == Type::f64 ? 0x1p-53 : 0x1p-24);
    const bool is_right = apart <= explained;  // a NaN is not
    const std::vector<double> seconds = timed_in_turns(stream, ways, 7);
    const double vendor = seconds[0], ours = seconds[1], standing_by = seconds[2];
    const double operations = 2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
    std::printf(
        "%-5s n = %6lld: cublas %9.1f us, answer %9.1f us (%.0f TFLOP/s), ratio %.3f; not needed %.1f us; apart "
        "%.1e%s\n",
        std::string(type_name(type)).c_str(), static_cast<long long>(n), vendor * 1e6, ours * 1e6,
        operations / ours * 1e-12, vendor / ours, standing_by * 1e6, apart, is_right ? "" : " WRONG");
    std::fflush(stdout);
    return is_right;
}

}  // namespace
}  // namespace heptad

int main(int argc, char** argv) {
    using heptad::Type;
    std::vector<Type> types;
    std::vector<std::int64_t> sizes;
    for (int i = 1; i < argc; ++i) {
        const Type all[] = {Type::bf16, Type::f16, Type::tf32, Type::f32, Type::f64};
        const auto* const named = std::find_if(std::begin(all), std::end(all), [&](Type type) {
            return std::string_view(heptad::type_name(type)) == argv[i];
        });
        if (named != std::end(all)) {
            types.push_back(*named);
        } else {
            sizes.push_back(std::atoll(argv[i]));
        }
    }
    if (types.empty()) {
        types = {Type::bf16, Type::f16, Type::tf32, Type::f32, Type::f64};
    }
    if (sizes.empty()) {
        sizes = {4096, 8192, 16384, 8191};
    }
    bool all_right = true;
    for (const Type type : types) {
        for (const std::int64_t n : sizes) {
            all_right = heptad::compare(type, n) && all_right;
        }
    }
    return all_right ? 0 : 1;
}
