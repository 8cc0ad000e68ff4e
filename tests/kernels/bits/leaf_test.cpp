// Every leaf that this processor can run, against the definition; layouts, parts, accumulation.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>
#include <random>

#include "kernels/bits/bit_test_matrices.hpp"
#include "kernels/bits/interleave.hpp"
#include "kernels/bits/leaf.hpp"

namespace {

using namespace heptad;
using namespace heptad::bits;

struct Packed {
    PackedShape shape;
    std::vector<std::uint64_t> words;

    Packed(const Leaf& leaf, Role role, std::int64_t rows, std::int64_t cols, const ConstBitView& view, int levels = 0)
        : shape{role, rows, cols, levels}, words(static_cast<std::size_t>(shape.words()), ~std::uint64_t{0}) {
        pack(*leaf.layout, shape, view, {}, words.data(), shared_pool(1));
    }
    BitMatrix unpacked(const Leaf& leaf, std::int64_t rows, std::int64_t cols) {
        BitMatrix result(rows, cols);
        unpack(*leaf.layout, shape, words.data(), {}, result.view(), Store::assign, shared_pool(1));
        return result;
    }
};

std::string test_name(const ::testing::TestParamInfo<std::string>& leaf) {
    std::string name = leaf.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

class EveryLeaf : public ::testing::TestWithParam<std::string> {
protected:
    static const Leaf& leaf() { return find_leaf(Type::gf2, GetParam()); }
};

TEST_P(EveryLeaf, packing_and_unpacking_is_the_identity_in_every_role) {
    for (const Role role : {Role::left, Role::right, Role::result}) {
        for (const int levels : {0, 1, 2}) {
            const BitMatrix m = BitMatrix::random(150, 1600, 3);
            Packed packed(leaf(), role, 64, 512, m, levels);
            const std::int64_t rows = std::min<std::int64_t>(150, 64 << levels);
            const std::int64_t cols = std::min<std::int64_t>(1600, 512 << levels);
            EXPECT_TRUE(packed.unpacked(leaf(), rows, cols).view() == m.view().block(0, 0, rows, cols));
        }
    }
}

TEST_P(EveryLeaf, changing_roles_keeps_the_bits) {
    const BitMatrix m = BitMatrix::random(100, 1000, 4);
    for (const Role from : {Role::left, Role::right, Role::result}) {
        for (const Role to : {Role::left, Role::right, Role::result}) {
            Packed source(leaf(), from, 64, 512, m, 1), target(leaf(), to, 64, 512, BitMatrix(1, 1), 1);
            const PackedTarget to_target{target.shape, target.words.data()};
            repack(*leaf().layout, source.shape, source.words.data(), {}, {&to_target, 1}, {}, shared_pool(1));
            EXPECT_TRUE(target.unpacked(leaf(), 100, 1000) == m);
        }
    }
}

TEST_P(EveryLeaf, product_equals_definition_for_every_width_and_accumulates) {
    const std::int64_t unit = leaf().layout->column_unit();
    for (const std::int64_t m : {32, 96}) {
        for (const std::int64_t k : {64, 192, 1088, 2112}) {
            for (std::int64_t n = unit; n <= 1024 + unit; n += unit) {
                const LeafShape shape{m, k, n};
                const BitMatrix a = BitMatrix::random(m, k, 1), b = BitMatrix::random(k, n, 2);
                const BitMatrix expected = test::product_by_definition(Type::gf2, a, b);
                const Packed left(leaf(), Role::left, m, k, a), right(leaf(), Role::right, k, n, b);
                Packed result(leaf(), Role::result, m, n, BitMatrix(1, 1));
                std::fill(result.words.begin(), result.words.end(), ~std::uint64_t{0});  // must not be read
                leaf().multiply(shape, whole(leaf(), shape), left.words.data(), right.words.data(), result.words.data(),
                                false);
                ASSERT_TRUE(result.unpacked(leaf(), m, n) == expected) << m << " " << k << " " << n;
                leaf().multiply(shape, whole(leaf(), shape), left.words.data(), right.words.data(), result.words.data(),
                                true);
                ASSERT_EQ(count_ones(result.unpacked(leaf(), m, n)), 0) << "C ^= AB twice";
            }
        }
    }
}

TEST_P(EveryLeaf, parts_write_nothing_else) {
    const LeafShape shape{128, 128, 1536};
    const BitMatrix a = BitMatrix::random(128, 128, 1), b = BitMatrix::random(128, 1536, 2);
    const Packed left(leaf(), Role::left, 128, 128, a), right(leaf(), Role::right, 128, 1536, b);
    Packed result(leaf(), Role::result, 128, 1536, BitMatrix(1, 1));
    const LeafPart part{1, 3, 1, 2};
    leaf().multiply(shape, part, left.words.data(), right.words.data(), result.words.data(), false);
    const BitMatrix expected = test::product_by_definition(Type::gf2, a, b);
    const BitMatrix found = result.unpacked(leaf(), 128, 1536);
    const std::int64_t tile_cols = std::int64_t{64} * leaf().layout->tile_words();
    for (std::int64_t i = 0; i < 128; ++i) {
        for (std::int64_t j = 0; j < 1536; ++j) {
            const bool inside = i >= 32 && i < 96 && j >= tile_cols && j < 2 * tile_cols;
            ASSERT_EQ(found(i, j), inside && expected(i, j)) << i << " " << j;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Leaves, EveryLeaf, ::testing::ValuesIn(leaf_names(Type::gf2)), test_name);

BitMatrix sum_of(const std::vector<BitMatrix>& terms, std::size_t count) {
    BitMatrix sum = terms[0];
    for (std::size_t t = 1; t < count; ++t) {
        for (std::int64_t w = 0; w < sum.rows() * sum.stride(); ++w) {
            sum.view().words[w] ^= terms[t].view().words[w];
        }
    }
    return sum;
}

void check_fused_products(const Leaf& leaf) {
    // Narrow last panels, one and several groups of rows, and more depth than a panel has.
    for (const LeafShape& shape :
         {LeafShape{32, 64, 64}, LeafShape{96, 256, 448}, LeafShape{64, 1152, 320}, LeafShape{32, 2176, 256}}) {
        std::vector<BitMatrix> a, b, c;
        std::vector<Packed> left, right;
        for (std::uint64_t i = 0; i < kMostFused; ++i) {
            a.push_back(BitMatrix::random(shape.m, shape.k, i));
            b.push_back(BitMatrix::random(shape.k, shape.n, 100 + i));
            c.push_back(BitMatrix::random(shape.m, shape.n, 200 + i));
            left.emplace_back(leaf, Role::left, shape.m, shape.k, a.back());
            right.emplace_back(leaf, Role::right, shape.k, shape.n, b.back());
        }
        const BitMatrix second = test::product_by_definition(Type::gf2, sum_of(a, 2), sum_of(b, 2));
        for (const auto& [terms_a, terms_b, places] :
             {std::array<std::size_t, 3>{1, 1, 1}, {2, 1, 2}, {1, 4, 3}, {4, 2, 4}, {8, 8, 8}}) {
            const BitMatrix product = test::product_by_definition(Type::gf2, sum_of(a, terms_a), sum_of(b, terms_b));
            std::vector<Packed> result;
            const std::uint64_t* from_a[kMostFused];
            const std::uint64_t* from_b[kMostFused];
            std::uint64_t* to[kMostFused];
            for (std::size_t i = 0; i < kMostFused; ++i) {
                result.emplace_back(leaf, Role::result, shape.m, shape.n, c[i]);
                from_a[i] = left[i].words.data();
                from_b[i] = right[i].words.data();
                to[i] = result[i].words.data();
            }
            std::vector<std::uint64_t> scratch(
                static_cast<std::size_t>(packed_words(shape.m, shape.k) + kFusedPanelWords));
            FusedOperands operands;
            operands.a = {from_a, terms_a};
            operands.b = {from_b, terms_b};
            operands.c = {to, places};
            operands.adds = 0b10101010;
            operands.scratch = scratch.data();
            operands.next_b = {from_b, 2};
            const FirstPanel first_panel = leaf.multiply_fused(shape, operands);
            for (std::size_t i = 0; i < kMostFused; ++i) {
                const BitMatrix found = result[i].unpacked(leaf, shape.m, shape.n);
                const BitMatrix expected = i >= places ? c[i] : i % 2 == 1 ? sum_of({c[i], product}, 2) : product;
                ASSERT_TRUE(found == expected) << shape.m << " " << shape.k << " " << terms_a << " " << i;
            }
            // The next product finds its first panel made, and is told of one after it whose panel needs no sum.
            EXPECT_TRUE(first_panel.made);
            operands.a = {from_a, 2};
            operands.b = {from_b, 2};
            operands.c = {to, 1};
            operands.adds = 0;
            operands.next_b = {from_b, 1};
            operands.first_panel = first_panel;
            EXPECT_FALSE(leaf.multiply_fused(shape, operands).made);
            ASSERT_TRUE(result[0].unpacked(leaf, shape.m, shape.n) == second) << shape.m << " " << shape.k;
        }
    }
}

TEST(FusedLeaf, later_sums_are_made_beside_the_tiles) {
    for (const Leaf& leaf : available_leaves()) {
        if (leaf.multiply_fused == nullptr) {
            continue;
        }
        const LeafShape shape{96, 128, 512};  // six tiles
        std::vector<std::uint64_t> a(static_cast<std::size_t>(packed_words(shape.m, shape.k)), 1),
            b(static_cast<std::size_t>(packed_words(shape.k, shape.n)), 2),
            c(static_cast<std::size_t>(packed_words(shape.m, shape.n))),
            scratch(a.size() + static_cast<std::size_t>(kFusedPanelWords));
        const std::uint64_t* from_a[] = {a.data()};
        const std::uint64_t* from_b[] = {b.data()};
        std::uint64_t* to[] = {c.data()};
        constexpr auto words = static_cast<std::size_t>(4 * kLaterPiece);
        std::vector<std::vector<std::uint64_t>> sources;
        for (std::uint64_t i = 0; i < 4; ++i) {
            sources.emplace_back(words);
            for (std::size_t w = 0; w < words; ++w) {
                sources[i][w] = (w + 1) * (2 * i + 1) * 0x9e3779b97f4a7c15U;
            }
        }
        std::vector<std::vector<std::uint64_t>> sums(4, std::vector<std::uint64_t>(words, 7));
        std::vector<LaterQueue> queues(3);                             // the last one is empty
        const auto add = [&](LaterQueue& queue, std::size_t number) {  // sum number i has i + 1 terms
            DeferredSum& sum = queue.sums[queue.last++];
            sum.to = sums[number].data();
            sum.count = static_cast<int>(number) + 1;
            sum.words = static_cast<std::int64_t>(words);
            for (std::size_t t = 0; t <= number; ++t) {
                sum.from[t] = sources[t].data();
            }
        };
        add(queues[0], 0);
        add(queues[0], 1);
        add(queues[1], 2);
        add(queues[1], 3);
        FusedOperands operands;
        operands.a = from_a;
        operands.b = from_b;
        operands.c = to;
        operands.scratch = scratch.data();
        operands.later = queues;
        leaf.multiply_fused(shape, operands);
        for (const std::size_t queue : {std::size_t{0}, std::size_t{1}}) {
            EXPECT_EQ(queues[queue].first, 1);
            EXPECT_EQ(queues[queue].sums[1].done, 2 * kLaterPiece) << "six tiles, six pieces";
        }
        EXPECT_EQ(queues[2].first, 0);
        leaf.multiply_fused(shape, operands);
        EXPECT_EQ(queues[0].first, 2);
        EXPECT_EQ(queues[1].first, 2);
        for (std::size_t number = 0; number < 4; ++number) {
            std::vector<std::uint64_t> expected(words, 0);
            for (std::size_t t = 0; t <= number; ++t) {
                std::transform(expected.begin(), expected.end(), sources[t].begin(), expected.begin(),
                               std::bit_xor<>());
            }
            EXPECT_EQ(sums[number], expected) << leaf.name << " " << number;
        }
    }
}

TEST(FusedLeaf, products_sum_their_operands_and_go_to_all_their_places) {
    int checked = 0;
    for (const Leaf& leaf : available_leaves()) {
        if (leaf.multiply_fused != nullptr) {
            check_fused_products(leaf);
            ++checked;
        }
    }
    EXPECT_GT(checked, 0);
}

class EveryBooleanLeaf : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryBooleanLeaf, product_equals_definition_at_every_density) {
    const Leaf& leaf = find_leaf(Type::boolean, GetParam());
    const LeafShape shape{96, 2048, 1024};
    for (const double density : {0.0, 0.001, 0.02, 0.5, 1.0}) {
        const BitMatrix a = BitMatrix::random(96, 2048, 1, density);
        // 900 columns: those beyond can never be reached, and rows must be found full all the same.
        const BitMatrix b = BitMatrix::random(2048, 900, 2, density);
        const BitMatrix expected = test::product_by_definition(Type::boolean, a, b);
        const Packed left(leaf, Role::left, 96, 2048, a), right(leaf, Role::right, 2048, 1024, b);
        Packed result(leaf, Role::result, 96, 1024, BitMatrix(1, 1));
        std::fill(result.words.begin(), result.words.end(), ~std::uint64_t{0});
        leaf.multiply_boolean(shape, whole(leaf, shape), left.words.data(), right.words.data(), result.words.data(),
                              false);
        ASSERT_TRUE(result.unpacked(leaf, 96, 900) == expected) << density;
    }
}

TEST_P(EveryBooleanLeaf, some_rows_fill_up_and_others_do_not) {
    const Leaf& leaf = find_leaf(Type::boolean, GetParam());
    const LeafShape shape{160, 1024, 512};
    const BitMatrix b = BitMatrix::random(1024, 512, 2, 0.05);
    for (const std::int64_t full_from : {0, 3, 150}) {  // all, nearly all, a few
        BitMatrix a = BitMatrix::random(160, 1024, 1, 0.004);
        for (std::int64_t i = full_from; i < 160; ++i) {
            for (std::int64_t k = 0; k < 1024; ++k) {
                a.set(i, k, true);
            }
        }
        const Packed left(leaf, Role::left, 160, 1024, a), right(leaf, Role::right, 1024, 512, b);
        Packed result(leaf, Role::result, 160, 512, BitMatrix(1, 1));
        leaf.multiply_boolean(shape, whole(leaf, shape), left.words.data(), right.words.data(), result.words.data(),
                              false);
        ASSERT_TRUE(result.unpacked(leaf, 160, 512) == test::product_by_definition(Type::boolean, a, b)) << full_from;
    }
}

TEST_P(EveryBooleanLeaf, listed_rows_are_added_until_nothing_is_missing) {
    const Leaf& leaf = find_leaf(Type::boolean, GetParam());
    const auto unit = static_cast<int>(leaf.layout->column_unit() / 64);
    std::mt19937_64 random(8);
    for (int width = unit; width <= 8; width += unit) {
        const auto words = static_cast<std::size_t>(width);
        std::vector<std::uint64_t> b(300 * words), reachable(words);
        for (std::size_t i = 0; i < b.size(); ++i) {
            b[i] = random() & random();
            reachable[i % words] |= b[i];
        }
        // Rows of C: nothing listed, an odd number, more than a look, all (full long before the end), full already.
        const std::vector<std::size_t> counts{0, 1, 7, 33, 300, 20};
        std::vector<std::int64_t> starts{0};
        std::vector<std::uint16_t> rows;
        std::vector<std::uint64_t> c(counts.size() * words + 1, 0), expected(c.size(), 0);
        std::copy(reachable.begin(), reachable.end(), c.begin() + static_cast<std::ptrdiff_t>(5 * words));
        c[2 * words] = expected[2 * words] = reachable[0] & 0xff;  // held before
        c.back() = expected.back() = 0x5555;                       // a guard
        for (std::size_t i = 0; i < counts.size(); ++i) {
            for (std::size_t j = 0; j < counts[i]; ++j) {
                rows.push_back(static_cast<std::uint16_t>(counts[i] == 300 ? j : random() % 300));
                for (std::size_t w = 0; w < words; ++w) {
                    expected[i * words + w] |= i == 5 ? reachable[w] : b[rows.back() * words + w];
                }
            }
            starts.push_back(static_cast<std::int64_t>(rows.size()));
        }
        std::vector<std::uint8_t> open(counts.size(), 0);
        leaf.add_boolean_rows({starts, rows.data()}, width, b.data(), reachable.data(), c.data(), open.data());
        EXPECT_EQ(c, expected) << width;
        EXPECT_EQ(open[0] + open[1], 2);
        EXPECT_EQ(open[4] + open[5], 0);
    }
}

INSTANTIATE_TEST_SUITE_P(Leaves, EveryBooleanLeaf, ::testing::ValuesIn(leaf_names(Type::boolean)), test_name);

TEST(FindLeaf, unknown_name_is_answered_with_the_list) {
    try {
        find_leaf(Type::boolean, "blocks");
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::usage);
        EXPECT_NE(std::string(error.what()).find("table"), std::string::npos);
    }
}

}  // namespace
