// C = A * B for two f32 matrices in memory, then C = 2 A^T A - C with views that transpose nothing.
#include <iostream>
#include <vector>

#include <heptad/heptad.hpp>

int main() {
    using View = heptad::MatrixView<float>;
    const std::int64_t m = 500, k = 600, n = 500;
    std::vector<float> a(static_cast<std::size_t>(m * k), 0.5F), b(static_cast<std::size_t>(k * n), 2.0F),
        c(static_cast<std::size_t>(m * n));
    const View left = View::row_major(a.data(), m, k), right = View::row_major(b.data(), k, n),
               result = View::row_major(c.data(), m, n);

    heptad::multiply(left, right, result);
    std::cout << "A * B: " << result(0, 0) << ", expected " << k << '\n';

    // C = alpha * A * B + beta * C. A view is a pointer, two sizes and two strides: its transpose costs nothing.
    const View window = left.transposed().block(0, 0, n, m);
    heptad::multiply(2.0, window, left.block(0, 0, m, n), -1.0, result);
    std::cout << "2 * A^T * A - C: " << result(1, 2) << ", expected " << 2 * 0.25 * m - k << '\n';

    // A failure is an exception with a sentence.
    try {
        heptad::multiply(left, left, result);
    } catch (const heptad::Error& error) {
        std::cout << "error " << static_cast<int>(error.code()) << ": " << error.what() << '\n';
    }
    return result(1, 2) == 2 * 0.25F * m - k ? 0 : 1;
}

// Output:
// A * B: 600, expected 600
// 2 * A^T * A - C: -350, expected -350
// error 3: A is 500 x 600 and B is 500 x 600: the inner sizes 600 and 500 differ
