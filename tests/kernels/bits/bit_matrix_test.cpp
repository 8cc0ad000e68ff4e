// The owning matrix, views at any column, transposes, counts, random bits.
#include <gtest/gtest.h>

#include <cmath>

#include "base/bit_words.hpp"
#include "kernels/bits/bit_test_matrices.hpp"
#include "kernels/bits/transpose.hpp"

namespace {

using namespace heptad;
using heptad::test::BitWindow;

TEST(BitMatrix, is_zero_at_first_and_rows_are_aligned) {
    const BitMatrix m(5, 1000);
    EXPECT_EQ(bits::count_ones(m), 0);
    for (std::int64_t i = 0; i < 5; ++i) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(m.view().words + i * m.stride()) % 64, 0U);
    }
}

TEST(BitMatrix, unused_bits_stay_zero) {
    for (const std::int64_t cols : {1, 63, 64, 65, 131, 512, 513}) {
        const BitMatrix m = BitMatrix::random(9, cols, 7, 1.0);
        const BitMatrix copy = BitMatrix::copy_of(m.view());
        for (const BitMatrix* each : {&m, &copy}) {
            std::int64_t ones = 0;
            for (std::int64_t i = 0; i < 9 * each->stride(); ++i) {
                ones += __builtin_popcountll(each->view().words[i]);
            }
            EXPECT_EQ(ones, 9 * cols);
        }
    }
}

TEST(BitMatrix, copies_and_moves_keep_the_bits) {
    const BitMatrix m = BitMatrix::random(70, 131, 3);
    BitMatrix copy = m;
    EXPECT_TRUE(copy == m);
    copy.set(69, 130, !copy(69, 130));
    EXPECT_FALSE(copy == m);
    BitMatrix moved = std::move(copy);
    copy = m;
    EXPECT_TRUE(copy == m);
    EXPECT_FALSE(moved == m);
    moved = std::move(copy);
    EXPECT_TRUE(moved == m);
}

TEST(BitMatrix, sizes_that_cannot_be_are_refused) {
    EXPECT_THROW(BitMatrix(-1, 3), Error);
    EXPECT_THROW(BitMatrix(3, -1), Error);
    EXPECT_THROW(BitMatrix(std::int64_t{1} << 40, std::int64_t{1} << 40), Error);
    EXPECT_THROW(BitMatrix(1, std::numeric_limits<std::int64_t>::max()), Error);
    EXPECT_THROW(BitMatrix::random(3, 3, 1, 1.5), Error);
    EXPECT_THROW(BitMatrix::random(3, 3, 1, std::numeric_limits<double>::quiet_NaN()), Error);
}

TEST(BitMatrix, rows_without_columns_are_not_walked) {
    const std::int64_t many = std::int64_t{1} << 50;  // years, at a row in a nanosecond
    const BitMatrix tall(many, 0), random = BitMatrix::random(many, 0, 1);
    EXPECT_EQ(bits::count_ones(tall), 0);
    EXPECT_TRUE(tall == random);
    const BitMatrix copied = tall, flat = tall.transposed();  // NOLINT(performance-unnecessary-copy-initialization)
    EXPECT_EQ(copied.rows(), many);
    EXPECT_EQ(flat.cols(), many);
    EXPECT_TRUE(flat.transposed() == tall);
}

TEST(BitMatrix, density_is_met_and_seeds_repeat) {
    for (const double density : {0.0, 0.001, 0.1, 0.3, 0.5, 0.9, 1.0}) {
        const BitMatrix m = BitMatrix::random(1000, 1003, 42, density);
        const double found = static_cast<double>(bits::count_ones(m)) / (1000.0 * 1003.0);
        EXPECT_NEAR(found, density, 6 * std::sqrt(density * (1 - density) / 1e6) + 1e-12);
        EXPECT_TRUE(m == BitMatrix::random(1000, 1003, 42, density));
    }
    EXPECT_FALSE(BitMatrix::random(64, 64, 1) == BitMatrix::random(64, 64, 2));
}

TEST(BitMatrix, transpose_of_windows_by_definition) {
    std::mt19937_64 random(5);
    for (const auto& [rows, cols] : {std::pair<int, int>{1, 1}, {64, 64}, {65, 63}, {1, 131}, {200, 70}}) {
        const BitWindow a(rows, cols, random);
        const BitWindow t(cols, rows, random);
        bits::transpose(a.view(), t.view());
        for (std::int64_t i = 0; i < rows; ++i) {
            for (std::int64_t j = 0; j < cols; ++j) {
                ASSERT_EQ(a.view()(i, j), t.view()(j, i)) << rows << " " << cols;
            }
        }
        EXPECT_TRUE(t.outside_untouched());
    }
    BitMatrix wrong(3, 4);
    EXPECT_THROW(bits::transpose(BitMatrix(3, 4), wrong.view()), Error);
}

TEST(BitWords, windows_load_and_store_as_single_bits_do) {
    std::mt19937_64 random(6);
    for (int round = 0; round < 300; ++round) {
        const auto cols = static_cast<std::int64_t>(1 + random() % 200);
        const BitWindow from(2, cols, random), to(2, cols, random);
        const BitMatrix old = BitMatrix::copy_of(to.view());
        for (std::int64_t w = 0; w < bits::words_of(cols); ++w) {
            bits::store_word<bits::Store::assign>(to.view(), 0, w, bits::load_word(from.view(), 0, w));
            bits::store_word<bits::Store::exclusive_or>(to.view(), 1, w, bits::load_word(from.view(), 1, w));
        }
        for (std::int64_t j = 0; j < cols; ++j) {
            ASSERT_EQ(to.view()(0, j), from.view()(0, j));
            ASSERT_EQ(to.view()(1, j), from.view()(1, j) != old(1, j));
        }
        ASSERT_TRUE(to.outside_untouched());
        std::uint64_t words[6];
        bits::load_words(from.view(), 1, 0, 6, words);
        for (std::int64_t w = 0; w < 6; ++w) {
            ASSERT_EQ(words[w], w < bits::words_of(cols) ? bits::load_word(from.view(), 1, w) : 0);
        }
    }
}

TEST(Transpose, small_squares_by_definition) {
    std::mt19937_64 random(8);
    const std::uint64_t x = random(), t = bits::transpose_8x8(x);
    for (int i = 0; i < 8; ++i) {
        for (int j = 0; j < 8; ++j) {
            EXPECT_EQ((x >> (8 * i + j)) & 1, (t >> (8 * j + i)) & 1);
        }
    }
    std::uint64_t words[8], bytes[8];
    for (int i = 0; i < 8; ++i) {
        words[i] = bytes[i] = random();
    }
    bits::transpose_8x8_bytes(bytes);
    for (int i = 0; i < 8; ++i) {
        for (int j = 0; j < 8; ++j) {
            EXPECT_EQ((words[i] >> (8 * j)) & 0xff, (bytes[j] >> (8 * i)) & 0xff);
        }
    }
}

}  // namespace
