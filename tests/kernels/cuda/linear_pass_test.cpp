// Passes as linear maps: one that was worked out before is the same for other matrices.
#include "kernels/cuda/combine/linear_pass.hpp"

#include <gtest/gtest.h>

#include "run/dense/combine_passes.hpp"
#include "run/dense/level_runner.hpp"

namespace heptad::test {
namespace {

using cuda::linear_pass;
using cuda::LinearPass;
using cuda::LinearPasses;

/// Blocks of 8 x 8 one after another from an offset on; nothing is read there.
std::vector<View> blocks_from(std::size_t offset, std::size_t count) {
    static std::vector<std::byte> addresses(1 << 20);
    std::vector<View> blocks;
    for (std::size_t i = 0; i < count; ++i) {
        blocks.emplace_back(&addresses.at(offset + i * 256), Type::f32, 8, 8, 8, 1);
    }
    return blocks;
}

void expect_same(const LinearPass& x, const LinearPass& y) {
    const auto places = [](const std::vector<View>& views) {
        std::vector<const void*> data;
        for (const View& view : views) {
            data.push_back(view.data);
        }
        return data;
    };
    EXPECT_EQ(places(x.inputs), places(y.inputs));
    EXPECT_EQ(places(x.outputs), places(y.outputs));
    EXPECT_EQ(x.coefficients, y.coefficients);
    EXPECT_EQ(x.keep, y.keep);
}

TEST(linear_passes, a_pass_that_comes_again_with_other_matrices_is_made_of_those) {
    const LevelPrograms programs = level_programs("winograd*winograd", false);
    LinearPasses passes;
    for (const std::size_t offset : {0x10000U, 0x90000U}) {
        const OperandLayout layout = operand_layout(*programs.a, true);
        const std::vector<View> stored = blocks_from(offset + 0x20000, static_cast<std::size_t>(layout.stored));
        const CombinePass sums = operand_pass(*programs.a, layout, {blocks_from(offset, 16), {}}, {stored, {}});
        expect_same(passes.of(sums), linear_pass(sums));
        EXPECT_EQ(passes.of(sums).outputs.size(), 49U);
        for (const double beta : {0.0, 1.0, 2.0}) {
            const CombinePass result =
                result_pass(*programs.c, {blocks_from(offset, 49), {}}, beta, {blocks_from(offset + 0x40000, 16), {}});
            expect_same(passes.of(result), linear_pass(result));
            EXPECT_EQ(passes.of(result).keep, beta);
        }
    }
}

TEST(linear_passes, whatever_changes_the_map_makes_another_one) {
    LinearPasses passes;
    const std::vector<View> slots = blocks_from(0x10000, 3);
    const CombinePass sum{slots, {{2, {{0, 1}, {1, 1}}}}};
    EXPECT_EQ(passes.of(sum).coefficients, (std::vector<double>{1, 1}));
    CombinePass difference = sum;
    difference.statements.front().terms[1].coefficient = -1;
    EXPECT_EQ(passes.of(difference).coefficients, (std::vector<double>{1, -1}));
    CombinePass in_place = sum;  // the target is the first source: its old value is kept
    in_place.slots[2] = in_place.slots[0];
    EXPECT_EQ(passes.of(in_place).inputs.size(), 1U);
    EXPECT_EQ(passes.of(in_place).keep, 1);
    CombinePass scratch = sum;  // nobody reads what it makes
    scratch.slots[2].data = nullptr;
    EXPECT_TRUE(passes.of(scratch).outputs.empty());
    CombinePass watched{slots, {{2, {{0, 1}}}}};
    EXPECT_EQ(passes.of(watched).inputs.size(), 1U);
    watched.watch = 0;
    watched.watched_slots = 2;
    EXPECT_EQ(passes.of(watched).inputs.size(), 2U);
    expect_same(passes.of(sum), linear_pass(sum));
}

TEST(linear_passes, old_values_are_kept_as_they_lie_there_only_if_their_powers_of_two_stay) {
    LinearPasses passes;
    const std::int32_t exponents[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const LineExponents by_rows{exponents, nullptr}, by_cols{nullptr, exponents};
    CombinePass added{blocks_from(0x10000, 2), {{0, {{1, 1}, {0, 2}}}}, {by_rows, {}}, {by_rows, {}}};
    EXPECT_EQ(passes.of(added).keep, 2);
    EXPECT_EQ(passes.of(added).input_lines, std::vector<LineExponents>{{}});
    EXPECT_EQ(passes.of(added).output_lines, std::vector<LineExponents>{by_rows});
    added.written_exponents[0] = by_cols;
    EXPECT_EQ(passes.of(added).keep, 0);
    EXPECT_EQ(passes.of(added).input_lines, (std::vector<LineExponents>{by_rows, {}}));
    EXPECT_EQ(passes.of(added).output_lines, std::vector<LineExponents>{by_cols});
    EXPECT_FALSE(cuda::changes_lines_only(passes.of(added)));
    const CombinePass changed{blocks_from(0x10000, 1), {{0, {{0, 1}}}}, {by_rows}, {{}}};
    EXPECT_TRUE(cuda::changes_lines_only(passes.of(changed)));
}

TEST(linear_passes, what_the_first_half_of_a_pass_wrote_is_read_as_it_was_written) {
    const std::int32_t exponents[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const LineExponents before{exponents, nullptr}, after{nullptr, exponents};
    const CombinePass whole{
        blocks_from(0x10000, 3), {{1, {{0, 1}}}, {2, {{1, 1}, {0, 1}}}}, {before, before, {}}, {before, after, {}}};
    const auto [first, second] = cuda::cut_in_two(whole);
    ASSERT_EQ(second.statements.size(), 1U);
    EXPECT_EQ(first.written_exponents[1], after);
    EXPECT_EQ(second.exponents[1], after);
    EXPECT_EQ(second.exponents[0], before);
}

}  // namespace
}  // namespace heptad::test
