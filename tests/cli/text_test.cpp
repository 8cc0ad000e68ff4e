// Words of the command line into values.
#include "cli/text.hpp"

#include <gtest/gtest.h>

namespace heptad::cli {
namespace {

TEST(Text, sizes_in_bytes_take_units_of_1024) {
    EXPECT_EQ(parse_bytes("--memory", "0"), 0);
    EXPECT_EQ(parse_bytes("--memory", "4096"), 4096);
    EXPECT_EQ(parse_bytes("--memory", "12B"), 12);
    EXPECT_EQ(parse_bytes("--memory", "3k"), 3072);
    EXPECT_EQ(parse_bytes("--memory", "512M"), std::int64_t{512} << 20);
    EXPECT_EQ(parse_bytes("--memory", "8G"), std::int64_t{8} << 30);
    EXPECT_EQ(parse_bytes("--memory", "8GB"), std::int64_t{8} << 30);
    EXPECT_EQ(parse_bytes("--memory", "1.5GiB"), std::int64_t{3} << 29);
    EXPECT_EQ(parse_bytes("--memory", "2T"), std::int64_t{2} << 40);
}

TEST(Text, nonsense_sizes_are_refused_with_the_word) {
    for (const char* word : {"", "G", "lots", "8Q", "8GG", "-1", "1e3", "nan", "inf", "8 G", "99999999T", "1.5.2M"}) {
        try {
            parse_bytes("--memory", word);
            ADD_FAILURE() << word;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::usage);
            EXPECT_NE(std::string(error.what()).find("'" + std::string(word) + "'"), std::string::npos);
        }
    }
}

TEST(Text, integers_that_a_double_does_not_hold_are_refused_as_factors) {
    EXPECT_EQ(parse_factor("--alpha", "9007199254740992"), 9007199254740992.0);
    EXPECT_EQ(parse_factor("--alpha", "-4611686018427387904"), -4611686018427387904.0);
    EXPECT_EQ(parse_factor("--alpha", "9007199254740993.0"), 9007199254740992.0);
    for (const char* word : {"9007199254740993", "-9007199254740993", "9223372036854775807", "1+9007199254740993i"}) {
        EXPECT_THROW(parse_factor("--alpha", word), Error) << word;
    }
}

TEST(Text, shapes_need_the_right_number_of_sizes) {
    EXPECT_EQ(parse_shape("--shape", "3x4", 2), (std::vector<std::int64_t>{3, 4}));
    EXPECT_EQ(parse_shape("--sizes", "3x4x5", 3), (std::vector<std::int64_t>{3, 4, 5}));
    for (const char* word : {"", "3", "3x", "x4", "3x4x5", "3xx4", "-3x4", "3x4 ", "3X4", "3x99999999999999999999"}) {
        EXPECT_THROW(parse_shape("--shape", word, 2), Error) << word;
    }
}

TEST(Text, integers_and_reals_take_the_whole_word) {
    EXPECT_EQ(parse_integer("--seed", "-7", -10, 10), -7);
    EXPECT_EQ(parse_real("--alpha", "-2.5e-3"), -2.5e-3);
    for (const char* word : {"", "11", "-11", "7x", " 7", "7.0", "0x7"}) {
        EXPECT_THROW(parse_integer("--seed", word, -10, 10), Error) << word;
    }
    for (const char* word : {"", "one", "1,5", "nan", "inf", "1e999", "1.5x"}) {
        EXPECT_THROW(parse_real("--alpha", word), Error) << word;
    }
}

TEST(Text, values_print_with_their_units) {
    EXPECT_EQ(format_bytes(0), "0 bytes");
    EXPECT_EQ(format_bytes(1536), "1.50 KiB");
    EXPECT_EQ(format_bytes(std::int64_t{3} << 30), "3.00 GiB");
    EXPECT_EQ(format_seconds(9000), "2.5 h");
    EXPECT_EQ(format_seconds(750), "12.5 min");
    EXPECT_EQ(format_seconds(2.5), "2.5 s");
    EXPECT_EQ(format_seconds(0.0123), "12.3 ms");
    EXPECT_EQ(format_seconds(8.4e-7), "840 ns");
    EXPECT_EQ(format_clock(34.2), "0:35");
    EXPECT_EQ(format_clock(3753), "1:02:33");
    EXPECT_EQ(format_rate(6.12e10, Type::f32), "61.2 GFLOP/s");
    EXPECT_EQ(format_rate(1.5e12, Type::i32), "1.50 Top/s");
}

TEST(text, rates_count_what_the_option_counts) {
    EXPECT_DOUBLE_EQ(parse_rate("--network", "10G", RateUnit::bits), 1.25e9);
    EXPECT_DOUBLE_EQ(parse_rate("--network", "1.2GB", RateUnit::bits), 1.2e9);
    EXPECT_DOUBLE_EQ(parse_rate("--disk", "2G", RateUnit::bytes), 2e9);
    EXPECT_DOUBLE_EQ(parse_rate("--disk", "800Mbit", RateUnit::bytes), 1e8);
    EXPECT_DOUBLE_EQ(parse_rate("--compute", "20T", RateUnit::operations), 2e13);
    EXPECT_DOUBLE_EQ(parse_rate("--disk", "5", RateUnit::bytes), 5);
    for (const char* word : {"", "0", "-1G", "G", "10X", "10Gib", "1e400", "10G "}) {
        EXPECT_THROW(parse_rate("--network", word, RateUnit::bits), Error) << word;
    }
    EXPECT_THROW(parse_rate("--compute", "20GB", RateUnit::operations), Error);
}

}  // namespace
}  // namespace heptad::cli
