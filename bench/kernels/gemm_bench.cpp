// Rates of our own product kernels on one thread, and of a plain triple loop blocked for cache as the yardstick.
//   gemm_bench --benchmark_min_time=0.2
#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>
#include <vector>

#include "backend/cpu/kernels.hpp"

namespace heptad::cpu {
namespace {

template <class T>
std::vector<T> random_entries(std::int64_t count) {
    std::mt19937 random(1);
    std::uniform_int_distribution<int> entries(-100, 100);
    std::vector<T> result(static_cast<std::size_t>(count));
    for (T& x : result) {
        x = static_cast<T>(entries(random));
    }
    return result;
}

/// What a careful programmer writes without vectors in mind: blocks that fit the cache, rows walked in order.
template <class T>
void blocked_triple_loop(std::int64_t size, const T* a, const T* b, T* c) {
    constexpr std::int64_t side = 64;
    std::fill(c, c + size * size, T{0});
    for (std::int64_t i0 = 0; i0 < size; i0 += side) {
        for (std::int64_t p0 = 0; p0 < size; p0 += side) {
            for (std::int64_t j0 = 0; j0 < size; j0 += side) {
                for (std::int64_t i = i0; i < std::min(i0 + side, size); ++i) {
                    for (std::int64_t j = j0; j < std::min(j0 + side, size); ++j) {
                        T sum = c[i * size + j];
                        for (std::int64_t p = p0; p < std::min(p0 + side, size); ++p) {
                            sum = static_cast<T>(sum + a[i * size + p] * b[p * size + j]);
                        }
                        c[i * size + j] = sum;
                    }
                }
            }
        }
    }
}

void report_rate(benchmark::State& state, std::int64_t size) {
    const double operations = 2.0 * static_cast<double>(size) * static_cast<double>(size) * static_cast<double>(size);
    state.counters["GOP/s"] = benchmark::Counter(operations * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

template <class T>
void gemm_square(benchmark::State& state) {
    const std::int64_t size = state.range(0);
    const std::vector<T> a = random_entries<T>(size * size), b = a;
    std::vector<T> c(a.size());
    const auto view = [size](auto* data) {
        return MatrixView<std::remove_pointer_t<decltype(data)>>::row_major(data, size, size);
    };
    const Product product{1, view(a.data()), view(b.data()), 0, view(c.data())};
    for (auto _ : state) {
        gemm(product);
        benchmark::ClobberMemory();
    }
    report_rate(state, size);
}

template <class T>
void triple_loop(benchmark::State& state) {
    const std::int64_t size = state.range(0);
    const std::vector<T> a = random_entries<T>(size * size), b = a;
    std::vector<T> c(a.size());
    for (auto _ : state) {
        blocked_triple_loop(size, a.data(), b.data(), c.data());
        benchmark::ClobberMemory();
    }
    report_rate(state, size);
}

void sizes(benchmark::internal::Benchmark* bench) {
    for (const std::int64_t size : {4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048}) {
        bench->Arg(size);
    }
}
BENCHMARK_TEMPLATE(gemm_square, float)->Apply(sizes);
BENCHMARK_TEMPLATE(gemm_square, double)->Apply(sizes);
BENCHMARK_TEMPLATE(gemm_square, std::int32_t)->Apply(sizes);
BENCHMARK_TEMPLATE(triple_loop, std::uint32_t)->Arg(512)->Arg(1024);

}  // namespace
}  // namespace heptad::cpu

BENCHMARK_MAIN();
