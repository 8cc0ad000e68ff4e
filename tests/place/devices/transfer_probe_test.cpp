// Temporary: times of a product from host memory to host memory before and after one in core.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>

#include "backend/cuda/device.hpp"
#include "base/thread_pool.hpp"
#include "place/devices/device_product.hpp"
#include "place/devices/host_operands.hpp"
#include "place/devices/locked_pages.hpp"
#include "place/memory/matrix.hpp"

namespace heptad {
namespace {

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void fill(Matrix& matrix, std::uint64_t seed) {
    const std::int64_t rows = matrix.rows(), cols = matrix.cols();
    auto* const data = static_cast<float*>(matrix.data());
    shared_pool(available_cores()).run(rows, [&](std::int64_t i) {
        std::uint64_t state = (static_cast<std::uint64_t>(i) + 1) * 0x9E3779B97F4A7C15U + seed * 0xD1B54A32D192ED03U;
        for (std::int64_t j = 0; j < cols; ++j) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            data[i * cols + j] = static_cast<float>(static_cast<std::int64_t>(state >> 40) - (1 << 23)) * 0x1p-23F;
        }
    });
}

struct Probe {
    explicit Probe(std::int64_t side) : n(side), a(Type::f32, n, n), b(Type::f32, n, n), c(Type::f32, n, n) {
        const double start = now();
        fill(a, 1);
        fill(b, 2);
        fill(c, 3);
        const double filled = now();
        for (Matrix* matrix : {&a, &b, &c}) {
            pages.lock(matrix->data(), matrix->size_bytes());
        }
        std::printf("filled in %.1f s, locked (%d) in %.1f s\n", filled - start, cuda::is_locked(std::as_const(c).data()),
                    now() - filled);
        options.device = "cuda";
        options.accuracy = Accuracy::fast;
    }
    double home_to_home(const char* what, const char* trace, bool old) {
        setenv("HEPTAD_TRACE_TRANSFERS", trace, 1);
        old ? setenv("HEPTAD_OLD_ENDS", "1", 1) : unsetenv("HEPTAD_OLD_ENDS");
        std::fprintf(stderr, "%s\n", what);
        const double start = now();
        multiply_on_device(1, a.view(), b.view(), 0, c.view(), options, {});
        const double seconds = now() - start;
        double worst = 0;
        for (int sample = 0; sample < 16; ++sample) {
            const std::int64_t i = (n / 16) * sample + sample, j = n - 1 - (n / 16) * sample;
            double exact = 0;
            for (std::int64_t p = 0; p < n; ++p) {
                exact += static_cast<double>(static_cast<const float*>(std::as_const(a).data())[i * n + p]) *
                         static_cast<const float*>(std::as_const(b).data())[p * n + j];
            }
            worst = std::max(worst,
                             std::abs(exact - static_cast<const float*>(std::as_const(c).data())[i * n + j]));
        }
        std::printf("%-32s %.3f s, error %.3g\n", what, seconds, worst);
        std::fflush(stdout);
        EXPECT_LT(worst, 1);
        return seconds;
    }
    double in_core() {
        const cuda::DeviceScope scope(0);
        const cuda::Stream stream(0);
        const std::int64_t bytes = a.size_bytes();
        const cuda::DeviceMemory da(0, bytes, stream.handle()), db(0, bytes, stream.handle()),
            dc(0, bytes, stream.handle());
        const auto view = [&](const cuda::DeviceMemory& memory) { return View(memory.data(), Type::f32, n, n, n, 1); };
        cuda::copy_rows(std::as_const(a).data(), bytes, da.data(), bytes, bytes, 1, stream.handle());
        cuda::copy_rows(std::as_const(b).data(), bytes, db.data(), bytes, bytes, 1, stream.handle());
        Options limited = options;
        limited.workspace_limit_bytes = cuda::free_bytes(0) - (std::int64_t{1} << 30);
        ProductContext context;
        context.stream = stream.handle();
        double seconds = 0;
        for (int round = 0; round < 2; ++round) {
            cuda::Timer timer(0);
            timer.start(stream.handle());
            multiply_on_device(1, view(da), view(db), 0, view(dc), limited, context);
            timer.stop(stream.handle());
            seconds = timer.seconds();
            std::printf("in core                          %.3f s\n", seconds);
            std::fflush(stdout);
        }
        return seconds;
    }

    std::int64_t n;
    Matrix a, b, c;
    LockedPages pages;
    Options options;
};

TEST(TransferProbe, times) {
    if (!cuda::report().available) {
        GTEST_SKIP() << cuda::report().problem;
    }
    const char* const side = std::getenv("PROBE_SIDE");
    Probe probe(side != nullptr ? std::atoll(side) : 65536);
    probe.home_to_home("new, cold", "1", false);
    probe.home_to_home("new, warm", "2", false);
    const double in_core = probe.in_core();
    const double after = probe.home_to_home("new, after in core", "2", false);
    const double old = probe.home_to_home("old ends, after in core", "2", true);
    std::printf("new %.3f, old %.3f of the rate in core\n", in_core / after, in_core / old);
}

TEST(TransferProbe, predicted) {
    for (const std::int64_t n : {16384, 32768, 65536}) {
        TransferProblem problem;
        problem.size = {n, n, n};
        problem.upload_bytes_per_s = problem.download_bytes_per_s = 40e9;
        Options options;
        options.device = "cuda";
        options.accuracy = Accuracy::fast;
        const ProductSeconds seconds = [&](const ProblemSize& piece, bool accumulate) {
            Options chosen = options;
            chosen.accumulate = accumulate;
            chosen.workspace_limit_bytes = std::int64_t{75} << 30;
            const std::clock_t begin = std::clock();
            const double predicted = plan_device_product(piece.m, piece.k, piece.n, Type::f32, chosen, {}).predicted_s;
            const double took = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
            if (took > 0.002) {
                std::printf("    planning %lld x %lld x %lld took %.3f s\n", static_cast<long long>(piece.m),
                            static_cast<long long>(piece.k), static_cast<long long>(piece.n), took);
            }
            return predicted;
        };
        const double start = now();
        const double whole = seconds(problem.size, false);
        const double planned = now();
        const TransferSchedule schedule = plan_transfers(problem, seconds);
        std::printf("n = %lld in core %.3f (planned in %.3f s), predicted %.3f (%.3f) in %zu steps, planned in %.3f s\n",
                    static_cast<long long>(n), whole, planned - start, schedule.predicted_s,
                    whole / schedule.predicted_s, schedule.steps.size(), now() - planned);
        for (const TransferStep& step : schedule.steps) {
            int home = 0;
            for (const TransferResult& result : step.results) {
                home += result.last ? 1 : 0;
            }
            std::printf("  %lld x %lld x %lld: %zu+%zu terms, %zu results, %zu spreads, brings %zu, home %d, %.1f ms\n",
                        static_cast<long long>(step.size.m), static_cast<long long>(step.size.k),
                        static_cast<long long>(step.size.n), step.left.size(), step.right.size(), step.results.size(),
                        step.spreads.size(), step.brings_a.size() + step.brings_b.size(), home,
                        1e3 * seconds(step.size, step.result_lies_there() && !step.results[0].first));
        }
    }
}

}  // namespace
}  // namespace heptad
