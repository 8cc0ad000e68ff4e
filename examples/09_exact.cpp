// Products that are rounded once: the same bits on every machine, whatever the threads and the plan.
#include <cmath>
#include <iostream>
#include <vector>

#include <heptad/check.hpp>
#include <heptad/heptad.hpp>

int main() {
    using View = heptad::MatrixView<double>;
    const std::int64_t n = 200;
    const auto size = static_cast<std::size_t>(n * n);
    std::vector<double> a(size), b(size), c(size), rounded(size);
    for (std::size_t i = 0; i < size; ++i) {
        a[i] = std::ldexp(1.0 + static_cast<double>(i % 97), -3);
        b[i] = i % 2 == 0 ? 1e16 : -1e16;  // sums that cancel: the classical product loses their last digits
    }
    for (std::size_t i = 0; i < size; i += 7) {
        b[i] += 3.0e15;
    }
    const View left = View::row_major(a.data(), n, n), right = View::row_major(b.data(), n, n);

    heptad::Options options;
    options.accuracy = heptad::Accuracy::exact;
    heptad::multiply(1.0, left, right, 0.0, View::row_major(c.data(), n, n), options);
    heptad::Context one_thread;
    one_thread.set_threads(1);
    options.levels = 1;
    heptad::multiply(1.0, left, right, 0.0, View::row_major(rounded.data(), n, n), options, one_thread);
    std::cout << "other threads and levels, the same bits: " << (c == rounded ? "yes" : "no") << '\n';

    // An entry by hand: integers of 1/8 times multiples of 1e15, summed in 128 bits.
    __int128 sum = 0;
    for (std::int64_t p = 0; p < n; ++p) {
        sum += static_cast<__int128>(std::llround(8 * left(5, p))) * std::llround(right(p, 6));
    }
    std::cout << "rounded once: " << (c[5 * n + 6] == static_cast<double>(sum) / 8 ? "yes" : "no") << '\n';

    // The expected error of a plan at another accuracy.
    const heptad::Plan plan =
        heptad::plan({4096, 4096, 4096}, heptad::Type::f64, {.accuracy = heptad::Accuracy::strict});
    std::cout << "strict is expected to be off by " << heptad::error_outlook(plan).expected_growth
              << " times the classical error\n";
    return c == rounded ? 0 : 1;
}

// Output:
// other threads and levels, the same bits: yes
// rounded once: yes
// strict is expected to be off by 1 times the classical error
