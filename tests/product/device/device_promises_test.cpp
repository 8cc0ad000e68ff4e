// What a product on a device promises beside being right: non-finite input, workspace, repeatable bits, refusals.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "algorithm/catalogue.hpp"
#include "base/error.hpp"
#include "plan/search/level_layout.hpp"
#include "product/device/device_matrix.hpp"
#include "product/device/device_product.hpp"

namespace heptad::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

Options on_device(int levels, const std::string& mode = "auto", const std::string& algorithm = "winograd") {
    Options options;
    options.device = "cuda";
    options.levels = levels;
    options.mode = mode;
    options.algorithm = algorithm;
    options.accuracy = Accuracy::fast;
    return options;
}

/// One product of guarded matrices on the device; everything is fetched afterwards.
void multiply_there(double alpha, GuardedMatrix& a, GuardedMatrix& b, double beta, GuardedMatrix& c,
                    const Options& options) {
    const cuda::Stream stream(0);
    DeviceMatrixCopy da(a, stream.handle()), db(b, stream.handle()), dc(c, stream.handle());
    ProductContext context;
    context.stream = stream.handle();
    multiply_on_device(alpha, da.view(), db.view(), beta, dc.view(), options, context);
    da.fetch();
    db.fetch();
    dc.fetch();
    stream.synchronize();
}

ErrorCode refusal(const std::function<void()>& act) {
    try {
        act();
    } catch (const Error& error) {
        EXPECT_FALSE(std::string(error.what()).empty());
        return error.code();
    }
    return ErrorCode::internal;
}

class NonFinite : public testing::TestWithParam<std::tuple<Type, int, std::string, double>> {};

TEST_P(NonFinite, entries_spread_as_in_the_classical_product) {
    HEPTAD_NEEDS_DEVICE();
    const auto [type, levels, mode, beta] = GetParam();
    std::mt19937 random(5);
    for (const double strange : {kNaN, kInf, -kInf}) {
        for (const bool in_a : {true, false}) {
            GuardedMatrix a(type, 33, 35, Layout::rows), b(type, 35, 34, Layout::rows), c(type, 33, 34, Layout::rows);
            a.fill_random(random, 2);
            b.fill_random(random, 2);
            b.set(7, 3, 1);  // an infinity in A times this is one, not NaN
            c.fill_random(random, 2);
            (in_a ? a : b).set(7, 7, strange);
            GuardedMatrix fast = c, classical = c;
            multiply_there(1, a, b, beta, fast, on_device(levels, mode));
            multiply_there(1, a, b, beta, classical, on_device(0));
            int strange_entries = 0;
            for (std::int64_t i = 0; i < 33; ++i) {
                for (std::int64_t j = 0; j < 34; ++j) {
                    const double x = fast.get(i, j), y = classical.get(i, j);
                    ASSERT_TRUE((std::isnan(x) && std::isnan(y)) || x == y) << i << ", " << j << ": " << x << " " << y;
                    strange_entries += std::isfinite(x) ? 0 : 1;
                }
            }
            EXPECT_GT(strange_entries, 0);
            EXPECT_LE(strange_entries, 34);
        }
    }
}

std::string case_name(const testing::TestParamInfo<NonFinite::ParamType>& of) {
    const auto& [type, levels, mode, beta] = of.param;
    return fmt::format("{}_{}_levels_{}_beta_{}", type_name(type), levels, mode, static_cast<int>(beta));
}

INSTANTIATE_TEST_SUITE_P(device, NonFinite,
                         testing::Combine(testing::Values(Type::f32, Type::f64, Type::tf32, Type::bf16, Type::f16),
                                          testing::Values(1, 2),
                                          testing::Values(std::string("parallel"), std::string("serial")),
                                          testing::Values(0.0, 2.0)),
                         case_name);

TEST(device_promises, sums_that_would_overflow_are_answered_classically) {
    HEPTAD_NEEDS_DEVICE();
    GuardedMatrix a(Type::f32, 16, 16, Layout::rows), b(Type::f32, 16, 16, Layout::rows),
        c(Type::f32, 16, 16, Layout::rows);
    a.fill(0);
    b.fill(0);
    for (std::int64_t i = 0; i < 16; ++i) {
        a.set(i, i, 3e38);
        b.set(i, i, 0.5);
        a.set(i, (i + 8) % 16, 2.5e38);  // S = A21 + A22 would overflow
    }
    GuardedMatrix fast = c;
    multiply_there(1, a, b, 0, fast, on_device(1, "parallel"));
    for (std::int64_t i = 0; i < 16; ++i) {
        for (std::int64_t j = 0; j < 16; ++j) {
            EXPECT_EQ(fast.get(i, j), 0.5 * a.get(i, j)) << i << ", " << j;
        }
    }
}

TEST(device_promises, the_classical_answer_covers_every_tile_of_a_large_c) {
    HEPTAD_NEEDS_DEVICE();
    constexpr std::int64_t kSide = 3100, kDepth = 8;  // more tiles than the answer has thread blocks
    GuardedMatrix a(Type::f32, kSide, kDepth, Layout::rows), b(Type::f32, kDepth, kSide, Layout::rows),
        c(Type::f32, kSide, kSide, Layout::rows);
    a.fill(1);
    b.fill(2);
    a.set(5, 3, kNaN);
    multiply_there(1, a, b, 0, c, on_device(1, "parallel"));
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < kSide; ++i) {
        for (std::int64_t j = 0; j < kSide; ++j) {
            const double x = c.get(i, j);
            wrong += i == 5 ? !std::isnan(x) : x != 2.0 * kDepth;
        }
    }
    EXPECT_EQ(wrong, 0);
}

TEST(device_promises, the_same_product_has_the_same_bits) {
    HEPTAD_NEEDS_DEVICE();
    std::mt19937 random(6);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (const Type type : {Type::f32, Type::f64, Type::tf32, Type::bf16}) {
        GuardedMatrix a(type, 257, 260, Layout::rows), b(type, 260, 259, Layout::rows), c(type, 257, 259, Layout::rows);
        for (GuardedMatrix* x : {&a, &b}) {
            for (std::int64_t i = 0; i < x->view().rows; ++i) {
                for (std::int64_t j = 0; j < x->view().cols; ++j) {
                    x->set(i, j, uniform(random));
                }
            }
        }
        GuardedMatrix first = c;
        multiply_there(1, a, b, 0, first, on_device(2));
        for (int i = 0; i < 5; ++i) {
            GuardedMatrix again = c;
            multiply_there(1, a, b, 0, again, on_device(2));
            EXPECT_TRUE(again.equals_byte_for_byte(first)) << type_name(type);
        }
    }
}

TEST(device_promises, workspace_is_told_and_kept_to) {
    HEPTAD_NEEDS_DEVICE();
    std::mt19937 random(7);
    const cuda::Stream stream(0);
    for (const Type type : {Type::f32, Type::bf16, Type::i32}) {
        for (const char* mode : {"parallel", "serial"}) {
            GuardedMatrix a(type, 65, 66, Layout::rows), b(type, 66, 67, Layout::rows), c(type, 65, 67, Layout::rows);
            a.fill_random(random, 1);
            b.fill_random(random, 1);
            Options options = on_device(2, mode);
            const ProductPlan plan = plan_device_product(65, 66, 67, type, options, {});
            ASSERT_EQ(plan.levels.size(), 2U);
            // Exactly so much, with a guard behind it.
            constexpr std::int64_t kGuard = 4096;
            std::vector<std::uint8_t> pattern(static_cast<std::size_t>(kGuard), 0xa5);
            const cuda::DeviceMemory memory(0, plan.workspace_bytes + kGuard, stream.handle());
            auto* const behind = static_cast<std::byte*>(memory.data()) + plan.workspace_bytes;
            cuda::copy_rows(pattern.data(), kGuard, behind, kGuard, kGuard, 1, stream.handle());
            GuardedMatrix expected = c, result = c;
            multiply_there(1, a, b, 0, expected, on_device(0));
            DeviceMatrixCopy da(a, stream.handle()), db(b, stream.handle()), dc(result, stream.handle());
            ProductContext context;
            context.stream = stream.handle();
            context.workspace = memory.data();
            context.workspace_bytes = plan.workspace_bytes;
            multiply_on_device(1, da.view(), db.view(), 0, dc.view(), options, context);
            dc.fetch();
            std::vector<std::uint8_t> after(pattern.size());
            cuda::copy_rows(behind, kGuard, after.data(), kGuard, kGuard, 1, stream.handle());
            stream.synchronize();
            EXPECT_EQ(after, pattern) << type_name(type) << " " << mode;
            if (type != Type::bf16) {
                EXPECT_TRUE(result.equals(expected)) << type_name(type) << " " << mode;
            }
            context.workspace_bytes = plan.workspace_bytes - 1;
            EXPECT_EQ(refusal([&] { multiply_on_device(1, da.view(), db.view(), 0, dc.view(), plan, 0, context); }),
                      ErrorCode::usage);
        }
    }
}

/// Some entries of C against sums in double, which are exact here.
void expect_product(const GuardedMatrix& a, const GuardedMatrix& b, double beta, const GuardedMatrix& old,
                    const GuardedMatrix& c, double allowed, std::mt19937& random) {
    const auto pick = [&](std::int64_t limit) {
        return static_cast<std::int64_t>(random() % static_cast<unsigned>(limit));
    };
    for (int sample = 0; sample < 500; ++sample) {
        // The last row and column now and then: that is where an edge goes wrong.
        const std::int64_t i = sample % 5 == 0 ? c.view().rows - 1 : pick(c.view().rows);
        const std::int64_t j = sample % 7 == 0 ? c.view().cols - 1 : pick(c.view().cols);
        double sum = beta == 0 ? 0 : beta * old.get(i, j);
        for (std::int64_t q = 0; q < a.view().cols; ++q) {
            sum += a.get(i, q) * b.get(q, j);
        }
        ASSERT_LE(std::abs(c.get(i, j) - sum), allowed) << i << ", " << j;
    }
}

TEST(device_promises, misaligned_rows_are_extended_and_the_result_is_right_to_the_last_row) {
    HEPTAD_NEEDS_DEVICE();
    std::mt19937 random(9);
    for (const Type type : {Type::i32, Type::tf32, Type::bf16, Type::f32, Type::f64}) {
        for (const double beta : {0.0, 2.0}) {
            for (const Layout layout : {Layout::rows, Layout::columns}) {
                GuardedMatrix a(type, 4101, 4097, layout), b(type, 4097, 4099, layout), c(type, 4101, 4099, layout);
                a.fill_random(random, 1);
                b.fill_random(random, 1);
                c.fill_random(random, 1);
                const GuardedMatrix old = c, old_a = a;
                Options options = on_device(-1, "auto", "auto");
                options.accumulate = beta != 0;
                const ProductPlan plan = plan_device_product(4101, 4097, 4099, type, options, {});
                if (type == Type::tf32 || type == Type::bf16 || type == Type::i32) {
                    EXPECT_TRUE(plan.padded) << to_string(plan);
                }
                multiply_there(1, a, b, beta, c, options);
                EXPECT_TRUE(a.equals_byte_for_byte(old_a));
                expect_product(a, b, beta, old, c, type == Type::bf16 ? 0.5 : 0, random);
            }
        }
    }
}

TEST(device_promises, every_shipped_schedule_runs_there) {
    HEPTAD_NEEDS_DEVICE();
    std::mt19937 random(10);
    const cuda::Stream stream(0);
    int run = 0;
    for (const std::string& name : schedule_names()) {
        const Schedule& schedule = find_schedule(name);
        const Algorithm& algorithm = find_algorithm(schedule.algorithm).algorithm;
        if (schedule.overwrites_inputs || schedule.accumulates || !ring_admits(algorithm.ring, Type::f32) ||
            algorithm.basis) {
            continue;  // another's inputs are not ours to write; accumulating ones are below the first level
        }
        for (const std::string& below : {std::string(), fmt::format(",{}:serial:{}", schedule.algorithm, name)}) {
            Options options = on_device(below.empty() ? 1 : 2, "serial", schedule.algorithm);
            ProductPlan plan = plan_device_product(64, 64, 64, Type::f32, options, {});
            for (LevelPlan& level : plan.levels) {
                level.schedule = name;
            }
            plan.workspace_bytes = plan_workspace_bytes(plan);
            GuardedMatrix a(Type::f32, 64, 64, Layout::rows), b(Type::f32, 64, 64, Layout::rows),
                c(Type::f32, 64, 64, Layout::rows);
            a.fill_random(random, 2);
            b.fill_random(random, 2);
            DeviceMatrixCopy da(a, stream.handle()), db(b, stream.handle()), dc(c, stream.handle());
            ProductContext context;
            context.stream = stream.handle();
            ASSERT_NO_THROW(multiply_on_device(1, da.view(), db.view(), 0, dc.view(), plan, 0, context)) << name;
            dc.fetch();
            stream.synchronize();
            expect_product(a, b, 0, c, c, 0, random);
            ++run;
        }
    }
    EXPECT_GE(run, 8);
}

TEST(device_promises, bad_operands_are_refused_and_nothing_is_written) {
    HEPTAD_NEEDS_DEVICE();
    const cuda::Stream stream(0);
    GuardedMatrix a(Type::f32, 8, 8, Layout::rows), b(Type::f32, 8, 8, Layout::rows), c(Type::f32, 8, 8, Layout::rows);
    a.fill(1);
    b.fill(1);
    c.fill(3);
    const GuardedMatrix before = c;
    DeviceMatrixCopy da(a, stream.handle()), db(b, stream.handle()), dc(c, stream.handle());
    ProductContext context;
    context.stream = stream.handle();
    const Options options = on_device(0);
    const auto product = [&](const ConstView& x, const ConstView& y, const View& z) {
        return refusal([&] { multiply_on_device(1, x, y, 0, z, options, context); });
    };
    EXPECT_EQ(product(a.view(), db.view(), dc.view()), ErrorCode::input);   // A on the host
    EXPECT_EQ(product(da.view(), db.view(), c.view()), ErrorCode::input);   // C on the host
    EXPECT_EQ(product(da.view(), dc.view(), dc.view()), ErrorCode::input);  // overlap
    EXPECT_EQ(product(block(da.view(), 0, 0, 8, 7), db.view(), dc.view()), ErrorCode::input);
    EXPECT_EQ(product({nullptr, Type::f32, 8, 8, 8, 1}, db.view(), dc.view()), ErrorCode::input);
    EXPECT_EQ(product({da.view().data, Type::f32, 8, 8, std::numeric_limits<std::int64_t>::max() / 2, 1}, db.view(),
                      dc.view()),
              ErrorCode::input);
    Options other = options;
    other.device = "cuda:99";
    EXPECT_EQ(refusal([&] { multiply_on_device(1, da.view(), db.view(), 0, dc.view(), other, context); }),
              ErrorCode::resource);
    dc.fetch();
    stream.synchronize();
    EXPECT_TRUE(c.equals_byte_for_byte(before));
}

TEST(device_promises, too_little_device_memory_is_an_error_that_names_bytes_and_the_next_product_works) {
    HEPTAD_NEEDS_DEVICE();
    const cuda::Stream stream(0);
    try {
        const cuda::DeviceMemory memory(0, std::int64_t{1} << 45, stream.handle());
        FAIL() << "32 TiB were allocated";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::resource);
        EXPECT_NE(std::string(error.what()).find("35184372088832"), std::string::npos) << error.what();
    }
    GuardedMatrix a(Type::f32, 8, 8, Layout::rows), b(Type::f32, 8, 8, Layout::rows), c(Type::f32, 8, 8, Layout::rows);
    a.fill(1);
    b.fill(2);
    multiply_there(1, a, b, 0, c, on_device(1));
    EXPECT_EQ(c.get(3, 4), 16);
}

TEST(device_promises, host_operands_are_brought_there_and_back) {
    HEPTAD_NEEDS_DEVICE();
    std::mt19937 random(8);
    for (const auto& [m, k, n] : {std::tuple{65, 33, 47}, {4500, 3000, 8000}}) {
        for (const Layout layout : {Layout::rows, Layout::rows_padded, Layout::columns, Layout::columns_padded}) {
            GuardedMatrix a(Type::i32, m, k, layout), b(Type::i32, k, n, Layout::columns), c(Type::i32, m, n, layout);
            a.fill_random(random, 3);
            b.fill_random(random, 3);
            c.fill_random(random, 3);
            const GuardedMatrix old = c;
            Options options = on_device(-1);
            multiply_on_device(2, a.view(), b.view(), 3, c.view(), options, {});
            for (int sample = 0; sample < 200; ++sample) {
                const auto i = static_cast<std::int64_t>(random() % static_cast<unsigned>(m));
                const auto j = static_cast<std::int64_t>(random() % static_cast<unsigned>(n));
                double sum = 0;
                for (std::int64_t q = 0; q < k; ++q) {
                    sum += a.get(i, q) * b.get(q, j);
                }
                ASSERT_EQ(c.get(i, j), 2 * sum + 3 * old.get(i, j)) << i << ", " << j;
            }
            if (m > 1000) {
                break;
            }
        }
    }
}

}  // namespace
}  // namespace heptad::test
