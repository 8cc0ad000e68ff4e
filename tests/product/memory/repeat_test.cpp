// Same plan, same input: same bits. Any thread at any time. Plans given back, cancelled products, progress.
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "kernels/guarded_matrix.hpp"
#include "product/memory/product.hpp"

namespace heptad::test {
namespace {

#ifdef HEPTAD_REDUCED_TESTS
constexpr int kRepetitions = 3, kProductsPerThread = 15;
#else
constexpr int kRepetitions = 20, kProductsPerThread = 200;
#endif

GuardedMatrix random_matrix(Type type, std::int64_t rows, std::int64_t cols, std::uint32_t seed) {
    GuardedMatrix matrix(type, rows, cols, Layout::rows);
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < cols; ++j) {
            matrix.set(i, j, uniform(random));
        }
    }
    return matrix;
}

Options forced(const std::string& algorithm, int levels, const std::string& mode = "auto") {
    Options options;
    options.accuracy = Accuracy::fast;  // those levels, whatever the data is like
    options.algorithm = algorithm;
    options.levels = levels;
    options.mode = mode;
    return options;
}

TEST(repeat, the_same_plan_and_input_give_the_same_bits) {
    const std::int64_t n = 200;
    for (const Type type : {Type::f32, Type::f64}) {
        const GuardedMatrix a = random_matrix(type, n, n + 3, 1);
        const GuardedMatrix b = random_matrix(type, n + 3, n + 1, 2);
        for (const auto& [algorithm, levels] : {std::pair{"winograd", 2}, {"3x3x3-23", 1}, {"auto", 0}}) {
            for (const char* mode : {"serial", "parallel"}) {
                for (const int threads : {1, 2, 4}) {
                    ProductContext context;
                    context.threads = threads;
                    GuardedMatrix first(type, n, n + 1, Layout::rows);
                    multiply_in_memory(1, a.view(), b.view(), 0, first.view(), forced(algorithm, levels, mode),
                                       context);
                    for (int i = 0; i < kRepetitions; ++i) {
                        GuardedMatrix again(type, n, n + 1, Layout::rows);
                        multiply_in_memory(1, a.view(), b.view(), 0, again.view(), forced(algorithm, levels, mode),
                                           context);
                        ASSERT_TRUE(again.equals_byte_for_byte(first))
                            << type_name(type) << " " << algorithm << " " << mode << " threads " << threads;
                    }
                }
            }
        }
    }
}

TEST(repeat, a_product_like_the_last_one_is_checked_like_the_first) {
    for (const std::int64_t n : {40, 100, 300}) {  // without a lock, one call of a leaf, the long way
        for (const Type type : {Type::f32, Type::f64}) {
            const GuardedMatrix a = random_matrix(type, n, n, 1), b = random_matrix(type, n, n, 2);
            GuardedMatrix first(type, n, n, Layout::rows), again = first, twice = first;
            const Options options = forced("auto", 0);
            ProductContext context;
            multiply_in_memory(1, a.view(), b.view(), 0, first.view(), options, context);
            multiply_in_memory(1, a.view(), b.view(), 0, again.view(), options, context);
            EXPECT_TRUE(again.equals_byte_for_byte(first)) << n;
            multiply_in_memory(2, a.view(), b.view(), 0, twice.view(), options, context);
            EXPECT_EQ(twice.get(n - 1, 0), 2 * first.get(n - 1, 0)) << n;
            const auto code = [&](const ConstView& left, const ConstView& right, const View& result) {
                try {
                    multiply_in_memory(1, left, right, 0, result, options, context);
                } catch (const Error& error) {
                    return error.code();
                }
                return ErrorCode::internal;
            };
            EXPECT_EQ(code(first.view(), b.view(), first.view()), ErrorCode::input) << n;
            EXPECT_EQ(code(a.view(), first.view(), first.view()), ErrorCode::input) << n;
            EXPECT_EQ(code(a.view(), block(b.view(), 0, 0, n - 1, n), twice.view()), ErrorCode::input) << n;
            const CancelToken cancelled;
            cancelled.cancel();
            context.hooks.cancel = &cancelled;
            EXPECT_EQ(code(a.view(), b.view(), twice.view()), ErrorCode::cancelled) << n;
            EXPECT_TRUE(again.equals_byte_for_byte(first)) << n;
        }
    }
}

TEST(repeat, a_plan_that_was_printed_and_parsed_gives_the_same_bits) {
    const GuardedMatrix a = random_matrix(Type::f32, 100, 101, 3);
    const GuardedMatrix b = random_matrix(Type::f32, 101, 102, 4);
    for (const char* mode : {"serial", "parallel"}) {
        const ProductPlan plan = plan_product(100, 101, 102, Type::f32, forced("strassen", 2, mode), {});
        GuardedMatrix by_options(Type::f32, 100, 102, Layout::rows);
        GuardedMatrix by_plan(Type::f32, 100, 102, Layout::rows);
        multiply_in_memory(1, a.view(), b.view(), 0, by_options.view(), forced("strassen", 2, mode), {});
        multiply_in_memory(1, a.view(), b.view(), 0, by_plan.view(), parse_plan(to_string(plan)), {});
        EXPECT_TRUE(by_plan.equals_byte_for_byte(by_options));
    }
}

TEST(repeat, a_plan_for_another_product_is_refused) {
    const GuardedMatrix a = random_matrix(Type::f32, 20, 21, 3);
    const GuardedMatrix b = random_matrix(Type::f32, 21, 22, 4);
    GuardedMatrix c(Type::f32, 20, 22, Layout::rows);
    const GuardedMatrix before = c;
    const auto code = [&](const ProductPlan& plan, double beta) {
        try {
            multiply_in_memory(1, a.view(), b.view(), beta, c.view(), plan, {});
        } catch (const Error& error) {
            return error.code();
        }
        return ErrorCode::internal;
    };
    EXPECT_EQ(code(plan_product(20, 21, 23, Type::f32, forced("winograd", 1), {}), 0), ErrorCode::usage);
    EXPECT_EQ(code(plan_product(20, 21, 22, Type::f64, forced("winograd", 1), {}), 0), ErrorCode::usage);
    EXPECT_EQ(code(plan_product(20, 21, 22, Type::f32, forced("winograd", 1), {}), 1), ErrorCode::usage);
    ProductPlan plan = plan_product(20, 21, 22, Type::f32, forced("winograd", 1), {});
    plan.leaf = "abacus";
    EXPECT_EQ(code(plan, 0), ErrorCode::usage);
    plan = plan_product(20, 21, 22, Type::f32, forced("winograd", 1), {});
    plan.fringe_leaf = "abacus";
    EXPECT_EQ(code(plan, 0), ErrorCode::usage);
    plan = plan_product(20, 21, 22, Type::f32, forced("winograd", 1), {});
    plan.backend = "abacus";
    EXPECT_EQ(code(plan, 0), ErrorCode::usage);
    plan = plan_product(20, 21, 22, Type::f32, forced("winograd", 1), {});
    plan.workspace_bytes -= 64;
    EXPECT_EQ(code(plan, 0), ErrorCode::input);
    EXPECT_TRUE(c.equals_byte_for_byte(before));
}

TEST(repeat, eight_threads_multiply_at_once) {
    std::atomic<int> wrong = 0;
    std::atomic<int> done = 0;
    std::vector<std::thread> threads;
    for (std::uint32_t t = 0; t < 8; ++t) {
        threads.emplace_back([&, t] {
            std::mt19937 random(t);
            constexpr const char* algorithms[] = {"winograd", "strassen", "2x2x3-11", "auto"};
            constexpr Type types[] = {Type::f32, Type::i32, Type::f64, Type::gf2};
            for (int i = 0; i < kProductsPerThread; ++i) {
                const Type type = types[random() % 4];
                const auto m = static_cast<std::int64_t>(1 + random() % 40);
                const auto k = static_cast<std::int64_t>(1 + random() % 40);
                const auto n = static_cast<std::int64_t>(1 + random() % 40);
                GuardedMatrix a(type, m, k, Layout::rows);
                GuardedMatrix b(type, k, n, Layout::columns);
                GuardedMatrix c(type, m, n, Layout::rows);
                a.fill_random(random);
                b.fill_random(random);
                GuardedMatrix expected = c;
                ProductContext context;
                context.threads = 1 + static_cast<int>(random() % 3);
                Options reference;
                reference.device = "reference";
                reference.levels = 0;
                multiply_in_memory(1, a.view(), b.view(), 0, expected.view(), reference, context);
                multiply_in_memory(1, a.view(), b.view(), 0, c.view(),
                                   forced(algorithms[random() % 4], static_cast<int>(random() % 3)), context);
                wrong += c.equals(expected) ? 0 : 1;
                done += 1;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(done, 8 * kProductsPerThread);
}

TEST(repeat, progress_rises_to_one) {
    const GuardedMatrix a = random_matrix(Type::f32, 130, 131, 5);
    const GuardedMatrix b = random_matrix(Type::f32, 131, 129, 6);
    GuardedMatrix c(Type::f32, 130, 129, Layout::rows);
    for (const auto& [levels, mode] : {std::pair{0, "auto"}, {2, "serial"}, {2, "parallel"}}) {
        std::vector<double> seen;
        ProductContext context;
        context.hooks.progress = [&](const Progress& progress) { seen.push_back(progress.fraction); };
        multiply_in_memory(1, a.view(), b.view(), 0, c.view(), forced("winograd", levels, mode), context);
        ASSERT_FALSE(seen.empty()) << levels << mode;
        EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end())) << levels << mode;
        EXPECT_GE(seen.front(), 0);
        EXPECT_EQ(seen.back(), 1.0) << levels << mode;
        if (levels > 0) {
            EXPECT_LT(seen.front(), 1.0);
        }
    }
}

TEST(repeat, a_cancelled_product_ends_with_an_error) {
    const GuardedMatrix a = random_matrix(Type::f32, 130, 131, 5);
    const GuardedMatrix b = random_matrix(Type::f32, 131, 129, 6);
    GuardedMatrix c(Type::f32, 130, 129, Layout::rows);
    const auto code = [&](const CancelToken& token, int levels, ProgressCallback progress) {
        ProductContext context;
        context.hooks.cancel = &token;
        context.hooks.progress = std::move(progress);
        try {
            multiply_in_memory(1, a.view(), b.view(), 0, c.view(), forced("winograd", levels, "serial"), context);
        } catch (const Error& error) {
            return error.code();
        }
        return ErrorCode::internal;
    };
    for (const int levels : {0, 1, 2}) {
        const CancelToken set;
        set.cancel();
        EXPECT_EQ(code(set, levels, {}), ErrorCode::cancelled) << levels;
    }
    const CancelToken later;  // set while it runs, from another thread
    EXPECT_EQ(code(later, 2,
                   [&](const Progress& progress) {
                       if (progress.fraction > 0.3) {
                           std::thread([&] { later.cancel(); }).join();
                       }
                   }),
              ErrorCode::cancelled);
    EXPECT_TRUE(later.cancelled());
}

}  // namespace
}  // namespace heptad::test
