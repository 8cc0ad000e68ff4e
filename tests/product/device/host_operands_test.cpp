// Matrices in host memory that arrive and leave in parts while a device multiplies: the product of the definition, by
// levels and by pieces, from any layout, with the pages locked or not; and what is not finite stays in its row.
#include "product/device/host_operands.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/moduli.hpp"
#include "base/types.hpp"
#include "io/generate.hpp"
#include "kernels/cuda/device/device.hpp"
#include "move/locked_pages.hpp"
#include "product/memory/product_cases.hpp"

namespace heptad::test {
namespace {

class HostOperands : public ::testing::Test {
protected:
    void SetUp() override {
        if (!cuda::report().available) {
            GTEST_SKIP() << cuda::report().problem;
        }
    }
};

Options on_device() {
    Options options;
    options.device = "cuda";
    options.accuracy = Accuracy::fast;
    return options;
}

std::vector<TransferSchedule> schedules(const ProblemSize& size, Type type) {
    const std::int64_t part = size.k / 3, rows = size.m / 2, cols = size.n / 3;
    return {
        undivided_transfers(size),
        transfers_by_level(size, "winograd", type),
        transfers_by_level(size, "strassen", type),
        transfers_by_level(size, "winograd", type, {1, 0, 4}),
        transfers_by_level(size, "winograd", type, {3, 2, 1}),
        transfers_by_level(size, "winograd", type, {1, 3, 1}),
        transfers_by_pieces(size, {part, size.k - part}, {rows, size.m - rows}),
        transfers_by_pieces(size, {part, size.k - part}, {rows, size.m - rows}, {cols, size.n - cols}),
        transfers_by_pieces(size, {part, part, size.k - 2 * part}, {rows, size.m - rows}, {cols, size.n - cols}, 3)};
}

TEST_F(HostOperands, every_schedule_equals_the_definition) {
    for (const Type type : {Type::f64, Type::f32, Type::i32}) {
        for (const ProblemSize& size : {ProblemSize{128, 1024, 96}, {2048, 64, 32}, {65, 33, 47}, {6, 1, 5}}) {
            for (const Layout layout : {Layout::rows, Layout::rows_padded, Layout::columns, Layout::columns_padded}) {
                Random random(3);
                Case x;
                x.type = type;
                x.m = size.m;
                x.k = size.k;
                x.n = size.n;
                x.alpha = 2;
                x.beta = 0;
                GuardedMatrix a(type, x.m, x.k, layout), b(type, x.k, x.n, layout), c(type, x.m, x.n, Layout::rows);
                a.fill_random(random, 1);
                b.fill_random(random, 1);
                c.fill_random(random, 1);
                GuardedMatrix expected = c;
                set_expected(x, wide(a.view()), wide(b.view()), expected);
                for (const TransferSchedule& schedule : schedules(size, type)) {
                    GuardedMatrix result = c;
                    multiply_host_operands(2, a.view(), b.view(), 0, result.view(), schedule, on_device(), 0, {});
                    EXPECT_TRUE(result.equals(expected)) << type_name(type) << " " << schedule.algorithm;
                }
            }
        }
    }
}

TEST_F(HostOperands, panels_of_rows_are_added_to_what_c_held) {
    Random random(4);
    Case x;
    x.type = Type::f32;
    x.m = 70;
    x.k = 50;
    x.n = 60;
    x.alpha = 1;
    x.beta = 3;
    GuardedMatrix a(x.type, x.m, x.k, Layout::rows), b(x.type, x.k, x.n, Layout::rows),
        c(x.type, x.m, x.n, Layout::rows);
    a.fill_random(random, 2);
    b.fill_random(random, 2);
    c.fill_random(random, 2);
    GuardedMatrix expected = c;
    set_expected(x, wide(a.view()), wide(b.view()), expected);
    for (const auto& schedule :
         {transfers_by_pieces({70, 50, 60}, {50}, {30, 40}),
          transfers_by_pieces({70, 50, 60}, {20, 30}, {50, 20}, {35, 25}, 2),
          transfers_by_pieces({70, 50, 60}, {50}, {30, 20, 20}, {20, 25, 15}), undivided_transfers({70, 50, 60})}) {
        GuardedMatrix result = c;
        multiply_host_operands(1, a.view(), b.view(), 3, result.view(), schedule, on_device(), 0, {});
        EXPECT_TRUE(result.equals(expected));
    }
}

/// A balanced product by residues in corners over two parts of k, at sizes that nothing divides.
Options by_residues() {
    Options options;
    options.device = "cuda";
    options.leaf = "heptad-int8";
    return options;
}
const ProblemSize kOdd{1037, 1501, 911};
TransferSchedule corners(int kept_moduli = 0) {
    TransferSchedule schedule = transfers_by_pieces(kOdd, {700, 801}, {512, 300, 225}, {400, 300, 211}, 2);
    schedule.kept_moduli = kept_moduli;
    return schedule;
}

TEST_F(HostOperands, corners_over_parts_of_k_keep_the_error_where_most_of_it_cancels) {
    const auto& [m, k, n] = kOdd;
    for (const Type type : {Type::f32, Type::f64}) {
        for (const bool cancels : {false, true}) {
            Random random(5);
            std::uniform_real_distribution<double> uniform(-0.5, 0.5);
            GuardedMatrix a(type, m, k, Layout::rows), b(type, k, n, Layout::columns_padded),
                c(type, m, n, Layout::rows_padded);
            for (std::int64_t p = 0; p < k; ++p) {
                const std::int64_t other = cancels && p >= k / 2 ? p - k / 2 : p;
                for (std::int64_t i = 0; i < m; ++i) {
                    a.set(i, p, other == p ? uniform(random) : a.get(i, other));
                }
                for (std::int64_t j = 0; j < n; ++j) {  // what the second half adds takes the first one away
                    b.set(p, j, other == p ? uniform(random) : -b.get(other, j));
                }
            }
            const RunReport report =
                multiply_host_operands(-3, a.view(), b.view(), 0, c.view(), corners(), by_residues(), 0, {});
            EXPECT_FALSE(report.fell_back);
            double worst = 0;
            for (std::int64_t i = 0; i < m; i += 61) {
                for (std::int64_t j = 0; j < n; j += 53) {
                    long double exact = 0, rows = 0, cols = 0;
                    for (std::int64_t p = 0; p < k; ++p) {
                        const long double x = a.get(i, p), y = b.get(p, j);
                        exact += x * y;
                        rows += x * x;
                        cols += y * y;
                    }
                    const long double error = std::abs(c.get(i, j) + 3 * exact) / (3 * std::sqrt(rows * cols));
                    worst = std::max(worst, static_cast<double>(error));
                }
            }
            EXPECT_LE(worst, 8 * unit_roundoff(type)) << type_name(type) << " " << cancels;
        }
    }
}

/// Steps judge for themselves how even their rows and columns are: what was made for others may not do.
TEST_F(HostOperands, residues_that_are_kept_from_step_to_step_give_the_same_bits) {
    const auto& [m, k, n] = kOdd;
    enum class Data : std::uint8_t { even, uneven_at_the_end, uneven_along_k, zeros, strange };
    for (const Type type : {Type::f32, Type::f64}) {
        for (const Data data :
             {Data::even, Data::uneven_at_the_end, Data::uneven_along_k, Data::zeros, Data::strange}) {
            Random random(6);
            std::uniform_real_distribution<double> uniform(-1, 1);
            GuardedMatrix a(type, m, k, Layout::rows), b(type, k, n, Layout::rows), c(type, m, n, Layout::rows);
            const auto entry = [&](bool is_line_at_end, std::int64_t line, std::int64_t p) {
                const double x = data == Data::zeros && line % 3 == 0 ? 0 : uniform(random);
                return data == Data::uneven_at_the_end && is_line_at_end ? std::ldexp(x, -static_cast<int>(p % 40))
                       : data == Data::uneven_along_k                    ? std::ldexp(x, static_cast<int>(p % 30))
                                                                         : x;
            };
            for (std::int64_t i = 0; i < m; ++i) {
                for (std::int64_t p = 0; p < k; ++p) {
                    a.set(i, p, entry(i > 900, i, p));
                }
            }
            for (std::int64_t p = 0; p < k; ++p) {
                for (std::int64_t j = 0; j < n; ++j) {
                    b.set(p, j, entry(j > 800, j, k - p));
                }
            }
            if (data == Data::strange) {  // steps with it are classical, and later ones look at what they have left
                a.set(300, 100, std::numeric_limits<double>::infinity());
            }
            GuardedMatrix anew = c, kept = c;
            multiply_host_operands(1, a.view(), b.view(), 0, anew.view(), corners(), by_residues(), 0, {});
            const RunReport report = multiply_host_operands(1, a.view(), b.view(), 0, kept.view(), corners(kMostModuli),
                                                            by_residues(), 0, {});
            EXPECT_GE(report.workspace_used_bytes, kMostModuli * 801 * (m + n));
            std::int64_t different = 0;
            for (std::int64_t i = 0; i < m; ++i) {
                for (std::int64_t j = 0; j < n; ++j) {
                    const double x = anew.get(i, j), y = kept.get(i, j);
                    different += x == y || (std::isnan(x) && std::isnan(y)) ? 0 : 1;
                }
            }
            EXPECT_EQ(different, 0) << type_name(type) << " " << static_cast<int>(data);
        }
    }
}

/// Their planes lie where the numbers' own lay before.
TEST_F(HostOperands, levels_in_passes_beside_kept_residues_give_the_same_bits) {
    const ProblemSize size{1024, 1536, 768};
    TransferSchedule schedule = transfers_by_pieces(size, {768, 768}, {512, 512}, {512, 256});
    std::mt19937 random(8);
    GuardedMatrix a(Type::f32, size.m, size.k, Layout::rows), b(Type::f32, size.k, size.n, Layout::rows),
        c(Type::f32, size.m, size.n, Layout::rows);
    for (GuardedMatrix* x : {&a, &b}) {
        x->fill_random(random, 100);
    }
    GuardedMatrix kept = c;
    multiply_host_operands(1, a.view(), b.view(), 0, c.view(), schedule, by_residues(), 0, {});
    schedule.kept_moduli = kMostModuli;
    Options options = by_residues();
    options.algorithm = "strassen";
    options.levels = 1;
    multiply_host_operands(1, a.view(), b.view(), 0, kept.view(), schedule, options, 0, {});
    EXPECT_TRUE(kept.equals_byte_for_byte(c));
}

TEST_F(HostOperands, a_nan_stays_in_its_row_and_column_where_corners_are_made_by_residues) {
    const auto& [m, k, n] = kOdd;
    GuardedMatrix a(Type::f32, m, k, Layout::rows), b(Type::f32, k, n, Layout::rows), c(Type::f32, m, n, Layout::rows);
    a.fill(1);
    b.fill(2);
    a.set(900, 3, std::numeric_limits<double>::quiet_NaN());    // in the first part of k
    b.set(1500, 10, std::numeric_limits<double>::quiet_NaN());  // in the last
    const RunReport report =
        multiply_host_operands(1, a.view(), b.view(), 0, c.view(), corners(kMostModuli), by_residues(), 0, {});
    EXPECT_TRUE(report.fell_back);
    for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
            const bool strange = i == 900 || j == 10;
            ASSERT_EQ(std::isnan(c.get(i, j)), strange) << i << ", " << j;
            ASSERT_TRUE(strange || c.get(i, j) == 2 * static_cast<double>(k)) << i << ", " << j;
        }
    }
}

TEST_F(HostOperands, progress_grows_to_one_by_the_work_of_the_steps) {
    GuardedMatrix a(Type::f32, 64, 64, Layout::rows), b(Type::f32, 64, 64, Layout::rows),
        c(Type::f32, 64, 64, Layout::rows);
    a.fill(1);
    b.fill(1);
    std::vector<double> told;
    ProductContext context;
    context.hooks.progress = [&](const Progress& progress) { told.push_back(progress.fraction); };
    multiply_host_operands(1, a.view(), b.view(), 0, c.view(),
                           transfers_by_level({64, 64, 64}, "winograd", Type::f32, {2, 2, 1}), on_device(), 0, context);
    ASSERT_EQ(told.size(), 19U);  // one for each product
    EXPECT_NEAR(told.front(), 1.0 / (5 * 8 + 14), 1e-9);
    EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
    EXPECT_EQ(told.back(), 1);
    EXPECT_EQ(c.get(63, 63), 64);
}

TEST_F(HostOperands, a_nan_and_sums_that_would_overflow_are_answered_by_the_whole_product) {
    const ProblemSize size{64, 64, 64};
    constexpr double kLarge = 3e38;  // two of them have no sum in f32
    for (const double strange : {std::numeric_limits<double>::quiet_NaN(), kLarge}) {
        GuardedMatrix a(Type::f32, 64, 64, Layout::rows), b(Type::f32, 64, 64, Layout::rows),
            c(Type::f32, 64, 64, Layout::rows);
        a.fill(1);
        b.fill(0);
        for (std::int64_t j = 0; j < 64; ++j) {
            b.set(j, j, 1);
        }
        a.set(5, 7, strange);
        a.set(40, 41, strange);
        const RunReport report = multiply_host_operands(
            1, a.view(), b.view(), 0, c.view(), transfers_by_level(size, "winograd", Type::f32), on_device(), 0, {});
        EXPECT_TRUE(report.fell_back);
        for (std::int64_t i = 0; i < 64; ++i) {
            for (std::int64_t j = 0; j < 64; ++j) {
                const bool in_row_of_nan = std::isnan(strange) && (i == 5 || i == 40);
                EXPECT_EQ(std::isnan(c.get(i, j)), in_row_of_nan) << i << ", " << j;
                if (!in_row_of_nan) {
                    EXPECT_EQ(c.get(i, j), a.get(i, j));
                }
            }
        }
    }
}

TEST_F(HostOperands, sums_of_blocks_are_part_of_the_workspace_that_is_told) {
    const std::int64_t n = 8448;  // large enough for a level of the host
    const Matrix a = generate("uniform", n, n, Type::f32, 1), b = generate("uniform", n, n, Type::f32, 2);
    Matrix c(Type::f32, n, n);
    const TransferSchedule by_level = transfers_by_level({n, n, n}, "winograd", Type::f32);
    const std::int64_t sum_bytes = sum_buffers(by_level, 4, 4).bytes();
    EXPECT_GE(
        multiply_host_operands(1, a.view(), b.view(), 0, c.view(), by_level, on_device(), 0, {}).workspace_used_bytes,
        sum_bytes);
    for (const std::int64_t limit : {std::int64_t{0}, sum_bytes - 1, sum_bytes, 2 * sum_bytes, 8 * sum_bytes}) {
        Options options = on_device();
        options.workspace_limit_bytes = limit;
        EXPECT_LE(multiply_host_operands(1, a.view(), b.view(), 0, c.view(), options, 0, {}).workspace_used_bytes,
                  limit);
    }
}

/// Large enough for buffers with locked pages, and for what the planner takes by itself.
TEST_F(HostOperands, large_matrices_come_through_buffers_or_straight_from_locked_pages_with_the_same_bits) {
    const std::int64_t n = 8448;
    const Matrix a = generate("uniform", n, n, Type::f32, 1), b = generate("uniform", n, n, Type::f32, 2);
    Matrix through_buffers(Type::f32, n, n), straight(Type::f32, n, n);
    multiply_host_operands(1, a.view(), b.view(), 0, through_buffers.view(), on_device(), 0, {});
    touch_pages(static_cast<std::byte*>(straight.data()), straight.size_bytes());
    LockedPages pages;
    for (const Matrix* matrix : {&a, &b, static_cast<const Matrix*>(&straight)}) {
        pages.lock(matrix->data(), matrix->size_bytes());
    }
    multiply_host_operands(1, a.view(), b.view(), 0, straight.view(), on_device(), 0, {});
    pages.unlock();
    const auto* const x = static_cast<const float*>(std::as_const(through_buffers).data());
    const auto* const y = static_cast<const float*>(std::as_const(straight).data());
    EXPECT_TRUE(std::equal(x, x + n * n, y));
    double exact = 0;
    for (std::int64_t p = 0; p < n; ++p) {
        exact += static_cast<double>(static_cast<const float*>(a.data())[(n - 1) * n + p]) *
                 static_cast<const float*>(b.data())[p * n + n - 1];
    }
    EXPECT_NEAR(x[n * n - 1], exact, 0.05);
}

}  // namespace
}  // namespace heptad::test
