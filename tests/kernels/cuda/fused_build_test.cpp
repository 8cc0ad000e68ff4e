// From products with views to the arguments of a launch; needs no device.
#include "kernels/cuda/fused/fused_build.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace heptad::test {
namespace {

/// Memory whose addresses count; nothing reads it.
class Blocks {
public:
    View take(std::int64_t rows, std::int64_t cols, std::int64_t row_stride, std::int64_t col_stride) {
        used_ += 1024;
        return {memory_.data() + used_, Type::f32, rows, cols, row_stride, col_stride};
    }

private:
    alignas(16) std::vector<float> memory_ = std::vector<float>(65536);
    std::size_t used_ = 0;
};

FusedProduct product(Blocks& blocks, std::vector<double> left, std::vector<double> right,
                     std::vector<FusedTarget> targets) {
    FusedProduct product{6, 4, 8, {}, {}, std::move(targets)};
    for (const double coefficient : left) {
        product.left.push_back({blocks.take(6, 4, 32, 1), coefficient});
    }
    for (const double coefficient : right) {
        product.right.push_back({blocks.take(4, 8, 32, 1), coefficient});
    }
    return product;
}

std::unique_ptr<cuda::FusedArguments<float>> arguments(const std::vector<FusedProduct>& products) {
    auto args = std::make_unique<cuda::FusedArguments<float>>();
    cuda::build_fused(products, *args);
    return args;
}

TEST(fused_build, factors_are_taken_out_so_that_each_sum_begins_with_1) {
    Blocks blocks;
    const View c = blocks.take(6, 8, 32, 1);
    const auto args = arguments({product(blocks, {3, -0.5, 2}, {7}, {{c, 10, 0}})});
    EXPECT_EQ(args->instances[0].left_count, 3);
    EXPECT_EQ(args->terms[0].coefficient, 1.0F);
    EXPECT_EQ(args->terms[1].coefficient, -6.0F);
    EXPECT_EQ(args->terms[2].coefficient, -4.0F);
    EXPECT_EQ(args->terms[3].coefficient, 1.0F);  // the right side
    EXPECT_EQ(args->targets[0].coefficient, 10.0F * -0.5F * 7.0F);
}

TEST(fused_build, a_sum_without_a_power_of_two_gets_one_more_term) {
    Blocks blocks;
    const FusedProduct one = product(blocks, {3, 5}, {1}, {{blocks.take(6, 8, 32, 1), 1, 0}});
    const auto args = arguments({one});
    ASSERT_EQ(args->instances[0].left_count, 3);
    EXPECT_EQ(args->terms[0].data, args->terms[1].data);
    EXPECT_EQ(args->terms[0].coefficient, 1.0F);
    EXPECT_EQ(args->terms[1].coefficient, 2.0F);
    EXPECT_EQ(args->terms[2].coefficient, 5.0F);
}

TEST(fused_build, updates_of_a_block_are_numbered_in_the_order_of_the_products) {
    Blocks blocks;
    const View c = blocks.take(6, 8, 32, 1), d = blocks.take(6, 8, 32, 1);
    const std::vector<FusedProduct> products = {product(blocks, {1}, {1}, {{c, 1, 0}}),
                                                product(blocks, {1}, {1}, {{d, 1, 0}, {c, 1, 1}}),
                                                product(blocks, {1}, {1}, {{c, 1, 1}})};
    const auto args = arguments(products);
    EXPECT_EQ(args->targets[0].turn, 0);
    EXPECT_EQ(args->targets[1].turn, 0);
    EXPECT_EQ(args->targets[2].turn, 1);
    EXPECT_EQ(args->targets[3].turn, 2);
    EXPECT_EQ(args->targets[2].block, args->targets[0].block);
    EXPECT_NE(args->targets[1].block, args->targets[0].block);
    EXPECT_TRUE(cuda::fused_conflict(products[0], products[1]));
    EXPECT_FALSE(cuda::fused_conflict(products[0], product(blocks, {1}, {1}, {{d, 1, 0}})));
}

TEST(fused_build, a_result_by_columns_is_made_as_the_transposed_product) {
    Blocks blocks;
    const FusedProduct one = product(blocks, {1, 1}, {1}, {{blocks.take(6, 8, 1, 16), 1, 0}});
    const auto args = arguments({one});
    EXPECT_EQ(args->m, 8);
    EXPECT_EQ(args->n, 6);
    EXPECT_EQ(args->instances[0].left_count, 1);
    EXPECT_EQ(args->instances[0].right_count, 2);
    EXPECT_EQ(args->terms[0].data, one.right[0].block.data);
    EXPECT_EQ(args->left.along_depth, 0);   // B by rows: columns of its transpose are contiguous
    EXPECT_EQ(args->right.along_depth, 1);  // A by rows: its transpose is contiguous along k
    EXPECT_EQ(args->target.col_stride, 1);
    EXPECT_EQ(args->target.row_stride, 16);
    EXPECT_EQ(args->target.wide, 1);
}

TEST(fused_build, addends_are_handed_on_and_transposed_with_their_targets) {
    Blocks blocks;
    const View c = blocks.take(6, 8, 32, 1), d = blocks.take(6, 8, 48, 1);
    const auto by_rows = arguments({product(blocks, {1}, {2}, {{c, 3, 0, d, -1}, {d, 1, 1}})});
    EXPECT_EQ(by_rows->targets[0].addend, d.data);
    EXPECT_EQ(by_rows->targets[0].addend_coefficient, -1.0F);  // unlike that of the product, which gets the factor 2
    EXPECT_EQ(by_rows->targets[0].coefficient, 6.0F);
    EXPECT_EQ(by_rows->targets[1].addend_coefficient, 0.0F);
    EXPECT_EQ(by_rows->addend.row_stride, 48);
    EXPECT_EQ(by_rows->addend.col_stride, 1);
    const auto by_columns = arguments({product(blocks, {1}, {1}, {{blocks.take(6, 8, 1, 16), 1, 0, d, 1}})});
    EXPECT_EQ(by_columns->addend.row_stride, 1);
    EXPECT_EQ(by_columns->addend.col_stride, 48);
}

TEST(fused_build, wide_loads_need_aligned_lines) {
    Blocks blocks;
    const View c = blocks.take(6, 8, 32, 1);
    FusedProduct one = product(blocks, {1, 1}, {1}, {{c, 1, 0}});
    EXPECT_EQ(arguments({one})->left.wide, 1);
    one.left[1].block.data = static_cast<const float*>(one.left[1].block.data) + 1;
    EXPECT_EQ(arguments({one})->left.wide, 0);
    EXPECT_EQ(arguments({one})->right.wide, 1);
    one = product(blocks, {1}, {1}, {{c, 1, 0}});
    one.right[0].block.row_stride = 33;
    EXPECT_EQ(arguments({one})->right.wide, 0);
    EXPECT_EQ(arguments({one})->right.contiguous, 1);
    one.right[0].block.col_stride = 2;
    EXPECT_EQ(arguments({one})->right.contiguous, 0);
}

TEST(fused_build, one_launch_takes_products_of_one_shape_as_many_as_fit) {
    Blocks blocks;
    const View c = blocks.take(6, 8, 32, 1);
    std::vector<FusedProduct> products(5, product(blocks, {1, 1}, {1}, {{c, 1, 1}}));
    EXPECT_EQ(cuda::fused_run_length(products), 5U);
    products[3].k = 5;
    EXPECT_EQ(cuda::fused_run_length(products), 3U);
    products.assign(kMostFusedInstances + 9, product(blocks, {1}, {1}, {{c, 1, 1}}));
    EXPECT_EQ(cuda::fused_run_length(products), static_cast<std::size_t>(kMostFusedInstances));
    products.assign(40, product(blocks, std::vector<double>(9, 1.0), {1}, {{c, 1, 1}}));
    EXPECT_EQ(cuda::fused_run_length(products), static_cast<std::size_t>(kMostFusedTerms / 12));
}

/// Two terms on either side that the faster kernel takes, changed by `change` before it is asked.
template <class Change>
std::optional<cuda::RegularLayout> layout_after(Change&& change) {
    Blocks blocks;
    FusedProduct one{6, 16, 8, {}, {}, {{blocks.take(6, 8, 32, 1), 1, 0}}};
    for (const double coefficient : {1.0, -1.0}) {
        one.left.push_back({blocks.take(6, 16, 32, 1), coefficient});
        one.right.push_back({blocks.take(16, 8, 32, 1), coefficient});
    }
    change(one);
    return cuda::regular_layout(std::vector<FusedProduct>{one});
}

TEST(fused_build, regular_products_tell_how_their_lines_run) {
    const auto plain = layout_after([](FusedProduct&) {});
    ASSERT_TRUE(plain);
    EXPECT_TRUE(plain->left_along_depth);
    EXPECT_FALSE(plain->right_along_depth);
    // A result by columns: the product is turned, so the right operand becomes the left one, along its columns.
    const auto turned = layout_after([](FusedProduct& one) {
        std::swap(one.targets[0].block.row_stride, one.targets[0].block.col_stride);
        one.m = 8;
        for (FusedTerm& term : one.left) {
            term.block.rows = 8;
        }
    });
    ASSERT_TRUE(turned);
    EXPECT_FALSE(turned->left_along_depth);
    EXPECT_TRUE(turned->right_along_depth);
}

TEST(fused_build, what_the_faster_kernel_cannot_read_is_not_regular) {
    EXPECT_FALSE(cuda::regular_layout({}));
    EXPECT_TRUE(layout_after([](FusedProduct& one) { one.left.pop_back(); }));
    EXPECT_FALSE(layout_after([](FusedProduct& one) { one.left.push_back(one.left[0]); })) << "three terms";
    EXPECT_FALSE(layout_after([](FusedProduct& one) {
        one.left[0].coefficient = 3;
        one.left[1].coefficient = 5;
    })) << "a third term would be added";
    EXPECT_FALSE(layout_after([](FusedProduct& one) { one.left[1].block.rows = 5; })) << "a term that lacks a row";
    EXPECT_FALSE(layout_after([](FusedProduct& one) {
        one.k = 12;
        for (int t = 0; t < 2; ++t) {
            one.left[static_cast<std::size_t>(t)].block.cols = 12;
            one.right[static_cast<std::size_t>(t)].block.rows = 12;
        }
    })) << "k no multiple of 8";
    EXPECT_FALSE(layout_after([](FusedProduct& one) { one.left[1].block.row_stride = 33; })) << "lines anywhere";
    EXPECT_FALSE(layout_after([](FusedProduct& one) {
        one.left[1].block.data = static_cast<const float*>(one.left[1].block.data) + 1;
    })) << "a first line anywhere";
    EXPECT_FALSE(layout_after([](FusedProduct& one) {
        one.left[0].block.row_stride = one.left[1].block.row_stride = 64;
        one.left[0].block.col_stride = one.left[1].block.col_stride = 2;
    })) << "gaps";
    EXPECT_FALSE(layout_after([](FusedProduct& one) {
        one.n = 6;
        one.right[0].block.cols = one.right[1].block.cols = 6;
    })) << "lines of the right operand that are no multiple of four";
    EXPECT_FALSE(layout_after([](FusedProduct& one) { one.left[1].block.row_stride = std::int64_t{1} << 23; }))
        << "lines too far apart";
}

/// Products by the blocks that they update.
std::vector<FusedProduct> updating(Blocks& blocks, const std::vector<std::vector<int>>& targets) {
    std::vector<View> c;
    for (int i = 0; i < 4; ++i) {
        c.push_back(blocks.take(6, 8, 32, 1));
    }
    std::vector<FusedProduct> products;
    for (const std::vector<int>& updated : targets) {
        std::vector<FusedTarget> list;
        for (const int block : updated) {
            list.push_back({c[static_cast<std::size_t>(block)], 1, 1});
        }
        products.push_back(product(blocks, {1}, {1}, std::move(list)));
    }
    return products;
}

TEST(fused_build, products_of_one_group_go_to_different_streams) {
    Blocks blocks;
    // Groups of two, like those of one level: each waits for both of the group before it.
    const std::vector<int> numbers =
        cuda::stream_numbers(updating(blocks, {{0, 3}, {1, 2}, {0, 1}, {2, 3}, {0, 2}, {1, 3}, {0}}));
    ASSERT_EQ(numbers.size(), 7U);
    EXPECT_NE(numbers[0], numbers[1]);
    EXPECT_NE(numbers[2], numbers[3]);
    EXPECT_NE(numbers[4], numbers[5]);
}

TEST(fused_build, a_chain_of_updates_stays_on_one_stream_and_leaves_the_other_to_the_rest) {
    Blocks blocks;
    EXPECT_EQ(cuda::stream_numbers(updating(blocks, {{0}, {0}, {1}, {0}, {2}})), (std::vector<int>{0, 0, 1, 0, 1}));
    EXPECT_TRUE(cuda::stream_numbers({}).empty());
}

}  // namespace
}  // namespace heptad::test
