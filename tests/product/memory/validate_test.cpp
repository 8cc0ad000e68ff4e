// What a caller hands over is checked before anything is read or written.
#include "product/memory/validate.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "product/memory/product.hpp"

namespace heptad::test {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

struct Refusal {
    ErrorCode code = ErrorCode::internal;
    std::string sentence = "accepted";
};

Refusal refusal(double alpha, const ConstView& a, const ConstView& b, double beta, const View& c) {
    try {
        validate_product(alpha, a, b, beta, c);
    } catch (const Error& error) {
        return {error.code(), error.what()};
    }
    return {};
}

/// An array of floats and windows on it.
struct Floor {
    std::vector<float> data = std::vector<float>(10000);
    View at(std::int64_t offset, std::int64_t rows, std::int64_t cols, std::int64_t row_stride,
            std::int64_t col_stride) {
        return {data.data() + offset, Type::f32, rows, cols, row_stride, col_stride};
    }
};

TEST(validate, products_that_fit_are_accepted) {
    Floor x;
    EXPECT_EQ(refusal(1, x.at(0, 4, 5, 5, 1), x.at(100, 5, 6, 6, 1), 0, x.at(200, 4, 6, 6, 1)).sentence, "accepted");
    EXPECT_EQ(refusal(1, x.at(0, 0, 5, 5, 1), x.at(100, 5, 6, 6, 1), 0, x.at(200, 0, 6, 6, 1)).sentence, "accepted");
    EXPECT_EQ(refusal(1, x.at(0, 4, 0, 0, 1), x.at(100, 0, 6, 6, 1), 0, x.at(200, 4, 6, 6, 1)).sentence, "accepted");
}

TEST(validate, sizes_that_do_not_match_are_named) {
    Floor x;
    const Refusal inner = refusal(1, x.at(0, 4, 5, 5, 1), x.at(100, 7, 6, 6, 1), 0, x.at(200, 4, 6, 6, 1));
    EXPECT_EQ(inner.code, ErrorCode::input);
    EXPECT_NE(inner.sentence.find("4 x 5"), std::string::npos) << inner.sentence;
    EXPECT_NE(inner.sentence.find("7 x 6"), std::string::npos) << inner.sentence;
    const Refusal outer = refusal(1, x.at(0, 4, 5, 5, 1), x.at(100, 5, 6, 6, 1), 0, x.at(200, 4, 3, 6, 1));
    EXPECT_EQ(outer.code, ErrorCode::input);
    EXPECT_NE(outer.sentence.find("4 x 3"), std::string::npos) << outer.sentence;
    EXPECT_EQ(refusal(1, x.at(0, -4, 5, 5, 1), x.at(100, 5, 6, 6, 1), 0, x.at(200, -4, 6, 6, 1)).code,
              ErrorCode::input);
}

TEST(validate, types_that_differ_are_named) {
    Floor x;
    View b = x.at(100, 5, 6, 6, 1);
    b.type = Type::i32;
    const Refusal refused = refusal(1, x.at(0, 4, 5, 5, 1), b, 0, x.at(200, 4, 6, 6, 1));
    EXPECT_EQ(refused.code, ErrorCode::input);
    EXPECT_NE(refused.sentence.find("i32"), std::string::npos);
}

TEST(validate, null_data_is_refused_only_where_there_are_elements) {
    Floor x;
    View none = x.at(0, 4, 5, 5, 1);
    none.data = nullptr;
    EXPECT_EQ(refusal(1, none, x.at(100, 5, 6, 6, 1), 0, x.at(200, 4, 6, 6, 1)).code, ErrorCode::input);
    none.rows = 0;
    EXPECT_EQ(refusal(1, none, x.at(100, 5, 6, 6, 1), 0, x.at(200, 0, 6, 6, 1)).sentence, "accepted");
}

TEST(validate, huge_strides_are_refused_without_overflow) {
    Floor x;
    for (const std::int64_t stride : {kMost, kLeast, kMost / 2, kLeast / 2, std::int64_t{1} << 61}) {
        for (const Type type : {Type::f64, Type::f32, Type::gf2}) {
            View a = x.at(5000, 8, 5, stride, 1);
            View b = x.at(100, 5, 6, 6, 1);
            View c = x.at(200, 8, 6, 6, 1);
            a.type = b.type = c.type = type;
            EXPECT_EQ(refusal(1, a, b, 0, c).code, ErrorCode::input) << stride;
            View wide_c = x.at(200, 8, 6, stride, 1);
            wide_c.type = type;
            View narrow_a = x.at(5000, 8, 5, 5, 1);
            narrow_a.type = type;
            EXPECT_EQ(refusal(1, narrow_a, b, 0, wide_c).code, ErrorCode::input) << stride;
        }
    }
    // A reach down and a reach up that cancel in their sum.
    EXPECT_EQ(
        refusal(1, x.at(5000, 2, 2, -(kMost / 2), kMost / 2), x.at(100, 2, 2, 2, 1), 0, x.at(200, 2, 2, 2, 1)).code,
        ErrorCode::input);
}

TEST(validate, strides_of_single_rows_and_columns_are_never_used) {
    Floor x;
    for (const std::int64_t any : {kMost, kLeast, std::int64_t{0}}) {
        EXPECT_EQ(refusal(1, x.at(0, 1, 5, any, 1), x.at(100, 5, 1, 1, any), 0, x.at(200, 1, 1, any, any)).sentence,
                  "accepted");
        EXPECT_EQ(refusal(1, x.at(0, 1, 5, any, 1), x.at(100, 5, 6, 6, 1), 0, x.at(200, 1, 6, any, 1)).sentence,
                  "accepted");
    }
}

TEST(validate, negative_strides_are_accepted) {
    Floor x;
    EXPECT_EQ(refusal(1, x.at(1000, 4, 5, -5, 1), x.at(2000, 5, 6, 6, -1), 0, x.at(3000, 4, 6, -6, -1)).sentence,
              "accepted");
}

TEST(validate, a_and_b_may_overlap_and_repeat_themselves) {
    Floor x;
    EXPECT_EQ(refusal(1, x.at(0, 4, 4, 4, 1), x.at(2, 4, 4, 4, 1), 0, x.at(200, 4, 4, 4, 1)).sentence, "accepted");
    EXPECT_EQ(refusal(1, x.at(0, 4, 4, 0, 0), x.at(0, 4, 4, 0, 1), 0, x.at(200, 4, 4, 4, 1)).sentence, "accepted");
}

TEST(validate, a_c_that_stores_several_elements_in_one_place_is_refused) {
    Floor x;
    const auto code = [&](std::int64_t row_stride, std::int64_t col_stride) {
        return refusal(1, x.at(0, 4, 5, 5, 1), x.at(100, 5, 6, 6, 1), 0, x.at(5000, 4, 6, row_stride, col_stride)).code;
    };
    for (const auto& [row, col] : {std::pair{0, 1}, {6, 0}, {0, 0}, {5, 1}, {1, 1}, {1, 3}, {-5, 1}, {2, 2}}) {
        EXPECT_EQ(code(row, col), ErrorCode::input) << row << " " << col;
    }
}

TEST(validate, overlap_of_c_with_an_operand_is_refused) {
    Floor x;
    const Refusal with_a = refusal(1, x.at(0, 4, 5, 5, 1), x.at(100, 5, 6, 6, 1), 0, x.at(19, 4, 6, 6, 1));
    EXPECT_EQ(with_a.code, ErrorCode::input);
    EXPECT_NE(with_a.sentence.find("A"), std::string::npos);
    EXPECT_EQ(refusal(1, x.at(0, 4, 5, 5, 1), x.at(100, 5, 6, 6, 1), 0, x.at(129, 4, 6, 6, 1)).code, ErrorCode::input);
    EXPECT_EQ(refusal(1, x.at(0, 4, 5, 5, 1), x.at(100, 5, 6, 6, 1), 0, x.at(130, 4, 6, 6, 1)).sentence, "accepted");
    EXPECT_EQ(refusal(1, x.at(0, 4, 5, 5, 1), x.at(100, 5, 6, 6, 1), 0, x.at(20, 4, 6, 6, 1)).sentence, "accepted");
    // Upwards from the first element of A, and A downwards into it.
    EXPECT_EQ(refusal(1, x.at(220, 4, 5, -5, 1), x.at(500, 5, 6, 6, 1), 0, x.at(200, 4, 6, 6, 1)).code,
              ErrorCode::input);
}

TEST(validate, interleaved_windows_of_one_array_are_accepted) {
    Floor x;
    // A, B and C side by side in one array with rows of 30, and one below the other in columns of 30.
    EXPECT_EQ(refusal(1, x.at(0, 6, 6, 30, 1), x.at(6, 6, 6, 30, 1), 0, x.at(12, 6, 6, 30, 1)).sentence, "accepted");
    EXPECT_EQ(refusal(1, x.at(0, 6, 6, 1, 30), x.at(6, 6, 6, 1, 30), 0, x.at(12, 6, 6, 1, 30)).sentence, "accepted");
    EXPECT_EQ(refusal(1, x.at(0, 6, 6, 30, 1), x.at(6, 6, 6, 30, 1), 0, x.at(11, 6, 6, 30, 1)).code, ErrorCode::input);
}

TEST(validate, interleaved_matrices_do_not_overlap) {
    std::array<float, 120> array{};
    const auto one = [&](std::int64_t first, std::int64_t rows, std::int64_t cols, std::int64_t row, std::int64_t col) {
        return View(array.data() + first, Type::f32, rows, cols, row, col);
    };
    EXPECT_FALSE(may_overlap(one(0, 4, 5, 3, 12), one(1, 4, 5, 3, 12)));
    EXPECT_FALSE(may_overlap(one(2, 4, 5, 15, 3), one(0, 4, 5, 15, 3)));
    EXPECT_TRUE(may_overlap(one(0, 4, 5, 3, 12), one(3, 4, 5, 3, 12)));
    EXPECT_TRUE(may_overlap(one(0, 4, 5, 3, 12), one(15, 3, 4, 3, 12)));
    EXPECT_FALSE(may_overlap(one(0, 2, 5, 3, 12), one(6, 2, 5, 3, 12))) << "rows 0 and 1 beside rows 2 and 3";
}

TEST(validate, overlap_of_windows_is_exact) {
    // Every pair of windows of a 9 x 8 array, by the sets of their elements.
    std::array<float, 72> array{};
    int pairs = 0;
    constexpr std::int64_t rows = 9;
    constexpr std::int64_t cols = 8;
    for (const bool by_rows : {true, false}) {
        const std::int64_t row_stride = by_rows ? cols : 1;
        const std::int64_t col_stride = by_rows ? 1 : rows;
        const auto window = [&](std::int64_t i, std::int64_t j, std::int64_t r, std::int64_t c) {
            return View(array.data() + i * row_stride + j * col_stride, Type::f32, r, c, row_stride, col_stride);
        };
        for (std::int64_t i = 0; i < rows; i += 2) {
            for (std::int64_t j = 0; j < cols; ++j) {
                for (std::int64_t r = 1; i + r <= rows; r += 2) {
                    for (std::int64_t c = 1; j + c <= cols; c += 2) {
                        const View fixed = window(3, 2, 4, 3);
                        const bool meet = i < 7 && i + r > 3 && j < 5 && j + c > 2;
                        ASSERT_EQ(may_overlap(window(i, j, r, c), fixed), meet) << i << j << r << c;
                        ASSERT_EQ(may_overlap(fixed, window(i, j, r, c)), meet) << i << j << r << c;
                        ++pairs;
                    }
                }
            }
        }
    }
    EXPECT_GT(pairs, 500);
}

TEST(validate, scalars_must_be_elements_of_the_ring) {
    Floor x;
    const auto code = [&](Type type, double alpha, double beta) {
        View a = x.at(0, 2, 2, 2, 1);
        View b = x.at(100, 2, 2, 2, 1);
        View c = x.at(200, 2, 2, 2, 1);
        a.type = b.type = c.type = type;
        return refusal(alpha, a, b, beta, c);
    };
    for (const Type type : {Type::i32, Type::i64, Type::gf2, Type::boolean}) {
        EXPECT_EQ(code(type, 0.5, 0).code, ErrorCode::usage) << type_name(type);
        EXPECT_EQ(code(type, 1, std::numeric_limits<double>::quiet_NaN()).code, ErrorCode::usage) << type_name(type);
        EXPECT_EQ(code(type, std::numeric_limits<double>::infinity(), 0).code, ErrorCode::usage) << type_name(type);
        EXPECT_EQ(code(type, 1, 1).sentence, "accepted") << type_name(type);
    }
    EXPECT_EQ(code(Type::i32, -2147483648.0, 4294967295.0).sentence, "accepted");
    EXPECT_EQ(code(Type::i32, 4294967296.0, 0).code, ErrorCode::usage);
    EXPECT_EQ(code(Type::i64, -0x1p63, 0x1p53).sentence, "accepted");
    EXPECT_EQ(code(Type::i64, 0x1p64, 0).code, ErrorCode::usage);
    EXPECT_EQ(code(Type::boolean, 2, 0).code, ErrorCode::usage);
    EXPECT_EQ(code(Type::f32, 0.5, std::numeric_limits<double>::infinity()).sentence, "accepted");
}

TEST(validate, workspace_that_meets_an_operand_is_refused_by_name) {
    Floor x;
    const View a = x.at(1000, 4, 5, 5, 1);    // 1000 .. 1019
    const View b = x.at(2024, 5, 6, -6, 1);   // 2000 .. 2029
    const View c = x.at(3000, 4, 6, 100, 1);  // 3000 .. 3305, with gaps
    const auto sentence = [&](std::int64_t first, std::int64_t count) -> std::string {
        try {
            validate_workspace(x.data.data() + first, count * 4, a, b, c);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::input);
            return error.what();
        }
        return "accepted";
    };
    for (const auto& [first, count] :
         {std::pair{900, 100}, {1020, 980}, {2030, 970}, {3306, 1000}, {1005, 0}, {3000, -1}}) {
        EXPECT_EQ(sentence(first, count), "accepted") << first << " " << count;
    }
    for (const auto& [first, count, name] : {std::tuple{900, 101, "A"},
                                             {1019, 1, "A"},
                                             {0, 5000, "A"},
                                             {2000, 1, "B"},
                                             {2029, 10, "B"},
                                             {3305, 10, "C"},
                                             {3050, 10, "C"}}) {
        EXPECT_NE(sentence(first, count).find(std::string("overlaps ") + name), std::string::npos)
            << first << " " << count << ": " << sentence(first, count);
    }
    // Operands without elements are nowhere.
    EXPECT_NO_THROW(validate_workspace(x.data.data(), 40000, x.at(0, 0, 5, 5, 1), x.at(0, 5, 0, 0, 1), View{}));
}

TEST(validate, a_refused_product_leaves_c_as_it_was) {
    Floor x;
    std::iota(x.data.begin(), x.data.end(), 0.0F);
    const std::vector<float> before = x.data;
    EXPECT_THROW(
        multiply_in_memory(1, x.at(0, 4, 5, 5, 1), x.at(100, 5, 6, 6, 1), 0, x.at(10, 4, 6, 6, 1), Options{}, {}),
        Error);
    EXPECT_EQ(x.data, before);
}

}  // namespace
}  // namespace heptad::test
