// Plans of products over bits: levels and predictions by size and threads, and their text.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "run/bits/bit_chain.hpp"
#include "run/bits/bit_product.hpp"
#include "run/bits/bit_test_options.hpp"

namespace {

using namespace heptad;
using namespace heptad::bits;
using heptad::test::code;
using heptad::test::options_of;

TEST(BitPlan, leaves_are_small_where_a_level_is_made_beside_their_tiles) {
    const auto levels = [](std::int64_t n, int threads, const char* algorithm = "auto") {
        return make_bit_plan(Type::gf2, {n, n, n}, options_of(algorithm, -1, "blocks"), threads).levels.size();
    };
    // Down to 1024 where all levels are inside the leaf or tasks, and to 512 from the third one of a branch on.
    EXPECT_EQ(levels(2047, 1), 0);
    EXPECT_EQ(levels(2048, 1), 1);
    EXPECT_EQ(levels(4096, 1), 3);
    EXPECT_EQ(levels(16384, 1), 5);
    EXPECT_EQ(levels(4096, 2), 2);
    EXPECT_EQ(levels(8192, 2), 3);
    EXPECT_EQ(levels(16384, 2), 5);
    EXPECT_EQ(levels(4096, 1, "chaining"), 2) << "its sums are passes over memory";
}

TEST(BitPlan, predictions_grow_with_the_product_and_shrink_with_threads) {
    const auto predicted = [](std::int64_t n, int threads) {
        return make_bit_plan(Type::gf2, {n, n, n}, {}, threads).predicted_s;
    };
    EXPECT_GT(predicted(256, 1), 0);
    EXPECT_GT(predicted(4096, 1), 4 * predicted(1024, 1));
    EXPECT_LT(predicted(8192, 2), 0.75 * predicted(8192, 1));
    EXPECT_EQ(predicted(3000, 1), predicted(3000, 1));
}

TEST(BitPlan, every_print_parses_back_to_an_equal_plan_that_passes_its_check) {
    std::mt19937_64 random(3);
    const std::vector<std::string> algorithms{"auto", "classical", "winograd", "self-inverse", "chaining", "strassen"};
    for (int repeat = 0; repeat < 200; ++repeat) {
        const Type algebra = repeat % 4 == 0 ? Type::boolean : Type::gf2;
        const auto side = [&] { return static_cast<std::int64_t>(random() >> (50 + random() % 14)); };
        const std::vector<std::string> leaves = leaf_names(algebra);
        BitOptions options;
        if (algebra == Type::gf2) {
            options.algorithm = algorithms[random() % algorithms.size()];
            options.levels = options.algorithm == "classical" ? 0 : static_cast<int>(random() % 8) - 1;
        }
        options.leaf = leaves[random() % leaves.size()];
        const ProductPlan plan =
            make_bit_plan(algebra, {side(), side(), side()}, options, static_cast<int>(1 + random() % 9));
        EXPECT_TRUE(parse_plan(to_string(plan)) == plan) << to_string(plan);
        EXPECT_NO_THROW(check_bit_plan(plan)) << to_string(plan);
    }
    for (const std::vector<std::int64_t>& sizes :
         {std::vector<std::int64_t>(5, 8192), std::vector<std::int64_t>(4, 300), {100, 5000, 70, 9000, 3}}) {
        for (const ProductPlan& plan : make_chain_plan(Type::gf2, sizes, options_of("chaining", -1), 2).plans) {
            EXPECT_TRUE(parse_plan(to_string(plan)) == plan);
            EXPECT_NO_THROW(check_bit_plan(plan)) << to_string(plan);
        }
    }
}

TEST(BitPlan, a_plan_that_was_edited_is_bad_input) {
    const std::string text = to_string(make_bit_plan(Type::gf2, {1000, 1100, 1200}, options_of("winograd", 2), 2));
    const auto with = [&](const std::string& key, const std::string& value) {
        const std::size_t begin = text.find(' ' + key + '=') + 1, end = text.find(' ', begin);
        EXPECT_NE(begin, 0U) << key;
        return text.substr(0, begin) + key + "=" + value + text.substr(std::min(end, text.size()));
    };
    EXPECT_NO_THROW(check_bit_plan(parse_plan(with("predicted-s", "7"))));
    for (const std::string& wrong : {with("backend", "cuda"),
                                     with("backend", "reference"),
                                     with("threads", "0"),
                                     with("threads", "4097"),
                                     with("threads", "3"),
                                     with("levels", "none"),
                                     with("levels", "winograd:serial"),
                                     with("levels", "winograd:serial,chaining:serial"),
                                     with("levels", "winograd:serial,winograd:parallel"),
                                     with("levels", "winograd:serial,winograd:serial:p3-winograd"),
                                     with("levels", "2x2x3-11:serial"),
                                     with("leaf", "nobody"),
                                     with("leaf", "auto"),
                                     with("core", "0x0x0"),
                                     with("core", "1024x1280x1024"),
                                     with("core", "1025x1280x1536"),
                                     with("core", "65536x65536x65536"),
                                     with("core", "9223372036854775807x1x1"),
                                     with("padded", "no"),
                                     with("accumulate", "no"),
                                     with("change-basis", "yes"),
                                     with("workspace-bytes", "0"),
                                     with("workspace-bytes", "9223372036854775807"),
                                     with("error-bound", "1"),
                                     text + " panels={k=64;cols=256}",
                                     text + " count=yes",
                                     "plan 1000x1100x1200 bool" + text.substr(text.find(" backend="))}) {
        EXPECT_EQ(code([&] { check_bit_plan(parse_plan(wrong)); }), 3) << wrong;
    }
    std::string levels = "winograd:serial";
    for (int level = 1; level < 40; ++level) {
        levels += ",winograd:serial";
    }
    EXPECT_EQ(code([&] { check_bit_plan(parse_plan(with("levels", levels))); }), 3);
    const BitMatrix a(3, 4), b(4, 5);
    BitMatrix c(3, 5);
    EXPECT_THROW(multiply_bits(make_bit_plan(Type::gf2, {3, 4, 6}, {}, 1), a, b, c.view(), false, {}), Error);
}

TEST(BitPlan, levels_come_with_size) {
    const BitOptions options = options_of("auto", -1);
    EXPECT_EQ(make_bit_plan(Type::gf2, {500, 500, 500}, options, 1).levels.size(), 0);
    EXPECT_GE(make_bit_plan(Type::gf2, {16384, 16384, 16384}, options, 1).levels.size(), 2);
    EXPECT_EQ(make_bit_plan(Type::gf2, {16384, 100, 16384}, options, 1).levels.size(), 0);
    EXPECT_EQ(make_bit_plan(Type::boolean, {16384, 16384, 16384}, options, 1).levels.size(), 0);
    EXPECT_THROW(make_bit_plan(Type::gf2, {std::int64_t{1} << 40, 1, std::int64_t{1} << 40}, options, 1), Error);
}

}  // namespace
