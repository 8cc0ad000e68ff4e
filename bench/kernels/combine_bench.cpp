// Bytes read and written per second by combine passes and scans on one thread, beside a plain copy of the same memory.
#include <benchmark/benchmark.h>

#include <cstring>
#include <random>
#include <vector>

#include "kernels/cpu/cpu_kernels.hpp"

namespace heptad::cpu {
namespace {

/// `count` square blocks of one row-major matrix that is `across` blocks wide, as a level of the recursion sees them.
template <class T>
struct Blocks {
    std::vector<T> memory;
    std::vector<View> views;

    Blocks(std::int64_t count, std::int64_t across, std::int64_t side) {
        const std::int64_t down = (count + across - 1) / across;
        memory.resize(static_cast<std::size_t>(down * across * side * side));
        std::mt19937 random(1);
        for (T& x : memory) {
            x = static_cast<T>(random() % 64);
        }
        const auto whole = MatrixView<T>::row_major(memory.data(), down * side, across * side);
        for (std::int64_t s = 0; s < count; ++s) {
            views.push_back(whole.block(s / across * side, s % across * side, side, side));
        }
    }
};

void report_bytes(benchmark::State& state, std::int64_t blocks, std::int64_t side, std::size_t bytes) {
    const double moved = static_cast<double>(blocks * side * side) * static_cast<double>(bytes);
    state.counters["GB/s"] = benchmark::Counter(moved * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

/// c = a + b.
template <class T>
void add_two(benchmark::State& state) {
    const std::int64_t side = state.range(0);
    const Blocks<T> in(4, 2, side), out(1, 1, side);
    const CombineTasks tasks({{in.views[1], in.views[2], out.views[0]}, {{2, {{0, 1}, {1, -1}}}}});
    for ([[maybe_unused]] auto _ : state) {
        for (std::int64_t task = 0; task < tasks.count(); ++task) {
            tasks.run(task);
        }
    }
    report_bytes(state, 3, side, sizeof(T));
}

/// Winograd's four sums of the blocks of A in one pass: four read, four written.
template <class T>
void winograd_sums(benchmark::State& state) {
    const std::int64_t side = state.range(0);
    const Blocks<T> in(4, 2, side), out(4, 1, side);
    std::vector<View> slots = in.views;
    slots.insert(slots.end(), out.views.begin(), out.views.end());
    const CombineTasks tasks(
        {slots, {{4, {{2, 1}, {3, 1}}}, {5, {{4, 1}, {0, -1}}}, {6, {{0, 1}, {2, -1}}}, {7, {{1, 1}, {5, -1}}}}});
    for ([[maybe_unused]] auto _ : state) {
        for (std::int64_t task = 0; task < tasks.count(); ++task) {
            tasks.run(task);
        }
    }
    report_bytes(state, 8, side, sizeof(T));
}

template <class T>
void scan_block(benchmark::State& state) {
    const std::int64_t side = state.range(0);
    const Blocks<T> in(1, 1, side);
    for ([[maybe_unused]] auto _ : state) {
        benchmark::DoNotOptimize(scan_view(in.views[0]).max_abs);
    }
    report_bytes(state, 1, side, sizeof(T));
}

void plain_copy(benchmark::State& state) {
    const std::int64_t side = state.range(0);
    Blocks<float> in(1, 1, side), out(1, 1, side);
    for ([[maybe_unused]] auto _ : state) {
        std::memcpy(out.memory.data(), in.memory.data(), in.memory.size() * sizeof(float));
        benchmark::ClobberMemory();
    }
    report_bytes(state, 2, side, sizeof(float));
}

BENCHMARK(plain_copy)->Arg(256)->Arg(2048)->Arg(4096);
BENCHMARK_TEMPLATE(add_two, float)->Arg(16)->Arg(64)->Arg(256)->Arg(2048);
BENCHMARK_TEMPLATE(add_two, std::int32_t)->Arg(2048);
BENCHMARK_TEMPLATE(winograd_sums, float)->Arg(64)->Arg(256)->Arg(2048);
BENCHMARK_TEMPLATE(winograd_sums, double)->Arg(2048);
BENCHMARK_TEMPLATE(scan_block, float)->Arg(2048);
BENCHMARK_TEMPLATE(scan_block, double)->Arg(2048);

}  // namespace
}  // namespace heptad::cpu

BENCHMARK_MAIN();
