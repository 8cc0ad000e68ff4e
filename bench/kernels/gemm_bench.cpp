// Rates of our own product kernels on one thread, and of plain triple loops blocked for cache as yardsticks.
//   gemm_bench --benchmark_min_time=0.2
#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>
#include <vector>

#include "kernels/cpu/cpu_features.hpp"

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

/// Triple loops in blocks that fit the cache, two orders of the inner loops. `dot`: the sum of one element of C is
/// innermost and B is walked down a column, which compilers leave scalar. `row`: a row of B is innermost, which they
/// turn into vectors; the stronger yardstick.
enum class LoopOrder { dot, row };

template <class T, LoopOrder order>
void blocked_triple_loop(std::int64_t size, const T* a, const T* b, T* c) {
    constexpr std::int64_t side = 64;
    std::fill(c, c + size * size, T{0});
    for (std::int64_t i0 = 0; i0 < size; i0 += side) {
        const std::int64_t i1 = std::min(i0 + side, size);
        for (std::int64_t p0 = 0; p0 < size; p0 += side) {
            const std::int64_t p1 = std::min(p0 + side, size);
            for (std::int64_t j0 = 0; j0 < size; j0 += side) {
                const std::int64_t j1 = std::min(j0 + side, size);
                for (std::int64_t i = i0; i < i1; ++i) {
                    if constexpr (order == LoopOrder::dot) {
                        for (std::int64_t j = j0; j < j1; ++j) {
                            T sum = c[i * size + j];
                            for (std::int64_t p = p0; p < p1; ++p) {
                                sum = static_cast<T>(sum + a[i * size + p] * b[p * size + j]);
                            }
                            c[i * size + j] = sum;
                        }
                    } else {
                        for (std::int64_t p = p0; p < p1; ++p) {
                            const T x = a[i * size + p];
                            for (std::int64_t j = j0; j < j1; ++j) {
                                c[i * size + j] = static_cast<T>(c[i * size + j] + x * b[p * size + j]);
                            }
                        }
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
void gemm_square_by(benchmark::State& state, InstructionSet set) {
    const std::int64_t size = state.range(0);
    const std::vector<T> a = random_entries<T>(size * size), b = random_entries<T>(size * size);
    std::vector<T> c(a.size());
    const auto view = [size](auto* data) {
        return MatrixView<std::remove_pointer_t<decltype(data)>>::row_major(data, size, size);
    };
    const Product product{1, view(a.data()), view(b.data()), 0, view(c.data())};
    for ([[maybe_unused]] auto _ : state) {
        gemm(product, set);
        benchmark::ClobberMemory();
    }
    report_rate(state, size);
}

template <class T>
void gemm_square(benchmark::State& state) {
    gemm_square_by<T>(state, best_instruction_set());
}

/// By the best instruction set with another table: what the best one brings, and what processors without it get.
template <class T>
void gemm_square_second_best(benchmark::State& state) {
    const std::vector<InstructionSet>& sets = available_instruction_sets();
    const auto other = std::find_if(sets.begin(), sets.end(), [&](InstructionSet set) {
        return &kernel_table_of(set) != &kernel_table_of(sets.front());
    });
    gemm_square_by<T>(state, other != sets.end() ? *other : sets.front());
}

template <class T, LoopOrder order>
void triple_loop(benchmark::State& state) {
    const std::int64_t size = state.range(0);
    const std::vector<T> a = random_entries<T>(size * size), b = random_entries<T>(size * size);
    std::vector<T> c(a.size());
    for ([[maybe_unused]] auto _ : state) {
        blocked_triple_loop<T, order>(size, a.data(), b.data(), c.data());
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
BENCHMARK_TEMPLATE(gemm_square_second_best, std::int32_t)->Apply(sizes);
BENCHMARK_TEMPLATE(triple_loop, std::uint32_t, LoopOrder::dot)->Arg(512)->Arg(1024);
BENCHMARK_TEMPLATE(triple_loop, std::uint32_t, LoopOrder::row)->Arg(512)->Arg(1024);

}  // namespace
}  // namespace heptad::cpu

BENCHMARK_MAIN();
