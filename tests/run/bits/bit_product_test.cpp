// Products of views over GF(2) and for booleans: every algorithm, leaf, number of levels and threads equals the
// definition bit for bit, and nothing outside the window of C is written.
#include <gtest/gtest.h>

#include <thread>
#include <tuple>

#include "base/bit_words.hpp"
#include "base/free_memory.hpp"
#include "base/workspace.hpp"
#include "kernels/bits/bit_test_matrices.hpp"
#include "run/bits/bit_product.hpp"
#include "run/bits/bit_test_options.hpp"

namespace {

using namespace heptad;
using namespace heptad::bits;
using heptad::test::BitWindow;
using heptad::test::code;
using heptad::test::options_of;
using heptad::test::product_by_definition;

#if defined(HEPTAD_REDUCED_TESTS)
constexpr int kRandomShapes = 100;
#else
constexpr int kRandomShapes = 10000;
#endif

/// C = A*B and C ^= A*B in windows, against `expected`.
void check(Type algebra, const BitWindow& a, const BitWindow& b, const BitMatrix& expected, const BitOptions& options,
           int threads, std::mt19937_64& random) {
    const BitWindow c(expected.rows(), expected.cols(), random);
    multiply_bits(algebra, a.view(), b.view(), c.view(), false, options, {threads});
    const auto told = [&] {
        return to_string(make_bit_plan(algebra, {a.view().rows, a.view().cols, b.view().cols}, options, threads));
    };
    ASSERT_TRUE(c.view() == expected.view()) << told();
    ASSERT_TRUE(c.outside_untouched()) << told();
    const BitWindow sum(expected.rows(), expected.cols(), random);
    const BitMatrix old = BitMatrix::copy_of(sum.view());
    multiply_bits(algebra, a.view(), b.view(), sum.view(), true, options, {threads});
    ASSERT_TRUE(sum.outside_untouched()) << told();
    for (std::int64_t i = 0; i < expected.rows(); ++i) {
        for (std::int64_t j = 0; j < expected.cols(); ++j) {
            const bool added = algebra == Type::gf2 ? old(i, j) != expected(i, j) : old(i, j) || expected(i, j);
            ASSERT_EQ(sum.view()(i, j), added) << told() << " at " << i << " " << j;
        }
    }
}

struct Shape {
    std::int64_t m, k, n;
};

TEST(BitProduct, all_algorithms_agree_on_awkward_shapes) {
    std::mt19937_64 random(1);
    for (const auto& [m, k, n] : {Shape{1, 128, 128},
                                  {3, 131, 257},
                                  {21, 171, 31},
                                  {193, 65, 65},
                                  {1, 1, 1},
                                  {64, 63, 65},
                                  {131, 131, 131},
                                  {65, 64, 63},
                                  {300, 1, 300}}) {
        const BitWindow a(m, k, random), b(k, n, random);
        const BitMatrix expected = product_by_definition(Type::gf2, a.view(), b.view());
        for (const std::string& leaf : leaf_names(Type::gf2)) {
            check(Type::gf2, a, b, expected, options_of("classical", -1, leaf), 1, random);
            std::vector<std::string> algorithms{"strassen"};  // which has no schedule for bits
            for (const LevelProgram& program : level_programs()) {
                algorithms.push_back(program.name);
            }
            for (const std::string& algorithm : algorithms) {
                for (const int levels : {1, 2, 3}) {
                    check(Type::gf2, a, b, expected, options_of(algorithm, levels, leaf), 1, random);
                    check(Type::gf2, a, b, expected, options_of(algorithm, levels, leaf), 3, random);
                }
            }
        }
    }
}

TEST(BitProduct, levels_above_a_leaf_with_sums_inside_agree) {
    // Their sums are made beside its tiles, onto nothing at the topmost of them and onto what C holds below.
    std::mt19937_64 random(6);
    for (const auto& [m, k, n] : {Shape{512, 1024, 2048}, {700, 1100, 1500}, {33, 65, 257}}) {
        const BitWindow a(m, k, random), b(k, n, random);
        const BitMatrix expected = product_by_definition(Type::gf2, a.view(), b.view());
        for (const char* leaf : {"blocks", "auto"}) {
            for (const int levels : {3, 4, 5}) {
                check(Type::gf2, a, b, expected, options_of("self-inverse", levels, leaf), 1, random);
                check(Type::gf2, a, b, expected, options_of("self-inverse", levels, leaf), 3, random);
            }
        }
    }
}

TEST(BitProduct, tasks_on_several_threads_agree) {
    std::mt19937_64 random(2);
    const BitWindow a(257, 300, random), b(300, 520, random);
    const BitMatrix expected = product_by_definition(Type::gf2, a.view(), b.view());
    for (const LevelProgram& program : level_programs()) {
        for (const int threads : {2, 3, 20}) {
            for (const int levels : {0, 1, 2, 3, 4}) {
                check(Type::gf2, a, b, expected, options_of(program.name, levels), threads, random);
            }
        }
    }
}

TEST(BitProduct, tasks_keep_to_the_workspace_that_the_plan_tells) {
    for (const auto& [m, k, n] : {Shape{70, 130, 2048}, {520, 1030, 1023}, {64, 64, 2500}}) {
        const BitMatrix a = BitMatrix::random(m, k, 1), b = BitMatrix::random(k, n, 2);
        const BitMatrix expected = product_by_definition(Type::gf2, a, b);
        const ProductPlan plan = make_bit_plan(Type::gf2, {m, k, n}, options_of("self-inverse", 5, "blocks"), 2);
        std::vector<std::uint64_t> memory(static_cast<std::size_t>(plan.workspace_bytes / 8 + 8 + 1), 0x5a);
        auto* lines = memory.data();
        while (reinterpret_cast<std::uintptr_t>(lines) % 64 != 0) {
            ++lines;
        }
        // A view that starts inside a word.
        BitMatrix wide = BitMatrix::random(m, n + 7, 4);
        multiply_bits(plan, a, b, wide.view().block(0, 7, m, n), false, {}, lines);
        ASSERT_TRUE(wide.view().block(0, 7, m, n) == expected.view()) << to_string(plan);
        multiply_bits(plan, a, b, wide.view().block(0, 7, m, n), true, {}, lines);
        ASSERT_EQ(count_ones(wide.view().block(0, 7, m, n)), 0) << "C ^= AB twice: " << to_string(plan);
        ASSERT_EQ(lines[plan.workspace_bytes / 8], 0x5aU);
    }
}

TEST(BitProduct, large_shapes_agree_with_the_classical_leaf) {
    std::mt19937_64 random(3);
    for (const auto& [m, k, n] : {Shape{1025, 1025, 1025}, {4096, 3528, 4096}}) {
        const BitMatrix a = BitMatrix::random(m, k, random()), b = BitMatrix::random(k, n, random());
        const BitMatrix expected = product_by_definition(Type::gf2, a, b);
        for (const LevelProgram& program : level_programs()) {
            for (const int levels : {-1, 2}) {
                BitMatrix c(m, n);
                multiply_bits(Type::gf2, a, b, c.view(), false, options_of(program.name, levels), {2});
                EXPECT_TRUE(c == expected) << program.name << " " << levels;
            }
        }
    }
}

TEST(BitProduct, random_shapes_algorithms_and_levels) {
    std::mt19937_64 random(4);
    const std::vector<std::string> leaves = leaf_names(Type::gf2);
    for (int round = 0; round < kRandomShapes; ++round) {
        const auto size = [&] { return static_cast<std::int64_t>(1 + random() % (random() % 16 == 0 ? 260 : 70)); };
        const std::int64_t m = size(), k = size(), n = size();
        const BitMatrix a = BitMatrix::random(m, k, random()), b = BitMatrix::random(k, n, random());
        const LevelProgram& program = level_programs()[random() % level_programs().size()];
        BitOptions options = options_of(program.name, static_cast<int>(random() % 4), leaves[random() % leaves.size()]);
        BitMatrix c(m, n);
        multiply_bits(Type::gf2, a, b, c.view(), false, options, {1});
        ASSERT_TRUE(c == product_by_definition(Type::gf2, a, b)) << m << " " << k << " " << n << " " << program.name;
    }
}

TEST(BitProduct, boolean_equals_definition) {
    std::mt19937_64 random(5);
    for (const auto& [m, k, n] : {Shape{1, 1, 1}, {3, 131, 257}, {193, 65, 65}, {300, 700, 600}, {64, 2100, 90}}) {
        for (const double density : {0.005, 0.03, 0.5, 1.0}) {
            const BitWindow a(m, k, random, density), b(k, n, random, density);
            const BitMatrix expected = product_by_definition(Type::boolean, a.view(), b.view());
            for (const std::string& leaf : leaf_names(Type::boolean)) {
                for (const int threads : {1, 3}) {
                    check(Type::boolean, a, b, expected, options_of("auto", -1, leaf), threads, random);
                }
            }
        }
    }
}

TEST(BitProduct, boolean_bands_of_any_density_equal_definition) {
    // Several bands: with few ones, with rows that fill up after few, for tables, and empty.
    std::mt19937_64 random(7);
    const std::int64_t m = 4 * 1024 + 100, k = 9000, n = 700;
    BitMatrix a = BitMatrix::random(m, k, random(), 0.002);
    bits::copy(BitMatrix::random(1024, k, random(), 0.3), a.view().block(1024, 0, 1024, k));
    bits::copy(BitMatrix::random(1024, k, random(), 0.06), a.view().block(2048, 0, 1024, k));
    bits::copy(BitMatrix(1024, k), a.view().block(3072, 0, 1024, k));
    for (const double density : {0.0005, 0.01, 0.3}) {
        BitMatrix b = BitMatrix::random(k, n, random(), density);
        bits::copy(BitMatrix(k, 64), b.view().block(0, 320, k, 64));  // columns that nothing reaches
        const BitMatrix expected = product_by_definition(Type::boolean, a, b);
        for (const int threads : {1, 4}) {
            BitMatrix c = BitMatrix::random(m, n, random());
            multiply_bits(Type::boolean, a, b, c.view(), false, {}, {threads});
            EXPECT_TRUE(c == expected) << density << " " << threads;
        }
    }
}

TEST(BitProduct, empty_sizes) {
    BitMatrix c = BitMatrix::random(5, 7, 1);
    const BitMatrix old = c;
    multiply_bits(Type::gf2, BitMatrix(5, 0), BitMatrix(0, 7), c.view(), true, {}, {1});
    EXPECT_TRUE(c == old);
    multiply_bits(Type::gf2, BitMatrix(5, 0), BitMatrix(0, 7), c.view(), false, {}, {1});
    EXPECT_EQ(count_ones(c), 0);
    BitMatrix none(0, 7);
    multiply_bits(Type::boolean, BitMatrix(0, 3), BitMatrix(3, 7), none.view(), false, {}, {2});
}

TEST(BitProduct, what_cannot_be_meant_is_refused) {
    const BitMatrix a(3, 4), b(4, 5);
    BitMatrix c(3, 5), square(200, 200);
    const BitContext one{1};
    EXPECT_EQ(code([&] { multiply_bits(Type::f32, a, b, c.view(), false, {}, one); }), 2);
    EXPECT_EQ(code([&] { multiply_bits(Type::gf2, a, a, c.view(), false, {}, one); }), 3);
    EXPECT_EQ(code([&] { multiply_bits(Type::gf2, a, b, c.view(), false, options_of("2x2x3-11", 1), one); }), 2);
    EXPECT_EQ(code([&] { multiply_bits(Type::gf2, a, b, c.view(), false, options_of("classical", 1), one); }), 2);
    EXPECT_EQ(code([&] { multiply_bits(Type::boolean, a, b, c.view(), false, options_of("auto", 1), one); }), 2);
    EXPECT_EQ(code([&] { multiply_bits(Type::gf2, a, b, c.view(), false, options_of("auto", 99), one); }), 2);
    EXPECT_EQ(code([&] { multiply_bits(Type::gf2, a, b, c.view(), false, options_of("auto", 1, "none"), one); }), 2);
    const BitView s = square.view();
    EXPECT_EQ(code([&] { multiply_bits(Type::gf2, s, BitMatrix(200, 200), s, false, {}, one); }), 3);
    EXPECT_EQ(code([&] {
                  multiply_bits(Type::gf2, s.block(0, 0, 50, 50), s.block(0, 50, 50, 50), s.block(0, 99, 50, 50), false,
                                {}, one);
              }),
              3);
    // Side by side in the same rows is fine.
    EXPECT_EQ(code([&] {
                  multiply_bits(Type::gf2, s.block(0, 0, 50, 50), s.block(0, 50, 50, 50), s.block(0, 100, 50, 50),
                                false, {}, one);
              }),
              0);
    ConstBitView bad = a;
    bad.offset = 64;
    EXPECT_EQ(code([&] { multiply_bits(Type::gf2, bad, b, c.view(), false, {}, one); }), 3);
    bad = a;
    bad.words = nullptr;
    EXPECT_EQ(code([&] { multiply_bits(Type::gf2, bad, b, c.view(), false, {}, one); }), 3);
    bad = a;
    bad.stride = 0;
    EXPECT_EQ(code([&] { multiply_bits(Type::gf2, bad, b, c.view(), false, {}, one); }), 3);
}

TEST(BitProduct, workspace_that_meets_a_matrix_is_refused) {
    std::vector<std::uint64_t> words(100);
    const ConstBitView view{words.data() + 10, 5, 100, 4, 0};  // words 10 to 27: two of a row count, four apart
    const auto refuses = [&](std::size_t first, std::size_t count, const ConstBitView& matrix) {
        try {
            heptad::require_workspace_apart(words.data() + first, static_cast<std::int64_t>(8 * count),
                                            byte_range(matrix), {}, {});
            return false;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::input);
            return true;
        }
    };
    EXPECT_TRUE(refuses(10, 1, view));
    EXPECT_TRUE(refuses(0, 11, view));
    EXPECT_TRUE(refuses(27, 1, view));
    EXPECT_TRUE(refuses(12, 1, view));  // between two rows
    EXPECT_TRUE(refuses(0, 100, view));
    EXPECT_FALSE(refuses(0, 10, view));
    EXPECT_FALSE(refuses(28, 50, view));
    EXPECT_FALSE(refuses(10, 0, view));
    EXPECT_FALSE(refuses(0, 100, {words.data() + 10, 0, 100, 4, 0}));
}

TEST(BitProduct, a_set_token_cancels) {
    const CancelToken token;
    token.cancel();
    const BitMatrix a(300, 300);
    BitMatrix c(300, 300);
    for (const int levels : {0, 1}) {
        for (const int threads : {1, 2}) {
            EXPECT_THROW(
                multiply_bits(Type::gf2, a, a, c.view(), false, options_of("auto", levels), {threads, {&token}}),
                Error);
        }
    }
}

TEST(BitProduct, progress_is_told_on_the_calling_thread_and_grows_to_one) {
    const BitMatrix a = BitMatrix::random(600, 600, 1), sparse = BitMatrix::random(600, 600, 1, 0.001);
    const std::thread::id caller = std::this_thread::get_id();
    for (const int threads : {1, 2}) {
        for (const auto& [algebra, operand, levels] :
             {std::tuple{Type::gf2, &a, 2}, {Type::gf2, &a, 0}, {Type::boolean, &a, 0}, {Type::boolean, &sparse, 0}}) {
            double last = 0;
            const RunHooks hooks{nullptr, [&](const Progress& progress) {
                                     EXPECT_EQ(std::this_thread::get_id(), caller);
                                     EXPECT_GE(progress.fraction, last);
                                     last = progress.fraction;
                                 }};
            BitMatrix c(600, 600);
            multiply_bits(algebra, *operand, *operand, c.view(), false, options_of("auto", levels), {threads, hooks});
            EXPECT_LE(last, 1.0);
            if (threads == 1) {
                EXPECT_GT(last, 0.999);
            }
        }
    }
}

TEST(BitProduct, a_cancelled_product_leaves_c_as_it_was) {
    const BitMatrix a = BitMatrix::random(300, 300, 1), before = BitMatrix::random(300, 300, 2);
    CancelToken token;
    // Cancelled in the middle: by the first report of progress.
    const RunHooks hooks{&token, [&](const Progress&) { token.cancel(); }};
    BitMatrix c = before;
    EXPECT_THROW(multiply_bits(Type::gf2, a, a, c.view(), false, options_of("auto", 2), {1, hooks}), Error);
    EXPECT_TRUE(c == before);
}

TEST(BitProduct, the_callers_workspace_is_used_and_never_exceeded) {
    const BitMatrix a = BitMatrix::random(300, 200, 1), b = BitMatrix::random(200, 260, 2);
    for (const Type algebra : {Type::gf2, Type::boolean}) {
        for (int levels = 0; levels <= (algebra == Type::gf2 ? 2 : 0); ++levels) {
            const BitOptions options = options_of("auto", levels);
            const std::int64_t bytes = make_bit_plan(algebra, {300, 200, 260}, options, 2).workspace_bytes;
            constexpr std::int64_t line = 64;
            std::vector<std::uint64_t> memory(static_cast<std::size_t>(bytes / 8 + 3 * line / 8), 0x5a5a5a5a5a5a5a5a);
            const std::vector<std::uint64_t> before = memory;
            auto* const first = reinterpret_cast<std::uint64_t*>(
                (reinterpret_cast<std::uintptr_t>(memory.data()) + line - 1) / line * line);
            BitMatrix c(300, 260);
            const BitContext fitting{2, {}, first, bytes}, short_of{2, {}, first, bytes - 8},
                shifted{2, {}, first + 1, bytes + line - 8};
            EXPECT_EQ(code([&] { multiply_bits(algebra, a, b, c.view(), false, options, short_of); }), 4);
            EXPECT_TRUE(memory == before);
            multiply_bits(algebra, a, b, c.view(), false, options, fitting);
            EXPECT_TRUE(c == product_by_definition(algebra, a, b));
            EXPECT_FALSE(memory == before);
            EXPECT_TRUE(std::equal(memory.data(), first, before.data()));
            EXPECT_TRUE(std::all_of(first + bytes / 8, memory.data() + memory.size(),
                                    [&](std::uint64_t word) { return word == before[0]; }));
            BitMatrix again(300, 260);  // begins beside a line, which costs the rest of it
            multiply_bits(algebra, a, b, again.view(), false, options, shifted);
            EXPECT_TRUE(again == c);
        }
    }
}

TEST(BitProduct, nothing_to_do_takes_no_workspace) {
    const BitContext none{1, {}, nullptr, 0};
    const BitMatrix a(0, 200), b = BitMatrix::random(200, 260, 1), d(200, 0);
    BitMatrix flat(0, 260), thin(260, 0);
    EXPECT_EQ(code([&] { multiply_bits(Type::gf2, a, b, flat.view(), false, {}, none); }), 0);
    EXPECT_EQ(code([&] { multiply_bits(Type::boolean, b.transposed(), d, thin.view(), true, {}, none); }), 0);
}

TEST(BitProduct, levels_that_the_workspace_does_not_hold_are_left_out) {
    const ProblemSize size{4096, 4096, 4096};
    const ProductPlan free = make_bit_plan(Type::gf2, size, {}, 1);
    const ProductPlan plain = make_bit_plan(Type::gf2, size, options_of("auto", 0), 1);
    ASSERT_FALSE(free.levels.empty());
    ASSERT_GT(free.workspace_bytes, plain.workspace_bytes);
    const auto levels_within = [&](std::int64_t bytes) {
        BitContext context;
        context.workspace = reinterpret_cast<void*>(std::uintptr_t{4096});  // a plan does not look into it
        context.workspace_bytes = bytes;
        const ProductPlan plan = make_bit_plan(Type::gf2, size, {}, context);
        EXPECT_LE(plan.workspace_bytes, bytes);
        return plan.levels.size();
    };
    EXPECT_EQ(levels_within(free.workspace_bytes), free.levels.size());
    EXPECT_LT(levels_within(free.workspace_bytes - 1), free.levels.size());
    EXPECT_EQ(levels_within(plain.workspace_bytes), 0);
    EXPECT_EQ(code([&] { levels_within(plain.workspace_bytes - 1); }), 4);
    EXPECT_EQ(code([&] { levels_within(0); }), 4);
}

TEST(BitProduct, levels_that_free_memory_does_not_hold_are_left_out) {
    const std::int64_t large = std::int64_t{1} << 19;  // 32 GiB each
    const ProductPlan wished = make_bit_plan(Type::gf2, {large, large, large}, {}, 1);
    const ProductPlan plan = make_bit_plan(Type::gf2, {large, large, large}, {}, BitContext{1});
    ASSERT_FALSE(wished.levels.empty());
    EXPECT_TRUE(plan.levels.empty() || plan.workspace_bytes <= free_memory_bytes() / 2 + (std::int64_t{1} << 30));
    const ProductPlan forced = make_bit_plan(Type::gf2, {large, large, large}, options_of("auto", 2), BitContext{1});
    EXPECT_EQ(forced.levels.size(), 2);
}

TEST(BitProduct, a_workspace_inside_a_matrix_is_refused) {
    BitMatrix a = BitMatrix::random(100, 100, 1), c(100, 100);
    const std::int64_t bytes = 100 * a.stride() * 8;
    EXPECT_EQ(code([&] { multiply_bits(Type::gf2, a, a, c.view(), false, {}, {1, {}, a.view().words, bytes}); }), 3);
    EXPECT_EQ(code([&] { multiply_bits(Type::gf2, a, a, c.view(), false, {}, {1, {}, c.view().words, bytes}); }), 3);
}

}  // namespace
