// Kernels found by walking the schedules of P0's figures against the formulas that section IV, figure 3 and section V
// give for them.
#include <gtest/gtest.h>

#include <map>

#include "base/error.hpp"
#include "papers/p0/device_counts.hpp"

namespace heptad {
namespace {

/// What a kernel does beyond its product, in units of m^2: block additions, and figure 3's extra transactions and
/// volume (all of it for add and sub).
struct KernelFormula {
    int additions;
    Rational transactions;
    int volume;
};

const std::map<std::string, KernelFormula> figure_3{
    {"add", {1, {3, 32}, 12}},       {"sub", {1, {3, 32}, 12}},       {"mul", {0, 0, 0}},
    {"mulIncInc", {2, {3, 16}, 12}}, {"mulIncDec", {2, {3, 16}, 12}}, {"mulStoreDec", {1, {1, 8}, 8}},
    {"mulStoreInc", {1, {1, 8}, 8}}, {"mulAdd", {1, {1, 16}, 4}},     {"mulIncIncInc", {3, {5, 16}, 20}},
    {"mulSubInc", {2, {3, 16}, 12}},
};

TEST(device_counts, gpu8_is_as_section_iii_says) {
    const DeviceCounts gpu8 = gpu8_counts();
    EXPECT_EQ(gpu8.arithmetics, (SizePolynomial{2, -1}));
    EXPECT_EQ(gpu8.transactions, (SizePolynomial{{17, 4096}, {1, 16}}));
    EXPECT_EQ(gpu8.volume_bytes, (SizePolynomial{{9, 32}, 4}));
}

TEST(device_counts, every_kernel_of_figures_4_and_5_moves_what_figure_3_says) {
    std::map<std::string, int> seen;
    for (const char* name : {"p0-figure-4", "p0-figure-5"}) {
        for (const KernelCall& call : kernel_calls(find_schedule(name))) {
            SCOPED_TRACE(std::string(name) + " " + call.name);
            ASSERT_TRUE(figure_3.contains(call.name));
            const KernelFormula& formula = figure_3.at(call.name);
            const int blocks = call.blocks_read + call.blocks_written;
            EXPECT_EQ(call.multiplies, call.name.starts_with("mul"));
            EXPECT_EQ(call.additions, formula.additions);
            // T and V include one block that is written, in transactions of 16 elements; combines move 32 at once.
            EXPECT_EQ(call.multiplies ? Rational(blocks - 1, 16) : Rational(blocks, 32), formula.transactions);
            EXPECT_EQ(4 * (call.multiplies ? blocks - 1 : blocks), formula.volume);
            EXPECT_EQ(call.is_plain_product(), call.name == "mul");
            ++seen[call.name];
        }
    }
    EXPECT_EQ(seen, (std::map<std::string, int>{{"add", 7},
                                                {"sub", 11},
                                                {"mul", 5},
                                                {"mulIncInc", 2},
                                                {"mulIncDec", 1},
                                                {"mulStoreDec", 1},
                                                {"mulStoreInc", 1},
                                                {"mulAdd", 2},
                                                {"mulIncIncInc", 1},
                                                {"mulSubInc", 1}}));
}

TEST(device_counts, recursive_figures_read_and_write_as_section_vi_says) {
    struct Expected {
        const char* schedule;
        int single, pairs, blocks, additions;
    };
    // Strassen: 12 * 3 + 3 * 5 blocks. Winograd: 10 * 3, then 4 read and 2 written, then 3 read and 2 written.
    for (const Expected& expected : {Expected{"p0-figure-8", 12, 3, 51, 18}, {"p0-figure-15", 10, 2, 41, 15}}) {
        SCOPED_TRACE(expected.schedule);
        int products = 0, single = 0, pairs = 0, blocks = 0, additions = 0;
        for (const KernelCall& call : kernel_calls(find_schedule(expected.schedule))) {
            if (call.multiplies) {
                EXPECT_TRUE(call.is_plain_product());
                ++products;
                continue;
            }
            ++(call.blocks_written == 1 ? single : pairs);
            blocks += call.blocks_read + call.blocks_written;
            additions += call.additions;
        }
        EXPECT_EQ(products, 7);
        EXPECT_EQ(single, expected.single);
        EXPECT_EQ(pairs, expected.pairs);
        EXPECT_EQ(blocks, expected.blocks);
        EXPECT_EQ(additions, expected.additions);
    }
}

TEST(device_counts, fusing_saves_transactions_but_no_arithmetics) {
    for (const auto& [fused, plain] : {std::pair{"p0-figure-4", "p0-figure-8"}, {"p0-figure-5", "p0-figure-15"}}) {
        const DeviceCounts with = counts_over_gpu8(find_schedule(fused));
        const DeviceCounts without = counts_over_gpu8(find_schedule(plain));
        EXPECT_EQ(with.arithmetics, without.arithmetics);
        EXPECT_EQ(with.transactions.cubic, without.transactions.cubic);
        EXPECT_LT(with.volume_bytes.quadratic.to_double(), without.volume_bytes.quadratic.to_double());
        EXPECT_EQ(without, counts_over(find_schedule(plain), gpu8_counts()));
    }
}

TEST(device_counts, dead_products_are_not_written_and_live_ones_are) {
    const std::string header = "schedule x\nalgorithm y\nsize 2 2 2\ntemporaries T1\n";
    const auto only_call = [&](const std::string& steps) {
        return kernel_calls(parse_schedule(header + steps, "x.sched")).front();
    };
    const KernelCall dead = only_call("T1 = A11 * B11 @f\nC11 = C11 + T1 @f\n");
    EXPECT_EQ(dead.name, "f");
    EXPECT_EQ(dead.blocks_read, 1);
    EXPECT_EQ(dead.blocks_written, 1);
    EXPECT_EQ(only_call("T1 = A11 * B11 @f\nC11 = C11 + T1 @f\nC12 = C12 + T1\n").blocks_written, 2);
    EXPECT_EQ(only_call("T1 = A11 * B11 @f\nC11 = C11 + T1 @f\nT1 = A12 * B21\n").blocks_written, 1);
    const KernelCall updated = only_call("C11 += A11 * B11\n");
    EXPECT_EQ(updated.name, "mul");
    EXPECT_EQ(updated.additions, 1);
    EXPECT_FALSE(updated.is_plain_product());
}

TEST(device_counts, what_has_no_counts_is_refused) {
    const auto code = [](const auto& call) {
        try {
            call();
        } catch (const Error& error) {
            return error.code();
        }
        return ErrorCode::internal;
    };
    EXPECT_EQ(code([] { counts_over(find_schedule("p0-figure-4"), gpu8_counts()); }), ErrorCode::usage);
    const std::string header = "schedule x\nalgorithm y\nsize 2 2 2\n";
    EXPECT_EQ(
        code([&] { kernel_calls(parse_schedule(header + "C11 = A11 * B11 @f\nC12 = A11 * B12 @f\n", "x.sched")); }),
        ErrorCode::usage);
    EXPECT_EQ(code([] {
                  counts_over_gpu8(parse_schedule("schedule x\nalgorithm y\nsize 1 1 1\nC11 = A11 * B11\n", "x.sched"));
              }),
              ErrorCode::usage);
}

TEST(device_counts, polynomials_are_exact_and_print_as_formulas) {
    const SizePolynomial p{{17, 4096}, {1, 16}};
    EXPECT_EQ(p.at(16), Rational(33));
    EXPECT_EQ(p.at(8), Rational(49, 8));
    EXPECT_EQ(p.to_string(), "17/4096 n^3 + 1/16 n^2");
    EXPECT_EQ(gpu8_counts().arithmetics.to_string(), "2 n^3 - 1 n^2");
    EXPECT_EQ(gpu8_counts().arithmetics.at(1 << 20), Rational((std::int64_t{1} << 61) - (std::int64_t{1} << 40)));
    EXPECT_THROW(gpu8_counts().arithmetics.at(1 << 21), Error);
}

}  // namespace
}  // namespace heptad
