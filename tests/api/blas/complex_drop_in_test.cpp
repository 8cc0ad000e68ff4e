// Complex calls: libheptad_blas.so before a BLAS of plain loops that counts its calls (made_up_blas.hpp). Products of
// small integers are exact, by three real products too, so that every comparison is of bits.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

#include "api/blas/made_up_blas.hpp"

namespace {

using Complex = std::complex<double>;

/// Read at the first call of the process: from 16 on, the real products have one level.
const bool knobs_are_set = [] {
    setenv("HEPTAD_MIN_SIZE", "16", 1);
    setenv("HEPTAD_LEVELS", "1", 0);
    made_up_calls.threads = 2;
    return true;
}();

const Complex kGuard(-12345, 54321), kNan(std::numeric_limits<double>::quiet_NaN(), 0);

/// By columns, with guards below every column.
struct Matrix {
    int rows, cols, leading;
    std::vector<Complex> values;

    Matrix(int r, int c, unsigned seed) : rows(r), cols(c), leading(r + 3) {
        std::mt19937 random(seed);
        const auto part = [&] { return static_cast<double>(random() % 9) - 4; };
        for (int j = 0; j < cols; ++j) {
            for (int i = 0; i < leading; ++i) {
                const double real = part();
                values.push_back(i >= rows ? kGuard : Complex(real, part()));
            }
        }
    }
    Complex& at(int i, int j) {
        return values[static_cast<std::size_t>(j) * static_cast<std::size_t>(leading) + static_cast<std::size_t>(i)];
    }
    const Complex& at(int i, int j) const { return const_cast<Matrix*>(this)->at(i, j); }
};

Complex element(char word, const Matrix& m, int i, int j) {
    const Complex x = word == 'N' ? m.at(i, j) : m.at(j, i);
    return word == 'C' ? std::conj(x) : x;
}

Matrix expected(char ta, char tb, Complex alpha, const Matrix& a, const Matrix& b, Complex beta, Matrix c) {
    const int inner = ta == 'N' ? a.cols : a.rows;
    for (int j = 0; j < c.cols; ++j) {
        for (int i = 0; i < c.rows; ++i) {
            Complex sum = 0;
            for (int p = 0; p < inner; ++p) {
                sum += element(ta, a, i, p) * element(tb, b, p, j);
            }
            c.at(i, j) = alpha * sum + (beta == 0.0 ? Complex() : beta * c.at(i, j));
        }
    }
    return c;
}

Matrix operand(char word, int rows, int cols, unsigned seed) {
    return word == 'N' ? Matrix(rows, cols, seed) : Matrix(cols, rows, seed);
}

void zgemm(char ta, char tb, int k, Complex alpha, const Matrix& a, const Matrix& b, Complex beta, Matrix& c) {
    zgemm_(&ta, &tb, &c.rows, &c.cols, &k, &alpha, a.values.data(), &a.leading, b.values.data(), &b.leading, &beta,
           c.values.data(), &c.leading, 1, 1);
}

template <class Function>
Function entry(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

using CblasGemm = void (*)(int, int, int, int, int, int, const void*, const void*, int, const void*, int, const void*,
                           void*, int);

constexpr char kWords[] = {'N', 'T', 'C'};
constexpr int kCblasWords[] = {111, 112, 113};

}  // namespace

TEST(complex_drop_in, large_products_of_every_word_and_factor_are_ours_and_exact_and_stay_within_c) {
    const int calls = made_up_calls.zgemm;
    for (const char ta : kWords) {
        for (const char tb : kWords) {
            for (const Complex alpha : {Complex(1), Complex(2, -1)}) {
                for (const Complex beta : {Complex(), Complex(-2), Complex(1, 3)}) {
                    const int m = 17, n = 40, k = 33;
                    const Matrix a = operand(ta, m, k, 1), b = operand(tb, k, n, 2);
                    Matrix c(m, n, 3);
                    const Matrix right = expected(ta, tb, alpha, a, b, beta, c);
                    if (beta == 0.0) {
                        for (int j = 0; j < n; ++j) {
                            std::fill_n(&c.at(0, j), m, kNan);
                        }
                    }
                    zgemm(static_cast<char>(std::tolower(ta)), tb, k, alpha, a, b, beta, c);
                    EXPECT_EQ(c.values, right.values) << ta << tb << alpha << beta;
                }
            }
        }
    }
    EXPECT_EQ(made_up_calls.zgemm, calls);
}

TEST(complex_drop_in, cblas_gemm_and_gemm3m_by_rows_and_by_columns_are_exact) {
    const int size = 24;
    const Complex alpha(1, 2), beta(3);
    for (const char* name : {"cblas_zgemm", "cblas_zgemm3m"}) {
        for (std::size_t word = 0; word < 3; ++word) {
            const Matrix a(size, size, 1), b(size, size, 2);
            Matrix c(size, size, 3), by_rows = c;
            // By rows A' B' = (B A)': the same memory is the product of the other order.
            const Matrix right = expected('N', kWords[word], alpha, a, b, beta, c);
            const int leading = a.leading;
            entry<CblasGemm>(name)(102, 111, kCblasWords[word], size, size, size, &alpha, a.values.data(), leading,
                                   b.values.data(), leading, &beta, c.values.data(), leading);
            entry<CblasGemm>(name)(101, kCblasWords[word], 111, size, size, size, &alpha, b.values.data(), leading,
                                   a.values.data(), leading, &beta, by_rows.values.data(), leading);
            EXPECT_EQ(c.values, right.values) << name << word;
            EXPECT_EQ(by_rows.values, right.values) << name << word;
        }
    }
}

TEST(complex_drop_in, triangles_of_herk_have_real_diagonals_and_leave_the_other_triangle_alone) {
    for (const char uplo : {'U', 'L'}) {
        for (const char trans : {'N', 'C'}) {
            const int n = 200, k = 40;  // of units of 64
            const Matrix a = operand(trans, n, k, 1);
            Matrix c(n, n, 4);
            for (int j = 0; j < n; ++j) {
                for (int i = 0; i < n; ++i) {
                    if (uplo == 'U' ? i > j : i < j) {
                        c.at(i, j) = kNan;
                    }
                }
            }
            const Matrix before = c;
            Matrix hermitian = c;
            for (int i = 0; i < n; ++i) {
                hermitian.at(i, i).imag(0);
            }
            const Matrix right = expected(trans, trans == 'N' ? 'C' : 'N', 3, a, a, 2, hermitian);
            const double alpha = 3, beta = 2;
            const int gemms = made_up_calls.zgemm, triangles = made_up_calls.zherk;
            zherk_(&uplo, &trans, &n, &k, &alpha, a.values.data(), &a.leading, &beta, c.values.data(), &c.leading, 1,
                   1);
            EXPECT_EQ(made_up_calls.zgemm, gemms) << "products are ours";
            EXPECT_GT(made_up_calls.zherk, triangles + 1) << "narrow triangles are the library's";
            for (int j = 0; j < n; ++j) {
                for (int i = 0; i < c.leading; ++i) {
                    const bool asked_for = i < n && (uplo == 'U' ? i <= j : i >= j);
                    const Complex wanted = asked_for ? right.at(i, j) : before.at(i, j);
                    ASSERT_TRUE(c.at(i, j) == wanted || (std::isnan(wanted.real()) && std::isnan(c.at(i, j).real())))
                        << uplo << trans << i << " " << j;
                }
            }
            const char transposed = 'T';  // no word of herk's
            const int passed = made_up_calls.zherk;
            zherk_(&uplo, &transposed, &n, &k, &alpha, a.values.data(), &a.leading, &beta, c.values.data(), &c.leading,
                   1, 1);
            EXPECT_EQ(made_up_calls.zherk, passed + 1);
        }
    }
}

TEST(complex_drop_in, what_is_small_wrong_zero_or_overlapping_is_the_librarys_and_infinities_stay_in_their_rows) {
    Matrix a(32, 32, 1);
    const Matrix b(32, 32, 2), narrow(15, 32, 3);
    Matrix c(32, 32, 4), small(15, 32, 5);
    int calls = made_up_calls.zgemm;
    const Matrix right = expected('N', 'N', 2, narrow, b, 1, small);
    zgemm('N', 'N', 32, 2, narrow, b, 1, small);
    EXPECT_EQ(made_up_calls.zgemm, ++calls);
    EXPECT_EQ(small.values, right.values);
    zgemm('X', 'N', 32, 1, a, b, 1, c);
    EXPECT_EQ(made_up_calls.zgemm, ++calls);
    zgemm('N', 'N', 32, 0, a, b, 1, c);
    EXPECT_EQ(made_up_calls.zgemm, ++calls);
    zgemm('N', 'N', 32, 1, b, a, 0, a);
    EXPECT_EQ(made_up_calls.zgemm, ++calls);
    Matrix infinite(32, 32, 6);
    infinite.at(3, 5) = {0, std::numeric_limits<double>::infinity()};
    zgemm('N', 'C', 32, 1, infinite, b, 0, c);
    for (int i = 0; i < 32; ++i) {
        EXPECT_EQ(std::isfinite(c.at(i, 7).real()), i != 3) << i;
    }
}

TEST(complex_drop_in, entries_of_which_the_process_has_no_library_multiply_classically) {
    using Gemm = void (*)(const char*, const char*, const std::int64_t*, const std::int64_t*, const std::int64_t*,
                          const Complex*, const Complex*, const std::int64_t*, const Complex*, const std::int64_t*,
                          const Complex*, Complex*, const std::int64_t*, std::size_t, std::size_t);
    using Herk =
        void (*)(const char*, const char*, const std::int64_t*, const std::int64_t*, const double*, const Complex*,
                 const std::int64_t*, const double*, Complex*, const std::int64_t*, std::size_t, std::size_t);
    for (const int size : {1, 5, 40}) {
        const Matrix a(size, size, 1), b(size, size, 2);
        Matrix c(size, size, 3);
        Complex alpha(2, 1), beta(-1);
        const Matrix right = expected('N', 'C', alpha, a, b, beta, c);
        const std::int64_t side = size, leading = a.leading;
        entry<Gemm>("scipy_zgemm_64_")("N", "C", &side, &side, &side, &alpha, a.values.data(), &leading,
                                       b.values.data(), &leading, &beta, c.values.data(), &leading, 1, 1);
        EXPECT_EQ(c.values, right.values) << size;
        Matrix triangle(size, size, 4);
        Matrix wanted = expected('N', 'C', 3, a, a, 0, triangle);
        const double three = 3, zero = 0;
        entry<Herk>("scipy_zherk_64_")("L", "N", &side, &side, &three, a.values.data(), &leading, &zero,
                                       triangle.values.data(), &leading, 1, 1);
        for (int j = 0; j < size; ++j) {
            for (int i = j; i < size; ++i) {
                EXPECT_EQ(triangle.at(i, j), wanted.at(i, j)) << size;
            }
        }
    }
}
