// C = A * B for two f32 matrices in memory: ask for the plan, print it, carry it out, look at one entry.
#include <heptad/heptad.hpp>
#include <iostream>
#include <vector>

int main() {
    const std::int64_t m = 1000, k = 1200, n = 900;
    const auto size = [](std::int64_t rows, std::int64_t cols) { return static_cast<std::size_t>(rows * cols); };
    std::vector<float> a(size(m, k), 0.5F), b(size(k, n), 2.0F), c(size(m, n));

    heptad::Options options;
    options.accuracy = heptad::Accuracy::fast;
    const heptad::Plan plan = heptad::plan({m, k, n}, heptad::Type::f32, options);
    std::cout << plan.to_string() << '\n';

    const auto result = heptad::MatrixView<float>::row_major(c.data(), m, n);
    heptad::multiply(1.0, heptad::MatrixView<float>::row_major(a.data(), m, k),
                     heptad::MatrixView<float>::row_major(b.data(), k, n), 0.0, result, plan);
    std::cout << "C(0, 0) = " << result(0, 0) << ", expected " << k << '\n';
    return result(0, 0) == static_cast<float>(k) ? 0 : 1;
}
