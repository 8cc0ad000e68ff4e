// libheptad_blas.so before a BLAS of plain loops that counts its calls (made_up_blas.hpp). Products of small integers
// are exact, so that every comparison is of bits.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "api/blas/made_up_blas.hpp"
#include "citizen/child.hpp"

namespace {

using heptad::citizen::in_child;
using heptad::citizen::threads_here;

/// Read at the first call of the process: from 16 on, products have one level.
const bool knobs_are_set = [] {
    setenv("HEPTAD_MIN_SIZE", "16", 1);
    setenv("HEPTAD_LEVELS", "1", 0);
    made_up_calls.threads = 2;
    return true;
}();

constexpr double kGuard = -12345;

/// By columns, with guards around every column.
struct Matrix {
    int rows, cols, leading;
    std::vector<double> values;

    Matrix(int r, int c, unsigned seed, double fill = 0, int extra = 3)
        : rows(r),
          cols(c),
          leading(r + extra),
          values(static_cast<std::size_t>(leading) * static_cast<std::size_t>(c)) {
        std::mt19937 random(seed);
        for (int j = 0; j < cols; ++j) {
            for (int i = 0; i < leading; ++i) {
                at(i, j) = i >= rows ? kGuard : seed == 0 ? fill : static_cast<double>(random() % 17) - 8;
            }
        }
    }
    double& at(int i, int j) {
        return values[static_cast<std::size_t>(j) * static_cast<std::size_t>(leading) + static_cast<std::size_t>(i)];
    }
    double at(int i, int j) const { return const_cast<Matrix*>(this)->at(i, j); }
};

Matrix expected(bool ta, bool tb, double alpha, const Matrix& a, const Matrix& b, double beta, Matrix c) {
    const int inner = ta ? a.rows : a.cols;
    for (int j = 0; j < c.cols; ++j) {
        for (int i = 0; i < c.rows; ++i) {
            double sum = 0;
            for (int p = 0; p < inner; ++p) {
                sum += (ta ? a.at(p, i) : a.at(i, p)) * (tb ? b.at(j, p) : b.at(p, j));
            }
            c.at(i, j) = alpha * sum + (beta == 0 ? 0 : beta * c.at(i, j));
        }
    }
    return c;
}

void dgemm(const char* ta, const char* tb, int k, double alpha, const Matrix& a, const Matrix& b, double beta,
           Matrix& c) {
    dgemm_(ta, tb, &c.rows, &c.cols, &k, &alpha, a.values.data(), &a.leading, b.values.data(), &b.leading, &beta,
           c.values.data(), &c.leading, 1, 1);
}

/// Its result is right, and the library was not called.
bool takes_over_well(int size, unsigned seed) {
    const Matrix a(size, size, seed), b(size, size, seed + 1);
    Matrix c(size, size, 0, std::numeric_limits<double>::quiet_NaN());
    const int calls = made_up_calls.dgemm;
    dgemm("N", "N", size, 1, a, b, 0, c);
    return made_up_calls.dgemm == calls && c.values == expected(false, false, 1, a, b, 0, c).values;
}

}  // namespace

class drop_in : public testing::Test {
protected:
    drop_in() { made_up_calls.dgemm = made_up_calls.cblas_dgemm = 0; }
};

TEST_F(drop_in, large_products_of_every_shape_and_transpose_are_exact_and_stay_within_c) {
    const int calls = made_up_calls.dgemm;
    for (const int m : {16, 17, 40}) {
        for (const int n : {16, 33}) {
            for (const int k : {16, 31}) {
                for (const int words : {0, 1, 2, 3}) {
                    for (const double beta : {0.0, 1.0, -2.0}) {
                        const bool ta = (words & 1) != 0, tb = (words & 2) != 0;
                        const Matrix a(ta ? k : m, ta ? m : k, 1), b(tb ? n : k, tb ? k : n, 2);
                        Matrix c(m, n, beta == 0 ? 0 : 3, std::numeric_limits<double>::quiet_NaN());
                        const Matrix right = expected(ta, tb, 3, a, b, beta, c);
                        dgemm(ta ? "t" : "N", tb ? "C" : "n", k, 3, a, b, beta, c);
                        EXPECT_EQ(c.values, right.values) << m << " " << k << " " << n << " " << words << " " << beta;
                    }
                }
            }
        }
    }
    EXPECT_EQ(made_up_calls.dgemm, calls);
}

TEST_F(drop_in, cblas_by_rows_and_by_columns_is_exact) {
    const int m = 20, n = 33, k = 17;
    const Matrix a(m, k, 1, 0, 0), b(k, n, 2, 0, 0);
    for (const bool by_rows : {false, true}) {
        Matrix c(m, n, 0, 7, 0);
        Matrix right = expected(false, false, 1, a, b, 1, c);
        if (by_rows) {  // the transposes, which lie by columns
            Matrix turned(n, m, 0, 7, 0);
            cblas_dgemm(101, 112, 112, m, n, k, 1, a.values.data(), m, b.values.data(), k, 1, turned.values.data(), n);
            for (int i = 0; i < m; ++i) {
                for (int j = 0; j < n; ++j) {
                    c.at(i, j) = turned.at(j, i);
                }
            }
        } else {
            cblas_dgemm(102, 111, 111, m, n, k, 1, a.values.data(), m, b.values.data(), k, 1, c.values.data(), m);
        }
        EXPECT_EQ(c.values, right.values);
    }
    EXPECT_EQ(made_up_calls.cblas_dgemm, 0);
}

TEST_F(drop_in, small_products_are_passed_on_with_all_their_arguments) {
    const Matrix a(15, 40, 1), b(40, 40, 2);
    Matrix c(15, 40, 3);
    const Matrix right = expected(false, false, 2, a, b, 1, c);
    const double alpha = 2, beta = 1;
    const int k = 40;
    dgemm_("N", "N", &c.rows, &c.cols, &k, &alpha, a.values.data(), &a.leading, b.values.data(), &b.leading, &beta,
           c.values.data(), &c.leading, 77, 1);
    EXPECT_EQ(c.values, right.values);
    EXPECT_EQ(made_up_calls.dgemm, 1);
    EXPECT_EQ(made_up_calls.last_m, 15);
    EXPECT_EQ(made_up_calls.last_length, 77U) << "Fortran's hidden length of a word";
}

TEST_F(drop_in, wrong_arguments_are_passed_on_as_they_came) {
    const Matrix a(40, 40, 1), b(40, 40, 2);
    Matrix c(40, 40, 3);
    const Matrix before = c;
    const double one = 1;
    const int size = 40, negative = -1;
    int calls = made_up_calls.dgemm;
    dgemm_("X", "N", &size, &size, &size, &one, a.values.data(), &a.leading, b.values.data(), &b.leading, &one,
           c.values.data(), &c.leading, 1, 1);
    EXPECT_EQ(made_up_calls.dgemm, ++calls);
    dgemm_("X", "N", &negative, &size, &size, &one, a.values.data(), &a.leading, b.values.data(), &b.leading, &one,
           c.values.data(), &c.leading, 1, 1);
    EXPECT_EQ(made_up_calls.dgemm, ++calls);
    EXPECT_EQ(made_up_calls.last_m, -1);
    const int too_short = 39;
    Matrix other(40, 40, 3);  // too short a leading dimension: what the library makes of it
    dgemm_("N", "N", &size, &size, &size, &one, a.values.data(), &too_short, b.values.data(), &b.leading, &one,
           other.values.data(), &other.leading, 1, 1);
    EXPECT_EQ(made_up_calls.dgemm, ++calls);
    EXPECT_EQ(c.values, before.values);
}

TEST_F(drop_in, alpha_zero_and_overlapping_matrices_are_passed_on) {
    Matrix a(32, 32, 1);
    const Matrix b(32, 32, 2);
    Matrix c(32, 32, 3);
    int calls = made_up_calls.dgemm;
    dgemm("N", "N", 32, 0, a, b, 1, c);
    EXPECT_EQ(made_up_calls.dgemm, ++calls);
    dgemm("N", "N", 32, 1, b, a, 0, a);  // no BLAS defines it; ours does not try
    EXPECT_EQ(made_up_calls.dgemm, ++calls);
}

TEST_F(drop_in, a_nan_or_infinity_reaches_what_it_reaches_in_a_classical_product) {
    Matrix a(64, 64, 1);
    const Matrix b(64, 64, 2);
    a.at(5, 7) = std::numeric_limits<double>::infinity();
    Matrix c(64, 64, 0, 0);
    dgemm("N", "N", 64, 1, a, b, 0, c);
    for (int i = 0; i < 64; ++i) {
        for (int j = 0; j < 64; ++j) {
            EXPECT_EQ(std::isfinite(c.at(i, j)), i != 5) << i << " " << j;
        }
    }
}

TEST_F(drop_in, calls_that_a_library_makes_of_itself_are_passed_on) {
    const Matrix a(32, 32, 1, 0, 0), b(32, 32, 2, 0, 0);
    Matrix c(32, 32, 0, 0, 0);
    // An order that there is not goes to the made-up cblas_dgemm. That calls dgemm_ by name, with a product that we
    // would take.
    cblas_dgemm(103, 111, 111, 32, 32, 32, 1, a.values.data(), 32, b.values.data(), 32, 0, c.values.data(), 32);
    EXPECT_EQ(made_up_calls.cblas_dgemm, 1);
    EXPECT_EQ(made_up_calls.dgemm, 1);
}

TEST_F(drop_in, the_other_triangle_of_a_syrk_is_neither_read_nor_written) {
    for (const char* uplo : {"U", "l"}) {
        for (const char* trans : {"N", "T"}) {
            for (const double beta : {0.0, 2.0}) {
                const int n = 300, k = 40;  // of units of 64
                const bool upper = *uplo == 'U', turned = *trans == 'T';
                const Matrix a(turned ? k : n, turned ? n : k, 1);
                Matrix c(n, n, 4);
                for (int j = 0; j < n; ++j) {
                    for (int i = 0; i < n; ++i) {
                        if (upper ? i > j : i < j) {
                            c.at(i, j) = std::numeric_limits<double>::quiet_NaN();
                        }
                    }
                }
                const Matrix before = c;
                const Matrix right = expected(turned, !turned, 3, a, a, beta, c);
                const double alpha = 3;
                const int calls = made_up_calls.dgemm;
                dsyrk_(upper ? "U" : "L", trans, &n, &k, &alpha, a.values.data(), &a.leading, &beta, c.values.data(),
                       &c.leading, 1, 1);
                EXPECT_EQ(made_up_calls.dgemm, calls) << "products are ours";
                for (int j = 0; j < n; ++j) {
                    for (int i = 0; i < c.leading; ++i) {
                        const bool asked_for = i < n && (upper ? i <= j : i >= j);
                        const double wanted = asked_for ? right.at(i, j) : before.at(i, j);
                        ASSERT_TRUE(c.at(i, j) == wanted || (std::isnan(wanted) && std::isnan(c.at(i, j))))
                            << uplo << trans << beta << " " << i << " " << j;
                    }
                }
            }
        }
    }
    EXPECT_GT(made_up_calls.dsyrk, 0) << "narrow triangles are the library's";
}

TEST_F(drop_in, the_library_is_asked_for_its_threads_at_every_large_call) {
    const int asked = made_up_calls.threads_asked;
    EXPECT_TRUE(takes_over_well(32, 1));
    made_up_calls.threads = 1;
    EXPECT_TRUE(takes_over_well(32, 1));
    EXPECT_EQ(made_up_calls.threads_asked, asked + 2);
}

TEST_F(drop_in, a_call_from_an_openmp_region_has_one_thread) {
    HEPTAD_FORKS_WITH_THREADS();
    EXPECT_EQ(in_child([] {
                  made_up_calls.threads = 2;
                  made_up_calls.in_parallel = 1;
                  const int before = threads_here();
                  return takes_over_well(300, 1) ? threads_here() - before : 100;
              }),
              "exit 0");
}

TEST_F(drop_in, a_library_that_was_loaded_privately_is_found) {
    void* const handle = dlopen(HEPTAD_PRIVATE_BLAS, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(handle, nullptr) << dlerror();
    auto& calls = *static_cast<std::atomic<int>*>(dlsym(handle, "private_calls"));
    using Gemm = void (*)(int, int, int, std::int64_t, std::int64_t, std::int64_t, double, const double*, std::int64_t,
                          const double*, std::int64_t, double, double*, std::int64_t);
    const auto ours = reinterpret_cast<Gemm>(dlsym(RTLD_DEFAULT, "scipy_cblas_dgemm64_"));
    ASSERT_NE(ours, nullptr);
    ASSERT_NE(ours, reinterpret_cast<Gemm>(dlsym(handle, "scipy_cblas_dgemm64_")));
    const std::vector<double> a(64 * 64, 2.0), b(64 * 64, 3.0);
    std::vector<double> c(64 * 64);
    ours(101, 111, 111, 8, 8, 8, 1, a.data(), 64, b.data(), 64, 0, c.data(), 64);
    EXPECT_EQ(calls, 1) << "a small call is passed on to it";
    EXPECT_EQ(c[0], 48);
    ours(101, 111, 111, 64, 64, 64, 1, a.data(), 64, b.data(), 64, 0, c.data(), 64);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(c, std::vector<double>(64 * 64, 6.0 * 64));
}

TEST_F(drop_in, a_library_of_64_bit_integers_with_plain_names_gets_them_whole) {
    void* const handle = dlopen(HEPTAD_PRIVATE_BLAS, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(handle, nullptr) << dlerror();
    using Int = std::int64_t;
    using Gemm =
        void (*)(int, int, int, Int, Int, Int, double, const double*, Int, const double*, Int, double, double*, Int);
    const auto gemm = reinterpret_cast<Gemm>(dlsym(RTLD_DEFAULT, "scipy_cblas_dgemm"));
    ASSERT_NE(gemm, nullptr);
    const double two = 2;
    double product = 0;
    constexpr Int kLongRow = (Int{1} << 33) + 7;
    gemm(101, 111, 111, 1, 1, 1, 1, &two, kLongRow, &two, 1, 0, &product, 1);
    EXPECT_EQ(product, 4);
    EXPECT_EQ(*static_cast<std::atomic<Int>*>(dlsym(handle, "private_leading")), kLongRow);

    using Syrk = void (*)(const char*, const char*, const Int*, const Int*, const double*, const double*, const Int*,
                          const double*, double*, const Int*, std::size_t, std::size_t);
    const auto syrk = reinterpret_cast<Syrk>(dlsym(RTLD_DEFAULT, "scipy_dsyrk_"));
    ASSERT_NE(syrk, nullptr);
    const Int n = 300, k = 40;
    const Matrix a(n, k, 1);
    Matrix c(n, n, 4);
    const Matrix right = expected(false, true, 3, a, a, 2, c);
    const Int lda = a.leading, ldc = c.leading;
    const double alpha = 3, beta = 2;
    syrk("U", "N", &n, &k, &alpha, a.values.data(), &lda, &beta, c.values.data(), &ldc, 1, 1);
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i <= j; ++i) {
            ASSERT_EQ(c.at(i, j), right.at(i, j)) << i << " " << j;
        }
    }

    using Batch =
        void (*)(int, const int*, const int*, const Int*, const Int*, const Int*, const double*, const double**,
                 const Int*, const double**, const Int*, const double*, double**, const Int*, Int, const Int*);
    const auto batch = reinterpret_cast<Batch>(dlsym(RTLD_DEFAULT, "scipy_cblas_dgemm_batch"));
    ASSERT_NE(batch, nullptr);
    const int words[] = {111, 111};
    const Int sizes[] = {300, 300}, once[] = {1, 1};
    const double* left[] = {a.values.data(), a.values.data()};
    double* results[] = {c.values.data(), c.values.data()};
    const double factors[] = {1, 1};
    batch(102, words, words, sizes, sizes, sizes, factors, left, sizes, left, sizes, factors, results, sizes, 2, once);
    EXPECT_EQ(*static_cast<std::atomic<int>*>(dlsym(handle, "private_batches")), 2) << "its arrays cannot be read here";
}

TEST_F(drop_in, batches_with_a_large_product_are_ours_and_right) {
    using Batch =
        void (*)(int, const int*, const int*, const int*, const int*, const int*, const double*, const double**,
                 const int*, const double**, const int*, const double*, double**, const int*, int, const int*);
    const auto batch = reinterpret_cast<Batch>(dlsym(RTLD_DEFAULT, "cblas_dgemm_batch"));
    ASSERT_NE(batch, nullptr);
    const Matrix a(40, 40, 1), b(40, 40, 2);
    Matrix large(40, 40, 3), first(5, 5, 4), second(5, 5, 5);
    const Matrix small_a(5, 5, 6), small_b(5, 5, 7);
    const std::vector<Matrix> right = {expected(false, true, 2, a, b, 1, large),
                                       expected(false, false, 1, small_a, small_b, 0, first),
                                       expected(false, false, 1, small_b, small_a, 0, second)};
    const int ta[] = {111, 111}, tb[] = {112, 111}, size[] = {40, 5}, leading[] = {43, 8}, count[] = {1, 2};
    const double alpha[] = {2, 1}, beta[] = {1, 0};
    const double* left[] = {a.values.data(), small_a.values.data(), small_b.values.data()};
    const double* other[] = {b.values.data(), small_b.values.data(), small_a.values.data()};
    double* result[] = {large.values.data(), first.values.data(), second.values.data()};
    batch(102, ta, tb, size, size, size, alpha, left, leading, other, leading, beta, result, leading, 2, count);
    EXPECT_EQ(large.values, right[0].values);
    EXPECT_EQ(first.values, right[1].values);
    EXPECT_EQ(second.values, right[2].values);
    EXPECT_EQ(made_up_calls.cblas_dgemm, 2) << "the small ones";
}

TEST_F(drop_in, entries_of_which_the_process_has_no_library_multiply_classically) {
    using Gemm = void (*)(const char*, const char*, const std::int64_t*, const std::int64_t*, const std::int64_t*,
                          const double*, const double*, const std::int64_t*, const double*, const std::int64_t*,
                          const double*, double*, const std::int64_t*, std::size_t, std::size_t);
    const auto gemm = reinterpret_cast<Gemm>(dlsym(RTLD_DEFAULT, "scipy_dgemm_64_"));
    ASSERT_NE(gemm, nullptr);
    for (const int size : {1, 5, 40}) {
        const Matrix a(size, size, 1), b(size, size, 2);
        Matrix c(size, size, 3);
        const Matrix right = expected(false, true, 2, a, b, -1, c);
        const std::int64_t side = size, leading = a.leading;
        const double alpha = 2, beta = -1;
        gemm("N", "T", &side, &side, &side, &alpha, a.values.data(), &leading, b.values.data(), &leading, &beta,
             c.values.data(), &leading, 1, 1);
        EXPECT_EQ(c.values, right.values) << size;
    }
}

TEST_F(drop_in, the_same_product_has_the_same_bits_a_hundred_times) {
    std::mt19937 random(5);
    std::normal_distribution<double> normal;
    Matrix a(150, 150, 1), b(150, 150, 2);
    for (Matrix* matrix : {&a, &b}) {
        for (double& value : matrix->values) {
            value = normal(random);
        }
    }
    Matrix first(150, 150, 0, 0);
    dgemm("N", "N", 150, 1, a, b, 0, first);
    for (int run = 0; run < 100; ++run) {
        Matrix again(150, 150, 0, 0);
        dgemm("N", "N", 150, 1, a, b, 0, again);
        ASSERT_EQ(again.values, first.values) << run;
    }
}

TEST_F(drop_in, many_threads_call_at_once) {
    std::atomic<int> wrong{0};
    std::vector<std::thread> callers;
    for (unsigned caller = 0; caller < 96; ++caller) {
        callers.emplace_back([&, caller] {
            for (unsigned call = 0; call < 4; ++call) {
                wrong += takes_over_well(16 + static_cast<int>((caller + call) % 40), caller + 1) ? 0 : 1;
            }
        });
    }
    for (std::thread& caller : callers) {
        caller.join();
    }
    EXPECT_EQ(wrong, 0);
}

TEST_F(drop_in, children_of_a_fork_multiply_before_and_after_the_first_use) {
    HEPTAD_FORKS_WITH_THREADS();
    EXPECT_EQ(in_child([] { return takes_over_well(80, 1) ? 0 : 1; }), "exit 0");
    EXPECT_TRUE(takes_over_well(80, 2));
    EXPECT_EQ(in_child([] { return takes_over_well(80, 3) ? 0 : 1; }), "exit 0");
    EXPECT_TRUE(takes_over_well(80, 4));
}

TEST_F(drop_in, nothing_is_started_before_the_first_large_call) {
    const Matrix a(8, 8, 1), b(8, 8, 2);
    Matrix c(8, 8, 3);
    const int before = threads_here();  // 1 where this test has a process of its own
    dgemm("N", "N", 8, 1, a, b, 0, c);
    EXPECT_EQ(made_up_calls.dgemm, 1);
    EXPECT_EQ(threads_here(), before);
}

TEST_F(drop_in, without_memory_a_product_is_the_librarys) {
    const int size = 400;
    const Matrix a(size, size, 1), b(size, size, 2);
    for (const double beta : {0.0, 2.0}) {
        Matrix c(size, size, 3);
        const Matrix right = expected(false, false, 1, a, b, beta, c);
        for (const rlim_t left : {0UL, 1UL << 20, 3UL << 20, 8UL << 20, 20UL << 20, 60UL << 20}) {
            EXPECT_EQ(in_child([&] {
                          std::ifstream sizes("/proc/self/statm");
                          rlim_t pages = 0;
                          sizes >> pages;
                          const rlim_t limit = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + left;
                          const rlimit both{limit, limit};
                          setrlimit(RLIMIT_AS, &both);
                          dgemm("N", "N", size, 1, a, b, beta, c);
                          return c.values == right.values ? 0 : 1;
                      }),
                      "exit 0")
                << beta << " " << left;
        }
    }
}
