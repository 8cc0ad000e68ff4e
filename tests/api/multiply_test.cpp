// The C++ interface: views, options, plans, contexts.
#include <gtest/gtest.h>

#include <heptad/heptad.h>

#include <heptad/heptad.hpp>
#include <numeric>
#include <thread>
#include <vector>

#include "base/free_memory.hpp"
#include "base/workspace.hpp"

namespace heptad {
namespace {

std::vector<double> numbers(std::int64_t count, int first) {
    std::vector<double> result(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < result.size(); ++i) {
        result[i] = static_cast<double>((static_cast<int>(i) * 7 + first) % 11 - 5);
    }
    return result;
}

std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b, std::int64_t m, std::int64_t k,
                            std::int64_t n) {
    std::vector<double> c(static_cast<std::size_t>(m * n));
    for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t q = 0; q < k; ++q) {
            for (std::int64_t j = 0; j < n; ++j) {
                c[static_cast<std::size_t>(i * n + j)] +=
                    a[static_cast<std::size_t>(i * k + q)] * b[static_cast<std::size_t>(q * n + j)];
            }
        }
    }
    return c;
}

struct Sample {
    std::int64_t m = 37, k = 41, n = 43;
    std::vector<double> a = numbers(m * k, 1), b = numbers(k * n, 4),
                        c = std::vector<double>(static_cast<std::size_t>(m * n));
    std::vector<double> expected = product(a, b, m, k, n);
    MatrixView<const double> a_view() const { return MatrixView<const double>::row_major(a.data(), m, k); }
    MatrixView<const double> b_view() const { return MatrixView<const double>::row_major(b.data(), k, n); }
    MatrixView<double> c_view() { return MatrixView<double>::row_major(c.data(), m, n); }
};

Options levels(int count) {
    Options options;
    options.levels = count;
    return options;
}

TEST(api_multiply, the_short_form_stores_the_product) {
    Sample x;
    multiply(x.a_view(), x.b_view(), x.c_view());
    EXPECT_EQ(x.c, x.expected);
    x.c.assign(x.c.size(), -1);
    multiply(x.a_view(), x.b_view(), x.c_view(), levels(3));
    EXPECT_EQ(x.c, x.expected);
}

TEST(api_multiply, transposed_views_and_column_major_results) {
    Sample x;
    std::vector<double> a_columns(x.a.size());
    for (std::int64_t i = 0; i < x.m; ++i) {
        for (std::int64_t q = 0; q < x.k; ++q) {
            a_columns[static_cast<std::size_t>(q * x.m + i)] = x.a_view()(i, q);
        }
    }
    const auto stored = MatrixView<const double>::row_major(a_columns.data(), x.k, x.m);
    multiply(stored.transposed(), x.b_view(), MatrixView<double>::column_major(x.c.data(), x.m, x.n), levels(2));
    for (std::int64_t i = 0; i < x.m; ++i) {
        for (std::int64_t j = 0; j < x.n; ++j) {
            ASSERT_EQ(x.c[static_cast<std::size_t>(j * x.m + i)], x.expected[static_cast<std::size_t>(i * x.n + j)]);
        }
    }
}

TEST(api_multiply, alpha_and_beta_scale) {
    Sample x;
    x.c = numbers(x.m * x.n, 9);
    std::vector<double> expected = x.expected;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        expected[i] = -2 * expected[i] + 3 * x.c[i];
    }
    multiply(-2, x.a_view(), x.b_view(), 3, x.c_view(), levels(2));
    EXPECT_EQ(x.c, expected);
}

TEST(api_context, release_gives_back_the_scratch_memory_that_is_kept) {
    std::vector<double> a = numbers(256 * 256, 1), b = numbers(256 * 256, 2), c(256 * 256);
    const auto view = [](std::vector<double>& x) { return MatrixView<double>::row_major(x.data(), 256, 256); };
    for (int round = 0; round < 2; ++round) {
        multiply(view(a), view(b), view(c), levels(2));
        EXPECT_GT(kept_workspace_bytes(), 0);
        Context::release();
        EXPECT_EQ(kept_workspace_bytes(), 0);
        multiply(view(a), view(b), view(c), levels(2));
        heptad_context_release(nullptr);
        EXPECT_EQ(kept_workspace_bytes(), 0);
    }
    EXPECT_EQ(c, product(a, b, 256, 256, 256));
}

TEST(api_plan, a_default_plan_stays_within_half_of_what_is_free) {
    Options options = levels(2);
    options.mode = "parallel";
    const std::int64_t workspace = plan({60000, 60000, 60000}, Type::f64, options).workspace_bytes();
    EXPECT_LE(workspace, free_memory_bytes() / 2 + (std::int64_t{1} << 30));
    options.workspace_limit_bytes -= 1;  // a limit of the caller's is taken as it is
    EXPECT_GT(plan({60000, 60000, 60000}, Type::f64, options).workspace_bytes(), std::int64_t{64} << 30);
}

TEST(api_plan, tells_prints_parses_and_is_carried_out) {
    Sample x;
    const Plan made = plan({x.m, x.k, x.n}, Type::f64, levels(2));
    EXPECT_EQ(made.levels(), 2);
    EXPECT_EQ(made.size().m, x.m);
    EXPECT_EQ(made.size().k, x.k);
    EXPECT_EQ(made.size().n, x.n);
    EXPECT_EQ(made.type(), Type::f64);
    EXPECT_GT(made.workspace_bytes(), 0);
    EXPECT_GT(made.predicted_s(), 0);
    EXPECT_GT(made.error_bound(), 0);
    const Plan parsed = Plan::parse(made.to_string());
    EXPECT_EQ(parsed.to_string(), made.to_string());
    multiply(1, x.a_view(), x.b_view(), 0, x.c_view(), parsed);
    EXPECT_EQ(x.c, x.expected);
    Plan copy = parsed;
    Plan moved = std::move(copy);
    copy = moved;
    EXPECT_EQ(copy.to_string(), made.to_string());
    EXPECT_THROW(Plan::parse("plan nonsense"), Error);
}

TEST(api_plan, a_plan_that_was_moved_from_says_so_until_another_is_assigned) {
    Sample x;
    Plan empty = plan({x.m, x.k, x.n}, Type::f64, levels(1));
    const Plan moved = std::move(empty);
    const auto refused = [](const auto& use) {
        try {
            use();
        } catch (const Error& error) {
            return error.code() == ErrorCode::usage && std::string(error.what()).find("moved") != std::string::npos;
        }
        return false;
    };
    EXPECT_TRUE(refused([&] { (void)empty.to_string(); }));
    EXPECT_TRUE(refused([&] { (void)empty.size(); }));
    EXPECT_TRUE(refused([&] { (void)empty.workspace_bytes(); }));
    EXPECT_TRUE(refused([&] { const Plan copy = empty; }));
    EXPECT_TRUE(refused([&] { multiply(1, x.a_view(), x.b_view(), 0, x.c_view(), empty); }));
    empty = moved;
    EXPECT_EQ(empty.to_string(), moved.to_string());
}

TEST(api_plan, accumulating_plans_take_any_beta) {
    Sample x;
    Options options = levels(2);
    options.accumulate = true;
    for (const char* mode : {"serial", "parallel"}) {
        for (const char* algorithm : {"winograd", "strassen", "classical", "2x3x3-15", "alternative-basis"}) {
            options.mode = mode;
            options.algorithm = algorithm;
            const Plan made = plan({x.m, x.k, x.n}, Type::f64, options);
            for (const double beta : {0.0, 1.0, -2.0}) {
                x.c = numbers(x.m * x.n, 9);
                std::vector<double> expected = x.expected;
                for (std::size_t i = 0; i < expected.size(); ++i) {
                    expected[i] += beta * x.c[i];
                }
                multiply(1, x.a_view(), x.b_view(), beta, x.c_view(), made);
                ASSERT_EQ(x.c, expected) << algorithm << " " << mode << " " << beta;
            }
        }
    }
}

TEST(api_context, copies_share_their_state_and_threads_are_checked) {
    Context context;
    EXPECT_GE(context.threads(), 1);
    context.set_threads(3);
    EXPECT_EQ(context.threads(), 3);
    const Context copy = context;
    context.set_threads(2);
    EXPECT_EQ(copy.threads(), 2);
    EXPECT_THROW(context.set_threads(-1), Error);
    EXPECT_THROW(context.set_threads(5000), Error);
    EXPECT_THROW(context.set_workspace(nullptr, 5), Error);
    EXPECT_THROW(context.set_workspace(nullptr, -5), Error);
}

TEST(api_context, names_the_device_that_options_leave_open) {
    Sample x;
    Context context;
    EXPECT_EQ(context.device(), "auto");
    context.set_device("reference");
    EXPECT_EQ(context.device(), "reference");
    EXPECT_NE(plan({x.m, x.k, x.n}, Type::f64, levels(1), context).to_string().find("reference"), std::string::npos);
    multiply(x.a_view(), x.b_view(), x.c_view(), levels(1), context);
    EXPECT_EQ(x.c, x.expected);
    Options named = levels(1);
    named.device = "cpu";  // the options have the last word
    EXPECT_EQ(plan({x.m, x.k, x.n}, Type::f64, named, context).to_string().find("reference"), std::string::npos);
    context.set_device("cpu:2");
    EXPECT_THROW(plan({x.m, x.k, x.n}, Type::f64, {}, context), Error);  // several devices are planned otherwise
    EXPECT_NE(plan_over_devices({x.m, x.k, x.n}, Type::f64, {}, context).to_string().find("cpu:2"), std::string::npos);
    for (const char* none : {"", "gpu", "cuda:", "cuda:first", "cpu:0"}) {
        EXPECT_THROW(context.set_device(none), Error) << none;
    }
    EXPECT_EQ(context.device(), "cpu:2");
    context.set_device("auto");
    EXPECT_EQ(plan({x.m, x.k, x.n}, Type::f64, levels(1), context).to_string().find("reference"), std::string::npos);
}

TEST(api_context, an_empty_workspace_means_a_classical_product) {
    Sample x;
    Context context;
    context.set_workspace(nullptr, 0);
    EXPECT_EQ(plan({x.m, x.k, x.n}, Type::f64, levels(2), context).levels(), 0);
    multiply(x.a_view(), x.b_view(), x.c_view(), levels(2), context);
    EXPECT_EQ(x.c, x.expected);
}

TEST(api_context, progress_and_cancel_reach_the_product) {
    Sample x;
    double last = -1;
    bool rises = true;
    Context context;
    context.set_progress([&](const Progress& progress) {
        rises = rises && progress.fraction >= last;
        last = progress.fraction;
    });
    multiply(x.a_view(), x.b_view(), x.c_view(), levels(2), context);
    EXPECT_TRUE(rises);
    EXPECT_EQ(last, 1.0);
    const CancelToken token;
    context.set_cancel(token);
    std::thread([token] { token.cancel(); }).join();
    try {
        multiply(x.a_view(), x.b_view(), x.c_view(), levels(2), context);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::cancelled);
    }
}

TEST(api_context, a_cancelled_context_stops_a_small_product_like_the_one_before) {
    const std::vector<double> a{2}, b{3};
    std::vector<double> c{0};
    const CancelToken token;
    Context context;
    context.set_threads(1);
    context.set_cancel(token);
    const auto run = [&] {
        multiply(MatrixView<const double>::row_major(a.data(), 1, 1),
                 MatrixView<const double>::row_major(b.data(), 1, 1), MatrixView<double>::row_major(c.data(), 1, 1), {},
                 context);
    };
    for (int repeat = 0; repeat < 3; ++repeat) {
        c[0] = 0;
        run();
        EXPECT_EQ(c[0], 6);
    }
    token.cancel();
    c[0] = 0;
    EXPECT_THROW(run(), Error);
    EXPECT_EQ(c[0], 0);
    token.reset();
    EXPECT_FALSE(token.cancelled());
    run();
    EXPECT_EQ(c[0], 6);
}

TEST(api_options, words_that_are_not_known_are_refused) {
    Sample x;
    const auto code = [&](const Options& options) {
        try {
            multiply(x.a_view(), x.b_view(), x.c_view(), options);
        } catch (const Error& error) {
            EXPECT_GT(std::string(error.what()).size(), 20U);
            return error.code();
        }
        return ErrorCode::internal;
    };
    Options options;
    options.algorithm = "abacus";
    EXPECT_EQ(code(options), ErrorCode::usage);
    for (const char* device : {"abacus", "cuda:x", ""}) {
        options = {};
        options.device = device;
        EXPECT_EQ(code(options), ErrorCode::usage) << device;
        EXPECT_EQ(code(options), ErrorCode::usage) << device << ", again";
    }
    options = {};
    options.device = "cuda:99";  // a word that is known, for a device that is not there
    EXPECT_EQ(code(options), ErrorCode::resource);
    for (const char* device : {"cpu", "reference"}) {
        options = {};
        options.device = device;
        options.leaf = "abacus";
        EXPECT_EQ(code(options), ErrorCode::usage) << device;
    }
    options = {};
    options.mode = "abacus";
    EXPECT_EQ(code(options), ErrorCode::usage);
    options = {};
    options.levels = 99;
    EXPECT_EQ(code(options), ErrorCode::usage);
}

TEST(api_complex, factors_and_conjugate_transposes_are_taken) {
    using Complex = std::complex<double>;
    const std::vector<Complex> a{{1, 2}, {0, -1}, {3, 0}, {-2, 1}, {1, 1}, {0, 4}}, b{{2, 0}, {1, -1}, {0, 1}, {3, 2}};
    std::vector<Complex> c(6, {1, 1}), expected = c;
    const Complex alpha(0, 2), beta(1, -1);
    for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 2; ++j) {
            Complex sum;
            for (std::size_t p = 0; p < 2; ++p) {
                sum += std::conj(a[p * 3 + i]) * b[p * 2 + j];
            }
            expected[i * 2 + j] = alpha * sum + beta * expected[i * 2 + j];
        }
    }
    const auto left = MatrixView<const Complex>::row_major(a.data(), 2, 3).transposed();
    const auto right = MatrixView<const Complex>::row_major(b.data(), 2, 2);
    const auto result = MatrixView<Complex>::row_major(c.data(), 3, 2);
    multiply(alpha, conjugated(left), right, beta, result);
    EXPECT_EQ(c, expected);
    std::vector<Complex> again(6, {1, 1});
    const double parts_of_alpha[] = {0, 2}, parts_of_beta[] = {1, -1};
    ASSERT_EQ(heptad_multiply_complex(HEPTAD_C128, parts_of_alpha, {a.data(), 3, 2, 1, 3}, 1, {b.data(), 2, 2, 2, 1}, 0,
                                      parts_of_beta, {again.data(), 3, 2, 2, 1}, nullptr, nullptr),
              HEPTAD_OK);
    EXPECT_EQ(again, expected);
    multiply(left, right, result);
    EXPECT_EQ(c[0], a[0] * b[0] + a[3] * b[2]);
    EXPECT_EQ(heptad_multiply_complex(HEPTAD_F64, parts_of_alpha, {a.data(), 3, 2, 1, 3}, 1, {b.data(), 2, 2, 2, 1}, 0,
                                      parts_of_beta, {again.data(), 3, 2, 2, 1}, nullptr, nullptr),
              HEPTAD_USAGE);
}

TEST(api_complex, several_devices_take_complex_factors_and_conjugates) {
    using Complex = std::complex<float>;
    const std::vector<Complex> a{{1, 2}, {3, -1}, {0, 1}, {2, 0}};
    std::vector<Complex> c{{1, 0}, {0, 1}, {-1, 0}, {2, 2}}, one = c;
    const auto view = MatrixView<const Complex>::row_major(a.data(), 2, 2);
    Options options;
    options.accuracy = Accuracy::strict;
    const std::complex<double> alpha(1, -2), beta(0, 1);
    multiply(alpha, conjugated(view.transposed()), view, beta, MatrixView<Complex>::row_major(one.data(), 2, 2),
             options);
    EXPECT_EQ(one[0], Complex(1, -2) * (std::conj(a[0]) * a[0] + std::conj(a[2]) * a[2]) + Complex(0, 1) * c[0]);
    options.device = "cpu:2";
    multiply(alpha, conjugated(view.transposed()), view, beta, MatrixView<Complex>::row_major(c.data(), 2, 2), options);
    EXPECT_EQ(c, one);
    EXPECT_EQ(plan_over_devices({4, 4, 4}, Type::c64, options).type(), Type::c64);
}

TEST(api_complex, batches_are_multiplied_one_by_one) {
    using Complex = std::complex<float>;
    std::vector<Complex> a(12), b(12), c(12);
    for (std::size_t i = 0; i < 12; ++i) {
        a[i] = {static_cast<float>(i), 1};
        b[i] = {1, static_cast<float>(i % 3)};
    }
    const auto first = [](auto& x) { return MatrixView<Complex>::row_major(x.data(), 2, 2); };
    multiply_strided_batch(1, first(a), 4, first(b), 4, 0, first(c), 4, 3);
    for (std::size_t x = 0; x < 12; x += 4) {
        EXPECT_EQ(c[x + 1], a[x] * b[x + 1] + a[x + 1] * b[x + 3]);
    }
}

TEST(api_types, names_go_there_and_back) {
    for (const Type type : {Type::f64, Type::f32, Type::tf32, Type::bf16, Type::f16, Type::i32, Type::i64, Type::gf2,
                            Type::boolean, Type::c64, Type::c128}) {
        EXPECT_EQ(type_from_name(type_name(type)), type);
        EXPECT_GT(element_bytes(type), 0U);
    }
    EXPECT_THROW(type_from_name("f33"), Error);
}

}  // namespace
}  // namespace heptad
