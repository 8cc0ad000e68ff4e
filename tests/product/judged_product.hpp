// A product of a family of data, what it should be, and its errors by every norm that promises are made in.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/guarded_matrix.hpp"
#include "plan/predict/promised_error.hpp"
#include "product/data_families.hpp"
#include "run/dense/runner.hpp"

namespace heptad::test {

/// The smallest number above zero.
inline double smallest_of(Type type) {
    return type == Type::f64 ? 0x1p-1074 : type == Type::f16 ? 0x1p-24 : type == Type::bf16 ? 0x1p-133 : 0x1p-149;
}

/// A product, what it should be, and what errors are measured by.
class Judged {
public:
    Judged(Type type, const ProblemSize& size, const testing_data::Family& family)
        : a_(type, size.m, size.k, Layout::rows), b_(type, size.k, size.n, Layout::rows_padded), size_(size) {
        testing_data::Random random(7);
        testing_data::Matrix<double> a(size.m, size.k), b(size.k, size.n);
        family.make(a, b, random);
        take_over(a, a_);
        take_over(b, b_);
        for (std::int64_t p = 0; p < size.k; ++p) {
            for (std::int64_t j = 0; j < size.n; ++j) {
                b_values_.push_back(b_.get(p, j));
            }
        }
        const auto entries = static_cast<std::size_t>(size.m * size.n);
        sums_.resize(entries);
        magnitudes_.resize(entries);
        std::vector<long double> row_squares(static_cast<std::size_t>(size.m)),
            col_squares(static_cast<std::size_t>(size.n));
        for (std::int64_t i = 0; i < size.m; ++i) {
            for (std::int64_t p = 0; p < size.k; ++p) {
                const long double x = a_.get(i, p);
                row_squares[static_cast<std::size_t>(i)] += x * x;
                max_a_ = std::max(max_a_, std::abs(x));
                for (std::int64_t j = 0; j < size.n; ++j) {
                    const long double product = x * b_value(p, j);
                    sums_[at(i, j)] += product;
                    magnitudes_[at(i, j)] += std::abs(product);
                }
            }
        }
        for (std::int64_t p = 0; p < size.k; ++p) {
            for (std::int64_t j = 0; j < size.n; ++j) {
                col_squares[static_cast<std::size_t>(j)] += b_value(p, j) * b_value(p, j);
                max_b_ = std::max(max_b_, std::abs(b_value(p, j)));
            }
        }
        for (const long double x : row_squares) {
            rows_.push_back(std::sqrt(x));
        }
        for (const long double x : col_squares) {
            cols_.push_back(std::sqrt(x));
        }
    }
    /// Does the type hold A, B and C?
    bool fits() const {
        const long double most = a_.view().type == Type::f16 ? 3e4L : 1e37L;
        return max_a_ < most && max_b_ < most &&
               std::all_of(magnitudes_.begin(), magnitudes_.end(), [&](long double x) { return x < most; });
    }
    struct Errors {
        RunReport report;
        double over_entries = 0, over_lines = 0, over_matrices = 0;  // the largest
    };
    /// product(a, b, c) says what it did.
    Errors multiply(const auto& product) {
        GuardedMatrix c(a_.view().type, size_.m, size_.n, Layout::rows);
        c.fill(std::numeric_limits<double>::quiet_NaN());
        Errors errors;
        errors.report = product(a_.view(), b_.view(), c.view());
        const long double tiny = smallest_of(a_.view().type) * static_cast<double>(size_.k + 2);
        for (std::int64_t i = 0; i < size_.m; ++i) {
            for (std::int64_t j = 0; j < size_.n; ++j) {
                const long double error = std::abs(c.get(i, j) - sums_[at(i, j)]);
                const auto raise = [&](double& worst, long double size) {
                    const double here = error <= tiny ? 0 : static_cast<double>((error - tiny) / size);
                    worst = here <= worst ? worst : here;  // NaN too
                };
                raise(errors.over_entries, magnitudes_[at(i, j)]);
                raise(errors.over_lines, rows_[static_cast<std::size_t>(i)] * cols_[static_cast<std::size_t>(j)]);
                raise(errors.over_matrices, max_a_ * max_b_);
            }
        }
        return errors;
    }

private:
    static void take_over(const testing_data::Matrix<double>& from, GuardedMatrix& to) {
        for (std::int64_t i = 0; i < from.rows; ++i) {
            for (std::int64_t j = 0; j < from.cols; ++j) {
                to.set(i, j, from.at(i, j));
            }
        }
    }
    std::size_t at(std::int64_t i, std::int64_t j) const { return static_cast<std::size_t>(i * size_.n + j); }
    long double b_value(std::int64_t p, std::int64_t j) const {
        return b_values_[static_cast<std::size_t>(p * size_.n + j)];
    }

    GuardedMatrix a_, b_;
    ProblemSize size_;
    std::vector<long double> b_values_, sums_, magnitudes_, rows_, cols_;
    long double max_a_ = 0, max_b_ = 0;
};

/// Over what the promise is made.
inline double kept(const ErrorPromise& promise, const Judged::Errors& errors) {
    return promise.over == BoundOver::entries ? errors.over_entries
           : promise.over == BoundOver::lines ? errors.over_lines
                                              : errors.over_matrices;
}

}  // namespace heptad::test
