// Pairs of matrices that accuracy is tested on, and the error measure that promises are made in: the largest
// |C - computed| / (|A||B|) over all entries, infinite where |A||B| is zero and C is not.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include <heptad/heptad.hpp>

namespace heptad::testing_data {

template <class T>
struct Matrix {
    std::int64_t rows = 0, cols = 0;
    std::vector<T> data;
    Matrix(std::int64_t r, std::int64_t c) : rows(r), cols(c), data(static_cast<std::size_t>(r * c)) {}
    T& at(std::int64_t i, std::int64_t j) { return data[static_cast<std::size_t>(i * cols + j)]; }
    const T& at(std::int64_t i, std::int64_t j) const { return data[static_cast<std::size_t>(i * cols + j)]; }
    MatrixView<T> view() { return MatrixView<T>::row_major(data.data(), rows, cols); }
};

using Random = std::mt19937_64;
using Pair = std::pair<Matrix<double>, Matrix<double>>;

/// What levels should do about a family, where that is certain.
enum class Way { fast, scaled, classical, any };

struct Family {
    std::string name;
    Way way = Way::any;
    std::function<void(Matrix<double>&, Matrix<double>&, Random&)> make;
};

inline void fill(Matrix<double>& x, const std::function<double()>& draw) {
    std::generate(x.data.begin(), x.data.end(), draw);
}
inline void fill_uniform(Matrix<double>& x, Random& random) {
    std::uniform_real_distribution<double> uniform(-1, 1);
    fill(x, [&] { return uniform(random); });
}
inline void times(Matrix<double>& x, const std::function<double(std::int64_t, std::int64_t)>& factor) {
    for (std::int64_t i = 0; i < x.rows; ++i) {
        for (std::int64_t j = 0; j < x.cols; ++j) {
            x.at(i, j) *= factor(i, j);
        }
    }
}
/// From 1 down to 2^-octaves over the lines.
inline double graded(std::int64_t line, std::int64_t count, double octaves) {
    return std::exp2(-octaves * static_cast<double>(line) / static_cast<double>(std::max<std::int64_t>(count - 1, 1)));
}

/// `octaves`: how far graded data goes, 40 where the type allows it.
inline std::vector<Family> data_families(double octaves = 40) {
    const auto drawn = [](auto distribution) {
        return [distribution](Matrix<double>& a, Matrix<double>& b, Random& random) mutable {
            fill(a, [&] { return distribution(random); });
            fill(b, [&] { return distribution(random); });
        };
    };
    const auto log_uniform = [](double width) {
        return [width](Random& random) {
            std::uniform_real_distribution<double> uniform(-1, 1);
            return std::copysign(std::exp2(-width * std::abs(uniform(random))), uniform(random));
        };
    };
    const auto uniform_with = [](const std::function<void(Matrix<double>&, Matrix<double>&)>& change) {
        return [change](Matrix<double>& a, Matrix<double>& b, Random& random) {
            fill_uniform(a, random);
            fill_uniform(b, random);
            change(a, b);
        };
    };
    // Entries by a formula.
    using Entry = std::function<double(bool of_a, std::int64_t i, std::int64_t j, std::int64_t k)>;
    const auto entries = [](const Entry& entry) {
        return [entry](Matrix<double>& a, Matrix<double>& b, Random&) {
            for (Matrix<double>* x : {&a, &b}) {
                fill(*x, [] { return 1; });
                times(*x, [&](std::int64_t i, std::int64_t j) { return entry(x == &a, i, j, a.cols); });
            }
        };
    };
    // Uniform, with factors from place and count of line: rows of A, columns of B, k of A, k of B.
    using Line = std::function<double(std::int64_t, std::int64_t)>;
    const Line same = [](std::int64_t, std::int64_t) { return 1.0; };
    const auto scaled = [=](Line of_rows, Line of_cols, Line of_a, Line of_b) {
        return uniform_with([=](Matrix<double>& a, Matrix<double>& b) {
            times(a, [&](std::int64_t i, std::int64_t k) { return of_rows(i, a.rows) * of_a(k, a.cols); });
            times(b, [&](std::int64_t k, std::int64_t j) { return of_b(k, a.cols) * of_cols(j, b.cols); });
        });
    };
    const Line down = [octaves](std::int64_t i, std::int64_t n) { return graded(i, n, octaves); };
    const Line mixed = [octaves](std::int64_t i, std::int64_t n) { return graded(i * 37 % n, n, octaves); };
    const Line up = [mixed](std::int64_t i, std::int64_t n) { return 1 / mixed(i, n); };
    const Line one_large = [](std::int64_t i, std::int64_t n) { return i == n / 3 ? 1e5 : 1; };
    const Line one_small = [](std::int64_t i, std::int64_t n) { return i == n / 3 ? 1e-5 : 1; };
    const Line one_zero = [](std::int64_t i, std::int64_t n) { return i == n / 3 ? 0 : 1; };
    return {
        {"uniform", Way::fast, drawn(std::uniform_real_distribution<double>(-1, 1))},
        {"positive", Way::fast, drawn(std::uniform_real_distribution<double>(0, 1))},
        {"normal", Way::fast, drawn(std::normal_distribution<double>())},
        {"exponential", Way::any, drawn(std::exponential_distribution<double>())},
        {"log-normal", Way::any, drawn(std::lognormal_distribution<double>())},
        {"log-uniform over 40 octaves", Way::classical, drawn(log_uniform(octaves))},
        {"graded rows", Way::scaled, scaled(down, same, same, same)},
        {"graded rows and columns, mixed", Way::scaled, scaled(mixed, mixed, same, same)},
        {"graded columns", Way::scaled, scaled(same, down, same, same)},
        {"graded along k, in A", Way::any, scaled(same, same, down, same)},
        {"graded along k, in A, mixed", Way::any, scaled(same, same, mixed, same)},
        {"graded along k, in A and B", Way::any, scaled(same, same, down, down)},
        {"graded along k, against one another", Way::scaled, scaled(same, same, mixed, up)},
        {"graded everywhere", Way::any, scaled(mixed, down, mixed, up)},
        {"a large column of A, its row of B small", Way::scaled, scaled(same, same, one_large, one_small)},
        {"a large row", Way::scaled, scaled(one_large, same, same, same)},
        {"a small column", Way::scaled, scaled(same, one_small, same, same)},
        {"a large column of A", Way::classical, scaled(same, same, one_large, same)},
        {"a row, a column and a place along k of zeros", Way::scaled, scaled(one_zero, one_zero, one_zero, same)},
        {"a huge entry", Way::classical,
         uniform_with([](Matrix<double>& a, Matrix<double>&) { a.at(a.rows / 2, a.cols / 3) *= 1e5; })},
        {"blocks of two scales on the diagonal", Way::classical, uniform_with([](Matrix<double>& a, Matrix<double>& b) {
             const std::int64_t half = a.cols / 2;
             const auto keep = [](bool upper, bool left) { return upper != left ? 0 : upper ? 1 : 1e-6; };
             times(a, [&](std::int64_t i, std::int64_t k) { return keep(i < a.rows / 2, k < half); });
             times(b, [&](std::int64_t k, std::int64_t j) { return keep(k < half, j < b.cols / 2); });
         })},
        {"triangles", Way::classical, uniform_with([](Matrix<double>& a, Matrix<double>& b) {
             times(a, [](std::int64_t i, std::int64_t k) { return k <= i ? 1 : 0; });
             times(b, [](std::int64_t k, std::int64_t j) { return j <= k ? 1 : 0; });
         })},
        {"half of it zeros", Way::any,
         [](Matrix<double>& a, Matrix<double>& b, Random& random) {
             std::uniform_real_distribution<double> uniform(-1, 1);
             for (Matrix<double>* x : {&a, &b}) {
                 fill(*x, [&] { return uniform(random) < 0 ? 0 : uniform(random); });
             }
         }},
        {"sines, orthogonal where square", Way::any, entries([](bool, std::int64_t i, std::int64_t j, std::int64_t n) {
             return std::sin(static_cast<double>((i + 1) * (j + 1)) * std::numbers::pi / static_cast<double>(n + 1));
         })},
        {"nearly cancelling", Way::any,
         [](Matrix<double>& a, Matrix<double>& b, Random& random) {
             fill_uniform(a, random);
             fill_uniform(b, random);
             std::uniform_real_distribution<double> uniform(-1, 1);
             const std::int64_t half = a.cols / 2;
             for (std::int64_t k = 0; k < half; ++k) {
                 for (std::int64_t i = 0; i < a.rows; ++i) {
                     a.at(i, k + half) = a.at(i, k) * (1 + 1e-5 * uniform(random));
                 }
                 for (std::int64_t j = 0; j < b.cols; ++j) {
                     b.at(k + half, j) = -b.at(k, j);
                 }
             }
         }},
        {"fractions 1/(i + j + 1) of changing sign", Way::any,
         entries([](bool of_a, std::int64_t i, std::int64_t j, std::int64_t) {
             return ((i + j) % 2 == 0 || of_a ? 1.0 : -1.0) / static_cast<double>(i + j + 1);
         })},
    };
}

/// Numbers of few digits, of which a classical product rounds next to nothing.
inline std::vector<Family> short_number_families() {
    const auto whole = [](std::int64_t least, std::int64_t most, double unit) {
        return [=](Matrix<double>& a, Matrix<double>& b, Random& random) {
            std::uniform_int_distribution<std::int64_t> uniform(least, most);
            for (Matrix<double>* x : {&a, &b}) {
                fill(*x, [&] { return unit * static_cast<double>(uniform(random)); });
            }
        };
    };
    return {
        {"whole numbers from 0 to 255", Way::any, whole(0, 255, 1)},
        {"whole numbers from 0 to 511", Way::any, whole(0, 511, 1)},
        {"whole numbers from 0 to 4095", Way::any, whole(0, 4095, 1)},
        {"whole numbers from -127 to 127", Way::any, whole(-127, 127, 1)},
        {"whole numbers from -3 to 3", Way::fast, whole(-3, 3, 1)},
        {"zeros and ones", Way::any, whole(0, 1, 1)},
        {"multiples of 1/8 up to 64", Way::any, whole(0, 512, 1.0 / 8)},
        {"whole numbers in graded rows and columns", Way::any,
         [whole](Matrix<double>& a, Matrix<double>& b, Random& random) {
             whole(0, 255, 1)(a, b, random);
             times(a, [](std::int64_t i, std::int64_t) { return std::exp2(i % 20); });
             times(b, [](std::int64_t, std::int64_t j) { return std::exp2(-(j % 17)); });
         }},
        {"powers of two from 1 to 1/8", Way::fast,
         [](Matrix<double>& a, Matrix<double>& b, Random& random) {
             std::uniform_int_distribution<int> uniform(0, 3);
             for (Matrix<double>* x : {&a, &b}) {
                 fill(*x, [&] { return std::exp2(-uniform(random)); });
             }
         }},
    };
}

/// Data whose sizes hide in how lines meet, or that repeats itself from block to block: levels lost 14 to 28 times the
/// classical error, where no line is uneven by itself.
inline std::vector<Family> meeting_families() {
    const auto uniform_with = [](const std::function<double(double, double)>& in_a,
                                 const std::function<double(double, double)>& in_b) {
        return [=](Matrix<double>& a, Matrix<double>& b, Random& random) {
            const auto share = [](std::int64_t i, std::int64_t n) {
                return static_cast<double>(i) / static_cast<double>(n);
            };
            fill_uniform(a, random);
            fill_uniform(b, random);
            times(a, [&](std::int64_t i, std::int64_t k) { return in_a(share(i, a.rows), share(k, a.cols)); });
            times(b, [&](std::int64_t k, std::int64_t j) { return in_b(share(k, b.rows), share(j, b.cols)); });
        };
    };
    const auto of_rank = [](int rank) {
        return [rank](Matrix<double>& a, Matrix<double>& b, Random& random) {
            for (Matrix<double>* x : {&a, &b}) {
                Matrix<double> left(x->rows, rank), right(rank, x->cols);
                fill_uniform(left, random);
                fill_uniform(right, random);
                for (std::int64_t i = 0; i < x->rows; ++i) {
                    for (std::int64_t j = 0; j < x->cols; ++j) {
                        x->at(i, j) = 0;
                        for (int p = 0; p < rank; ++p) {
                            x->at(i, j) += left.at(i, p) * right.at(p, j);
                        }
                    }
                }
            }
        };
    };
    return {
        {"a quarter of the rows 16 times as large in a quarter of k", Way::any,
         uniform_with([](double i, double k) { return i < 0.25 && k >= 0.5 && k < 0.75 ? 16 : 1; },
                      [](double, double) { return 1; })},
        {"upper right blocks four times as large", Way::any,
         uniform_with([](double i, double k) { return i < 0.5 && k >= 0.5 ? 4 : 1; },
                      [](double k, double j) { return k < 0.5 && j >= 0.5 ? 4 : 1; })},
        {"rank one", Way::any, of_rank(1)},
        {"rank two", Way::any, of_rank(2)},
        {"the smaller of i and j", Way::any,
         [](Matrix<double>& a, Matrix<double>& b, Random&) {
             for (Matrix<double>* x : {&a, &b}) {
                 fill(*x, [] { return 1.0 / 3; });
                 times(*x, [](std::int64_t i, std::int64_t j) { return static_cast<double>(std::min(i, j) + 1); });
             }
         }},
    };
}

/// Both of the first two.
inline std::vector<Family> all_families(double octaves = 40) {
    std::vector<Family> all = data_families(octaves);
    for (Family& family : short_number_families()) {
        all.push_back(std::move(family));
    }
    return all;
}

template <class T>
Matrix<T> rounded_to(const Matrix<double>& x) {
    Matrix<T> result(x.rows, x.cols);
    std::transform(x.data.begin(), x.data.end(), result.data.begin(), [](double v) { return static_cast<T>(v); });
    return result;
}

/// Of C = A*B; of f64, whose reference takes long, some rows. `of_lines`: over |a_i||b_j| instead.
template <class T>
double worst_error(const Matrix<T>& a, const Matrix<T>& b, const Matrix<T>& c, bool of_lines = false) {
    using Wide = std::conditional_t<std::is_same_v<T, double>, long double, double>;
    const auto n = static_cast<std::size_t>(c.cols);
    std::vector<Wide> sums(n), magnitudes(n);
    std::vector<double> col_norms(n);
    for (std::int64_t k = 0; k < b.rows; ++k) {
        for (std::size_t j = 0; j < n; ++j) {
            col_norms[j] = std::hypot(col_norms[j], static_cast<double>(b.at(k, static_cast<std::int64_t>(j))));
        }
    }
    double worst = 0;
    constexpr std::int64_t step = std::is_same_v<T, double> ? 7 : 1;
    for (std::int64_t i = c.rows % step; i < c.rows; i += step) {
        std::fill(sums.begin(), sums.end(), 0);
        std::fill(magnitudes.begin(), magnitudes.end(), 0);
        double row_norm = 0;
        for (std::int64_t k = 0; k < a.cols; ++k) {
            const Wide x = static_cast<Wide>(a.at(i, k));
            row_norm = std::hypot(row_norm, static_cast<double>(x));
            for (std::size_t j = 0; j < n; ++j) {
                const Wide product = x * static_cast<Wide>(b.at(k, static_cast<std::int64_t>(j)));
                sums[j] += product;
                magnitudes[j] += std::abs(product);
            }
        }
        for (std::size_t j = 0; j < n; ++j) {
            const auto error =
                static_cast<double>(std::abs(static_cast<Wide>(c.at(i, static_cast<std::int64_t>(j))) - sums[j]));
            // Below the smallest number nothing can be told.
            const auto tiny =
                static_cast<double>(std::numeric_limits<T>::denorm_min()) * static_cast<double>(a.cols + 2);
            const double size = of_lines ? row_norm * col_norms[j] : static_cast<double>(magnitudes[j]);
            const double here = error <= tiny ? 0 : error / size;
            worst = here <= worst ? worst : here;  // NaN too
        }
    }
    return worst;
}

}  // namespace heptad::testing_data
