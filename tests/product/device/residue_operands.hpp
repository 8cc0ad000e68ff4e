// Products by residues on a device: their operands, options, and errors.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/device_layout.hpp"
#include "kernels/guarded_matrix.hpp"
#include "product/device/device_product.hpp"

namespace heptad::test {

template <class Make>
void set_all(GuardedMatrix& x, Make&& make) {
    for (std::int64_t i = 0; i < x.view().rows; ++i) {
        for (std::int64_t j = 0; j < x.view().cols; ++j) {
            x.set(i, j, make(i, j));
        }
    }
}

struct Operands {
    GuardedMatrix a, b, c;
    Operands(Type type, std::int64_t m, std::int64_t k, std::int64_t n, Layout of_a = Layout::rows,
             Layout of_b = Layout::rows, Layout of_c = Layout::rows)
        : a(type, m, k, of_a), b(type, k, n, of_b), c(type, m, n, of_c) {
        std::mt19937 random(5);
        std::normal_distribution<double> normal;
        for (GuardedMatrix* x : {&a, &b}) {
            set_all(*x, [&](std::int64_t, std::int64_t) { return normal(random); });
        }
        c.fill(std::numeric_limits<double>::quiet_NaN());
    }
};

inline Options by_residues(Accuracy accuracy = Accuracy::balanced) {
    Options options;
    options.device = "cuda";
    options.leaf = kResidueLeaf;
    options.levels = 0;
    options.accuracy = accuracy;
    return options;
}

inline Options strict() {
    Options options;
    options.device = "cuda";
    options.accuracy = Accuracy::strict;
    return options;
}

/// What is around a matrix and between its rows.
inline GuardedMatrix guards_of(const GuardedMatrix& x) {
    GuardedMatrix guards = x;
    guards.fill(0);
    return guards;
}

/// From host memory: the report knows how it went.
inline RunReport multiply(Operands& x, const Options& options, double alpha = 1, double beta = 0) {
    const GuardedMatrix guards = guards_of(x.c);
    const RunReport report = multiply_on_device(alpha, x.a.view(), x.b.view(), beta, x.c.view(), options, {});
    EXPECT_TRUE(guards_of(x.c).equals_byte_for_byte(guards));
    return report;
}

/// The largest error over |a_i||b_j|, and over |A||B|, of some rows.
struct Errors {
    double over_lines = 0, over_entries = 0;
};
inline Errors errors_of(const Operands& x, std::int64_t m, std::int64_t k, std::int64_t n) {
    Errors worst;
    std::vector<long double> of_cols(static_cast<std::size_t>(n));
    for (std::int64_t p = 0; p < k; ++p) {
        for (std::int64_t j = 0; j < n; ++j) {
            const long double y = x.b.get(p, j);
            of_cols[static_cast<std::size_t>(j)] += y * y;
        }
    }
    for (std::int64_t i = 0; i < m; i += std::max<std::int64_t>(1, m / 7)) {
        std::vector<long double> sums(static_cast<std::size_t>(n)), sizes(static_cast<std::size_t>(n));
        long double of_row = 0;
        for (std::int64_t p = 0; p < k; ++p) {
            const long double left = x.a.get(i, p);
            of_row += left * left;
            for (std::int64_t j = 0; j < n; ++j) {
                const long double product = left * static_cast<long double>(x.b.get(p, j));
                sums[static_cast<std::size_t>(j)] += product;
                sizes[static_cast<std::size_t>(j)] += std::abs(product);
            }
        }
        for (std::int64_t j = 0; j < n; ++j) {
            const auto at = static_cast<std::size_t>(j);
            const long double error = std::abs(x.c.get(i, j) - sums[at]);
            const auto over = [&](long double size) {
                const auto ratio = static_cast<double>(error == 0 ? 0 : error / size);
                return std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio;
            };
            worst.over_lines = std::max(worst.over_lines, over(std::sqrt(of_row * of_cols[at])));
            worst.over_entries = std::max(worst.over_entries, over(sizes[at]));
        }
    }
    return worst;
}

}  // namespace heptad::test
