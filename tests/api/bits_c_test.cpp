// The C interface of packed bit matrices, through its header alone.
#include <gtest/gtest.h>
#include <heptad/heptad.h>

#include <string>
#include <vector>

namespace {

/// A matrix that frees itself.
struct Bits {
    heptad_bit_matrix* handle = nullptr;
    Bits(int64_t rows, int64_t cols) { EXPECT_EQ(heptad_bit_matrix_create(&handle, rows, cols), HEPTAD_OK); }
    ~Bits() { heptad_bit_matrix_destroy(handle); }
    Bits(const Bits&) = delete;
    Bits& operator=(const Bits&) = delete;

    heptad_bits view() { return heptad_bit_matrix_view(handle); }
    heptad_const_bits const_view() const { return heptad_bit_matrix_const_view(handle); }
    bool at(int64_t i, int64_t j) const {
        const heptad_const_bits v = const_view();
        return ((v.words[i * v.stride + j / 64] >> (j % 64)) & 1) != 0;
    }
    void fill(uint64_t seed) {
        const heptad_bits v = view();
        for (int64_t i = 0; i < v.rows; ++i) {
            for (int64_t j = 0; j < v.cols; ++j) {
                seed = seed * 6364136223846793005U + 1442695040888963407U;
                const uint64_t mask = uint64_t{1} << (j % 64);
                v.words[i * v.stride + j / 64] |= (seed >> 62) == 0 ? mask : 0;
            }
        }
    }
};

bool product_bit(heptad_type algebra, const Bits& a, const Bits& b, int64_t i, int64_t j) {
    int sum = 0;
    for (int64_t q = 0; q < a.const_view().cols; ++q) {
        sum += a.at(i, q) && b.at(q, j) ? 1 : 0;
    }
    return algebra == HEPTAD_GF2 ? sum % 2 != 0 : sum > 0;
}

TEST(bits_c, a_new_matrix_is_zero_and_has_its_shape) {
    const Bits x(5, 130);
    EXPECT_EQ(x.const_view().rows, 5);
    EXPECT_EQ(x.const_view().cols, 130);
    EXPECT_GE(x.const_view().stride, 3);
    int64_t ones = -1;
    EXPECT_EQ(heptad_bits_count_ones(x.const_view(), &ones), HEPTAD_OK);
    EXPECT_EQ(ones, 0);
}

TEST(bits_c, products_equal_the_definition_and_accumulate) {
    for (const heptad_type algebra : {HEPTAD_GF2, HEPTAD_BOOL}) {
        Bits a(37, 90), b(90, 70), c(37, 70);
        a.fill(1);
        b.fill(2);
        c.fill(3);
        Bits before(37, 70);
        before.fill(3);
        ASSERT_EQ(heptad_bits_multiply(algebra, a.const_view(), b.const_view(), c.view(), 1, nullptr, nullptr),
                  HEPTAD_OK);
        Bits plain(37, 70);
        ASSERT_EQ(heptad_bits_multiply(algebra, a.const_view(), b.const_view(), plain.view(), 0, nullptr, nullptr),
                  HEPTAD_OK);
        for (int64_t i = 0; i < 37; ++i) {
            for (int64_t j = 0; j < 70; ++j) {
                const bool expected = product_bit(algebra, a, b, i, j), old = before.at(i, j);
                ASSERT_EQ(plain.at(i, j), expected) << i << " " << j;
                ASSERT_EQ(c.at(i, j), algebra == HEPTAD_GF2 ? expected != old : expected || old) << i << " " << j;
            }
        }
    }
}

TEST(bits_c, words_of_ones_own_go_in_and_out) {
    std::vector<uint64_t> words{0x8000000000000003U, 1, 7, 0}, back(4, ~uint64_t{0});
    Bits x(2, 66), t(66, 2);
    ASSERT_EQ(heptad_bits_copy({words.data(), 2, 66, 2, 0}, x.view()), HEPTAD_OK);
    EXPECT_TRUE(x.at(0, 64));
    EXPECT_FALSE(x.at(0, 65));
    ASSERT_EQ(heptad_bits_transpose(x.const_view(), t.view()), HEPTAD_OK);
    EXPECT_TRUE(t.at(63, 0));
    EXPECT_TRUE(t.at(2, 1));
    ASSERT_EQ(heptad_bits_copy(x.const_view(), {back.data(), 2, 66, 2, 0}), HEPTAD_OK);
    EXPECT_EQ(back[0], words[0]);
    EXPECT_EQ(back[1], ~uint64_t{0} - 2);  // bits beside the columns stay
    int64_t ones = 0;
    ASSERT_EQ(heptad_bits_count_ones({words.data(), 2, 66, 2, 0}, &ones), HEPTAD_OK);
    EXPECT_EQ(ones, 7);
}

TEST(bits_c, options_force_levels_and_leaves) {
    Bits a(200, 200), b(200, 200), c(200, 200), d(200, 200);
    a.fill(4);
    b.fill(5);
    heptad_options options;
    heptad_options_init(&options);
    options.algorithm = "winograd";
    options.levels = 2;
    options.leaf = "table";
    ASSERT_EQ(heptad_bits_multiply(HEPTAD_GF2, a.const_view(), b.const_view(), c.view(), 0, &options, nullptr),
              HEPTAD_OK);
    ASSERT_EQ(heptad_bits_multiply(HEPTAD_GF2, a.const_view(), b.const_view(), d.view(), 0, nullptr, nullptr),
              HEPTAD_OK);
    ASSERT_EQ(heptad_bits_multiply(HEPTAD_GF2, a.const_view(), b.const_view(), d.view(), 1, nullptr, nullptr),
              HEPTAD_OK);
    int64_t ones = -1;
    heptad_bits_count_ones(d.const_view(), &ones);
    EXPECT_EQ(ones, 0);
    EXPECT_TRUE(c.at(0, 0) == product_bit(HEPTAD_GF2, a, b, 0, 0));
    options.leaf = "nonsense";
    EXPECT_EQ(heptad_bits_multiply(HEPTAD_GF2, a.const_view(), b.const_view(), c.view(), 0, &options, nullptr),
              HEPTAD_USAGE);
    EXPECT_NE(std::string(heptad_last_error()).find("nonsense"), std::string::npos);
}

TEST(bits_c, powers_and_closures_may_replace_their_operand) {
    Bits ring(100, 100), closed(100, 100);
    for (int64_t i = 0; i < 100; ++i) {
        const int64_t j = (i + 1) % 100;
        ring.view().words[i * ring.view().stride + j / 64] |= uint64_t{1} << (j % 64);
    }
    ASSERT_EQ(heptad_bits_closure(ring.const_view(), closed.view(), nullptr), HEPTAD_OK);
    int64_t ones = 0;
    heptad_bits_count_ones(closed.const_view(), &ones);
    EXPECT_EQ(ones, 100 * 100);
    ASSERT_EQ(heptad_bits_power(HEPTAD_GF2, ring.const_view(), 101, closed.view(), nullptr, nullptr), HEPTAD_OK);
    ASSERT_EQ(heptad_bits_power(HEPTAD_BOOL, ring.const_view(), 3, ring.view(), nullptr, nullptr), HEPTAD_OK);
    for (int64_t i = 0; i < 100; ++i) {
        for (int64_t j = 0; j < 100; ++j) {
            ASSERT_EQ(closed.at(i, j), j == (i + 1) % 100);
            ASSERT_EQ(ring.at(i, j), j == (i + 3) % 100);
        }
    }
}

TEST(bits_c, what_cannot_be_is_refused_with_a_sentence) {
    heptad_bit_matrix* none = nullptr;
    EXPECT_EQ(heptad_bit_matrix_create(nullptr, 1, 1), HEPTAD_USAGE);
    EXPECT_EQ(heptad_bit_matrix_create(&none, -1, 1), HEPTAD_INPUT);
    EXPECT_EQ(none, nullptr);
    EXPECT_EQ(heptad_bit_matrix_view(nullptr).rows, 0);
    EXPECT_EQ(heptad_bit_matrix_const_view(nullptr).cols, 0);
    heptad_bit_matrix_destroy(nullptr);
    Bits a(10, 20), b(20, 30), c(10, 30);
    EXPECT_EQ(heptad_bits_multiply(HEPTAD_F32, a.const_view(), b.const_view(), c.view(), 0, nullptr, nullptr),
              HEPTAD_USAGE);
    EXPECT_EQ(heptad_bits_multiply(HEPTAD_GF2, b.const_view(), a.const_view(), c.view(), 0, nullptr, nullptr),
              HEPTAD_INPUT);
    EXPECT_EQ(heptad_bits_multiply(HEPTAD_GF2, {nullptr, 10, 20, 1, 0}, b.const_view(), c.view(), 0, nullptr, nullptr),
              HEPTAD_INPUT);
    EXPECT_EQ(heptad_bits_copy({nullptr, 10, 30, 1, 0}, c.view()), HEPTAD_INPUT);
    EXPECT_EQ(heptad_bits_copy(a.const_view(), c.view()), HEPTAD_INPUT);
    EXPECT_EQ(heptad_bits_transpose(a.const_view(), c.view()), HEPTAD_INPUT);
    EXPECT_EQ(heptad_bits_count_ones(a.const_view(), nullptr), HEPTAD_USAGE);
    EXPECT_EQ(heptad_bits_power(HEPTAD_GF2, a.const_view(), 2, a.view(), nullptr, nullptr), HEPTAD_INPUT);
    EXPECT_EQ(heptad_bits_closure(a.const_view(), c.view(), nullptr), HEPTAD_INPUT);
    Bits square(10, 10);
    EXPECT_EQ(heptad_bits_power(HEPTAD_GF2, square.const_view(), -1, square.view(), nullptr, nullptr), HEPTAD_USAGE);
}

TEST(bits_c, a_cancelled_context_stops_a_product) {
    Bits a(600, 600), c(600, 600);
    a.fill(6);
    heptad_context* context = nullptr;
    ASSERT_EQ(heptad_context_create(&context), HEPTAD_OK);
    heptad_context_cancel(context);
    EXPECT_EQ(heptad_bits_multiply(HEPTAD_GF2, a.const_view(), a.const_view(), c.view(), 0, nullptr, context),
              HEPTAD_CANCELLED);
    int64_t ones = -1;
    heptad_bits_count_ones(c.const_view(), &ones);
    EXPECT_EQ(ones, 0);  // untouched
    heptad_context_destroy(context);
}

}  // namespace
