// What a product costs beyond the library's own call: heptad::multiply() with that library's leaf, and with the leaf of
// its plan, each between two plain calls in turns of about 0.1 ms; medians of the differences in nanoseconds, and the
// same for the plain call against itself.
//   call_bench [threads]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

#include <heptad/heptad.hpp>

#include "kernels/cpu/vendor_blas.hpp"

namespace heptad {
namespace {

constexpr double kTurn_ns = 1e5;
constexpr int kTurns = 200;

double median(std::vector<double>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// Nanoseconds of one call; the first one, which may have to look for its plan, does not count.
template <class Call>
double time_ns(long calls, const Call& call) {
    call();
    const auto start = std::chrono::steady_clock::now();
    for (long i = 0; i < calls; ++i) {
        call();
    }
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() /
           static_cast<double>(calls);
}

template <class T>
void compare(const char* type, int n, const cpu::VendorLibrary& library, cpu::CblasGemm<T> gemm, int threads) {
    constexpr int row_major = 101, as_is = 111;
    const auto elements = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
    const std::vector<T> a(elements, T(0.5)), b(elements, T(2));
    std::vector<T> c(elements);
    const auto a_view = MatrixView<const T>::row_major(a.data(), n, n);
    const auto b_view = MatrixView<const T>::row_major(b.data(), n, n);
    const auto c_view = MatrixView<T>::row_major(c.data(), n, n);
    Options chosen, forced;
    forced.leaf = library.name + "-mt";
    Context context;
    context.set_threads(threads);
    const auto plain = [&] {
        gemm(row_major, as_is, as_is, n, n, n, T(1), a.data(), n, b.data(), n, T(0), c.data(), n);
    };
    const auto same_call = [&] { multiply(1, a_view, b_view, 0, c_view, forced, context); };
    const auto planned = [&] { multiply(1, a_view, b_view, 0, c_view, chosen, context); };
    const long calls = std::max(1L, static_cast<long>(kTurn_ns / time_ns(20, plain)));
    std::vector<double> plain_ns, same_ns, planned_ns, noise_ns;
    for (int turn = 0; turn < kTurns; ++turn) {
        const double first = time_ns(calls, plain), same = time_ns(calls, same_call), second = time_ns(calls, plain);
        const double plan = time_ns(calls, planned), third = time_ns(calls, plain);
        plain_ns.push_back(first);
        same_ns.push_back(same - (first + second) / 2);
        planned_ns.push_back(plan - (second + third) / 2);
        noise_ns.push_back(third - second);
    }
    std::printf("%s %5d %12.0f %12.0f %12.0f %12.0f\n", type, n, median(plain_ns), median(same_ns), median(planned_ns),
                median(noise_ns));
}

int run(int threads) {
    cpu::allow_vendor_corrections();
    for (const cpu::Vendor vendor : {cpu::Vendor::openblas, cpu::Vendor::blis, cpu::Vendor::mkl}) {
        const cpu::VendorLibrary* library = cpu::vendor_library(vendor);
        if (library == nullptr || (library->set_threads == nullptr && library->set_threads_local == nullptr)) {
            continue;
        }
        std::printf(
            "%s %s\ntype    n         call     our call     our plan   call again  (ns; the last three: more)\n",
            library->name.c_str(), library->version.c_str());
        for (const int n : {1, 8, 16, 32, 48, 64, 80, 96, 128, 192, 256}) {
            compare<float>("f32", n, *library, library->sgemm, threads);
            compare<double>("f64", n, *library, library->dgemm, threads);
        }
        return 0;
    }
    std::fputs("there is no library with threads of its own to compare with; install libopenblas-dev\n", stderr);
    return 1;
}

}  // namespace
}  // namespace heptad

int main(int argc, char** argv) {
    try {
        return heptad::run(argc > 1 ? std::atoi(argv[1]) : 0);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "call_bench: %s\n", error.what());
        return 1;
    }
}
