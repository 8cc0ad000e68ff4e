// Matrices and products by plain loops, for tests of the checks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "base/half.hpp"
#include "base/view.hpp"

namespace heptad {

/// A dense matrix of storage type T in row- or column-major order.
template <class T>
struct TestMatrix {
    Type type;
    std::int64_t rows, cols;
    bool column_major;
    std::vector<T> data;

    TestMatrix(Type t, std::int64_t r, std::int64_t c, bool by_columns = false)
        : type(t), rows(r), cols(c), column_major(by_columns), data(static_cast<std::size_t>(r * c)) {}
    T& operator()(std::int64_t i, std::int64_t j) {
        return data[static_cast<std::size_t>(column_major ? j * rows + i : i * cols + j)];
    }
    const T& operator()(std::int64_t i, std::int64_t j) const { return const_cast<TestMatrix&>(*this)(i, j); }
    ConstView view() const { return {data.data(), type, rows, cols, column_major ? 1 : cols, column_major ? rows : 1}; }
    operator ConstView() const { return view(); }
};

inline double value(double x) {
    return x;
}
inline double value(float x) {
    return x;
}
inline double value(bf16 x) {
    return to_float(x);
}
inline double value(f16 x) {
    return to_float(x);
}
inline void assign(double& to, double x) {
    to = x;
}
inline void assign(float& to, double x) {
    to = static_cast<float>(x);
}
inline void assign(bf16& to, double x) {
    to = to_bf16(static_cast<float>(x));
}
inline void assign(f16& to, double x) {
    to = to_f16(static_cast<float>(x));
}

template <class T>
TestMatrix<T> random_floats(Type type, std::int64_t rows, std::int64_t cols, std::mt19937_64& random, double low = -1,
                            bool by_columns = false) {
    TestMatrix<T> m(type, rows, cols, by_columns);
    std::uniform_real_distribution<double> uniform(low, 1);
    for (T& x : m.data) {
        assign(x, uniform(random));
    }
    return m;
}

template <class T>
TestMatrix<T> random_words(Type type, std::int64_t rows, std::int64_t cols, std::mt19937_64& random, unsigned mask,
                           bool by_columns = false) {
    TestMatrix<T> m(type, rows, cols, by_columns);
    for (T& x : m.data) {
        x = static_cast<T>(random() & mask);
    }
    return m;
}

/// Sum is what the type is summed in: double, float, std::uint32_t.
template <class Sum, class T>
TestMatrix<T> naive_floats(const TestMatrix<T>& a, const TestMatrix<T>& b, double alpha = 1, double beta = 0,
                           const TestMatrix<T>* c0 = nullptr) {
    TestMatrix<T> c(a.type, a.rows, b.cols);
    std::vector<Sum> right;  // row by row
    for (std::int64_t p = 0; p < b.rows; ++p) {
        for (std::int64_t j = 0; j < b.cols; ++j) {
            right.push_back(static_cast<Sum>(value(b(p, j))));
        }
    }
    const auto n = static_cast<std::size_t>(b.cols);
    std::vector<Sum> sums(n);
    for (std::int64_t i = 0; i < a.rows; ++i) {
        std::fill(sums.begin(), sums.end(), Sum{0});
        for (std::int64_t p = 0; p < a.cols; ++p) {
            const auto factor = static_cast<Sum>(value(a(i, p)));
            const Sum* const from = right.data() + static_cast<std::size_t>(p) * n;
            for (std::size_t j = 0; j < n; ++j) {
                sums[j] += factor * from[j];
            }
        }
        for (std::int64_t j = 0; j < b.cols; ++j) {
            Sum sum = static_cast<Sum>(alpha) * sums[static_cast<std::size_t>(j)];
            if (beta != 0) {
                sum += static_cast<Sum>(beta) * static_cast<Sum>(value((*c0)(i, j)));
            }
            assign(c(i, j), sum);
        }
    }
    return c;
}

/// Modulo 2^32 or 2^64, as T is long.
template <class T>
TestMatrix<T> naive_integers(const TestMatrix<T>& a, const TestMatrix<T>& b, T alpha = 1, T beta = 0,
                             const TestMatrix<T>* c0 = nullptr) {
    TestMatrix<T> c(a.type, a.rows, b.cols);
    for (std::int64_t i = 0; i < a.rows; ++i) {
        for (std::int64_t j = 0; j < b.cols; ++j) {
            T sum = 0;
            for (std::int64_t p = 0; p < a.cols; ++p) {
                sum += a(i, p) * b(p, j);
            }
            c(i, j) = alpha * sum + (c0 != nullptr ? beta * (*c0)(i, j) : 0);
        }
    }
    return c;
}

/// gf2 or bool, as the type of `a` says.
inline TestMatrix<std::uint8_t> naive_bits(const TestMatrix<std::uint8_t>& a, const TestMatrix<std::uint8_t>& b,
                                           const TestMatrix<std::uint8_t>* c0 = nullptr) {
    TestMatrix<std::uint8_t> c(a.type, a.rows, b.cols);
    for (std::int64_t i = 0; i < a.rows; ++i) {
        for (std::int64_t j = 0; j < b.cols; ++j) {
            unsigned count = c0 != nullptr ? (*c0)(i, j) : 0;
            for (std::int64_t p = 0; p < a.cols; ++p) {
                count += static_cast<unsigned>(a(i, p) & b(p, j));
            }
            c(i, j) = static_cast<std::uint8_t>(a.type == Type::gf2 ? count & 1 : (count != 0 ? 1 : 0));
        }
    }
    return c;
}

}  // namespace heptad
