#include "bench/suites/bench_gpu_suite.hpp"

#include <algorithm>

#include "base/types.hpp"

namespace heptad::cli {
namespace {

// Full products of the types without 16-bit tensor cores take too long beyond.
constexpr std::int64_t kLargestSlow = 16384;

class Shapes {
public:
    explicit Shapes(std::int64_t largest) : largest_(largest) {}
    void add(std::int64_t m, std::int64_t k, std::int64_t n) {
        const bool known = std::any_of(shapes_.begin(), shapes_.end(), [&](const ProblemSize& size) {
            return size.m == m && size.k == k && size.n == n;
        });
        if (!known && std::max({m, k, n}) <= largest_) {
            shapes_.push_back({m, k, n});
        }
    }
    std::vector<ProblemSize> take() { return std::move(shapes_); }

private:
    std::int64_t largest_;
    std::vector<ProblemSize> shapes_;
};

}  // namespace

std::vector<ProblemSize> gpu_suite(Type type, bool quick) {
    const bool slow = type == Type::f32 || type == Type::f64 || is_integer(type) || is_complex(type);
    Shapes shapes(slow ? kLargestSlow : std::numeric_limits<std::int64_t>::max());
    using Sizes = std::vector<std::int64_t>;
    for (const std::int64_t n :
         quick ? Sizes{1024, 4096, 8192, 16384} : Sizes{128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768}) {
        shapes.add(n, n, n);
    }
    for (const std::int64_t n : quick ? Sizes{8191} : Sizes{1023, 4095, 8191, 16383}) {
        shapes.add(n, n, n);
    }
    for (const std::int64_t n : quick ? Sizes{16384} : Sizes{4096, 8192, 16384}) {
        shapes.add(n, 4096, n);
    }
    for (const std::int64_t k : quick ? Sizes{2048} : Sizes{1024, 2048, 4096, 16384}) {
        shapes.add(8192, k, 8192);
    }
    shapes.add(8192, 64, 8192);
    if (!quick) {
        shapes.add(64, 8192, 8192);
        shapes.add(8192, 8192, 64);
    }
    return shapes.take();
}

}  // namespace heptad::cli
