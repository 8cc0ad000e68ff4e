// Strided batches, and results in f32 of 16-bit operands.
#include <gtest/gtest.h>

#include <heptad/heptad.h>

#include <algorithm>
#include <cstddef>
#include <heptad/heptad.hpp>
#include <limits>

#include "kernels/guarded_matrix.hpp"

namespace heptad {
namespace {

using test::get_element;
using test::set_element;

struct Shape {
    std::int64_t m, k, n;
};

/// Matrices of a batch in one array of small integers, `gap` elements between neighbours.
struct Stack {
    Type type;
    std::int64_t rows, cols, stride;
    std::vector<std::byte> bytes;

    Stack(Type t, std::int64_t r, std::int64_t c, std::int64_t count, std::int64_t gap, int seed)
        : type(t),
          rows(r),
          cols(c),
          stride(r * c + gap),
          bytes(static_cast<std::size_t>(stride * count + 1) * element_bytes(t)) {
        for (std::size_t i = 0; i < bytes.size() / element_bytes(t); ++i) {
            set_element(t, bytes.data() + i * element_bytes(t), (static_cast<int>(i) * 7 + seed) % 5 - 2);
        }
    }
    double get(std::int64_t index, std::int64_t row, std::int64_t col) const {
        const std::int64_t at = index * stride + row * cols + col;
        return get_element(type, bytes.data() + static_cast<std::size_t>(at) * element_bytes(type));
    }
    ConstAnyView view() const { return {bytes.data(), type, rows, cols, cols, 1}; }
    AnyView view() { return {bytes.data(), type, rows, cols, cols, 1}; }
};

double expected(const Stack& a, std::int64_t index_a, const Stack& b, std::int64_t index_b, std::int64_t row,
                std::int64_t col) {
    double sum = 0;
    for (std::int64_t q = 0; q < a.cols; ++q) {
        sum += a.get(index_a, row, q) * b.get(index_b, q, col);
    }
    return sum;
}

TEST(batch, every_product_is_the_product_and_gaps_stay) {
    for (const Type type : {Type::f32, Type::f64, Type::i32, Type::bf16}) {
        for (const char* device : {"cpu", "reference"}) {
            for (const int levels : {-1, 0, 1, 2}) {
                for (const Shape shape : {Shape{1, 1, 1}, Shape{5, 7, 3}, Shape{33, 20, 41}}) {
                    if (levels > 0 && type == Type::bf16) {
                        continue;
                    }
                    const std::int64_t count = 9;
                    const Stack a(type, shape.m, shape.k, count, 3, 1), b(type, shape.k, shape.n, count, 0, 2);
                    Stack c(type, shape.m, shape.n, count, 2, 4);
                    const Stack before = c;
                    Options options;
                    options.device = device;
                    options.levels = levels;
                    multiply_strided_batch(2, a.view(), a.stride, b.view(), b.stride, -1, c.view(), c.stride, count,
                                           options);
                    for (std::int64_t x = 0; x < count; ++x) {
                        for (std::int64_t i = 0; i < shape.m; ++i) {
                            for (std::int64_t j = 0; j < shape.n; ++j) {
                                ASSERT_EQ(c.get(x, i, j), 2 * expected(a, x, b, x, i, j) - before.get(x, i, j))
                                    << type_name(type) << " " << device << " " << levels << " product " << x;
                            }
                        }
                        ASSERT_EQ(c.get(x, shape.m, 0), before.get(x, shape.m, 0)) << "the gap behind product " << x;
                    }
                }
            }
        }
    }
}

TEST(batch, one_matrix_may_serve_all_and_strides_may_be_negative) {
    const std::int64_t count = 2500;  // more than are dealt out at a time
    const Stack a(Type::f32, 4, 6, count, 0, 1), b(Type::f32, 6, 5, 1, 0, 3);
    Stack c(Type::f32, 4, 5, count, 0, 0);
    AnyView last = c.view();
    last.data = c.bytes.data() + static_cast<std::size_t>((count - 1) * c.stride) * 4;
    double fraction = 0;
    Context context;
    context.set_threads(2).set_progress([&](const Progress& progress) {
        EXPECT_GE(progress.fraction, fraction);
        fraction = progress.fraction;
    });
    multiply_strided_batch(1, a.view(), a.stride, b.view(), 0, 0, last, -c.stride, count, {}, context);
    EXPECT_EQ(fraction, 1);
    for (std::int64_t x = 0; x < count; x += 7) {
        ASSERT_EQ(c.get(count - 1 - x, 3, 4), expected(a, x, b, 0, 3, 4)) << x;
    }
}

ErrorCode refusal(double beta, const ConstAnyView& a, std::int64_t stride_a, const ConstAnyView& b,
                  std::int64_t stride_b, const AnyView& c, std::int64_t stride_c, std::int64_t count) {
    try {
        multiply_strided_batch(1, a, stride_a, b, stride_b, beta, c, stride_c, count);
    } catch (const Error& error) {
        EXPECT_GT(std::string(error.what()).size(), 20U);
        return error.code();
    }
    return ErrorCode::internal;
}

TEST(batch, what_cannot_be_meant_is_refused_and_nothing_is_written) {
    const Stack a(Type::f32, 4, 4, 3, 0, 1), b(Type::f32, 4, 4, 3, 0, 2);
    Stack c(Type::f32, 4, 4, 3, 0, 3);
    const Stack before = c;
    constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max() / 2;
    EXPECT_EQ(refusal(0, a.view(), 16, b.view(), 16, c.view(), 16, -1), ErrorCode::usage);
    EXPECT_EQ(refusal(0, a.view(), 16, b.view(), 16, c.view(), 0, 2), ErrorCode::input);
    EXPECT_EQ(refusal(0, a.view(), 16, b.view(), 16, c.view(), 15, 3), ErrorCode::input);
    EXPECT_EQ(refusal(0, a.view(), 16, b.view(), 16, c.view(), 3, 3), ErrorCode::input);
    EXPECT_NE(refusal(0, a.view(), kHuge, b.view(), 16, c.view(), 16, 3), ErrorCode::internal);
    EXPECT_NE(refusal(0, a.view(), std::numeric_limits<std::int64_t>::min(), b.view(), 16, c.view(), 16, 1),
              ErrorCode::internal);
    // C of product 0 is A of product 1.
    EXPECT_EQ(refusal(0, ConstAnyView(c.view()), 16, b.view(), 16, c.view(), 16, 3), ErrorCode::input);
    AnyView ahead = c.view();
    ahead.data = c.bytes.data() + 64;  // 16 floats on
    EXPECT_EQ(refusal(0, ConstAnyView(c.view()), 16, b.view(), 16, ahead, 16, 2), ErrorCode::input);
    EXPECT_EQ(c.bytes, before.bytes);
    multiply_strided_batch(1, a.view(), 16, b.view(), 16, 0, c.view(), 16, 0);
    EXPECT_EQ(c.bytes, before.bytes);
}

TEST(batch, a_cancelled_one_stops_between_products) {
    const std::int64_t count = 2048;  // of which the first half is done when progress is reported
    const Stack a(Type::f64, 20, 30, 1, 0, 1), b(Type::f64, 30, 10, 1, 0, 2);
    for (const int threads : {1, 2}) {
        Stack c(Type::f64, 20, 10, count, 0, 3);
        const std::vector<std::byte> before = c.bytes;
        const CancelToken token;
        Context context;
        context.set_threads(threads).set_cancel(token).set_progress([&](const Progress&) { token.cancel(); });
        ErrorCode code = ErrorCode::internal;
        try {
            multiply_strided_batch(1, a.view(), 0, b.view(), 0, 0, c.view(), c.stride, count, {}, context);
        } catch (const Error& error) {
            code = error.code();
        }
        EXPECT_EQ(code, ErrorCode::cancelled);
        const auto half = static_cast<std::ptrdiff_t>(before.size() / 2) + 8;
        EXPECT_TRUE(std::equal(before.begin() + half, before.end(), c.bytes.begin() + half));
        EXPECT_FALSE(std::equal(before.begin(), before.end(), c.bytes.begin()));
    }
}

TEST(batch, interleaved_batches_in_one_array_are_fine) {
    // Rows of A and C take turns: A and C of one product are 4 wide in rows of 8.
    std::vector<float> memory(std::size_t{3} * 4 * 8, 1.0F);
    const Stack b(Type::f32, 4, 4, 3, 0, 2);
    const ConstAnyView a(memory.data(), Type::f32, 4, 4, 8, 1);
    const AnyView c(memory.data() + 4, Type::f32, 4, 4, 8, 1);
    multiply_strided_batch(1, a, 32, b.view(), 16, 0, c, 32, 3);
    for (std::int64_t x = 0; x < 3; ++x) {
        double sum = 0;
        for (std::int64_t q = 0; q < 4; ++q) {
            sum += b.get(x, q, 1);
        }
        const auto third_row = static_cast<std::size_t>(x * 32 + 16);
        EXPECT_EQ(memory[third_row + 4 + 1], static_cast<float>(sum));
        EXPECT_EQ(memory[third_row + 1], 1.0F);
    }
}

TEST(batch, the_c_interface_has_it_too) {
    const double a[] = {1, 2, 3}, b[] = {10, 100, 1000};
    double c[] = {0, 0, 0};
    ASSERT_EQ(heptad_multiply_strided_batch(HEPTAD_F64, 1, {a, 1, 1, 1, 1}, 1, {b, 1, 1, 1, 1}, 1, 0, {c, 1, 1, 1, 1},
                                            1, 3, nullptr, nullptr),
              HEPTAD_OK)
        << heptad_last_error();
    EXPECT_EQ(c[0], 10);
    EXPECT_EQ(c[1], 200);
    EXPECT_EQ(c[2], 3000);
    EXPECT_EQ(heptad_multiply_strided_batch(HEPTAD_F64, 1, {a, 1, 1, 1, 1}, 1, {b, 1, 1, 1, 1}, 1, 0, {c, 1, 1, 1, 1},
                                            0, 3, nullptr, nullptr),
              HEPTAD_INPUT);
}

TEST(wide_result, products_of_16_bit_floats_may_end_in_f32) {
    for (const Type type : {Type::bf16, Type::f16}) {
        for (const char* device : {"cpu", "reference"}) {
            for (const double beta : {0.0, 0.5}) {
                Stack a(type, 9, 200, 1, 0, 1), b(type, 200, 11, 1, 0, 2);
                set_element(type, a.bytes.data(), 0.0078125);  // the sum needs more bits than the operands have
                Stack c(Type::f32, 9, 11, 1, 0, 3);
                const Stack before = c;
                Options options;
                options.device = device;
                multiply(1.0, ConstAnyView(a.view()), ConstAnyView(b.view()), beta, c.view(), options);
                for (std::int64_t i = 0; i < 9; ++i) {
                    for (std::int64_t j = 0; j < 11; ++j) {
                        ASSERT_EQ(c.get(0, i, j), expected(a, 0, b, 0, i, j) + beta * before.get(0, i, j))
                            << type_name(type) << " " << device;
                    }
                }
            }
        }
    }
}

TEST(wide_result, other_mixtures_and_plans_with_levels_are_refused) {
    const Stack a16(Type::bf16, 8, 8, 1, 0, 1), b16(Type::bf16, 8, 8, 1, 0, 1), a32(Type::f32, 8, 8, 1, 0, 1);
    Stack c64(Type::f64, 8, 8, 1, 0, 0), c16(Type::bf16, 8, 8, 1, 0, 0), c32(Type::f32, 8, 8, 1, 0, 0);
    const auto code = [](auto&& act) {
        try {
            act();
        } catch (const Error& error) {
            return error.code();
        }
        return ErrorCode::internal;
    };
    EXPECT_EQ(code([&] { multiply(1.0, a16.view(), b16.view(), 0.0, c64.view()); }), ErrorCode::input);
    EXPECT_EQ(code([&] { multiply(1.0, a32.view(), a32.view(), 0.0, c16.view()); }), ErrorCode::input);
    EXPECT_EQ(code([&] { multiply(1.0, a16.view(), a32.view(), 0.0, c32.view()); }), ErrorCode::input);
    const Plan plan = heptad::plan({8, 8, 8}, Type::bf16);
    multiply(1.0, a16.view(), b16.view(), 0.0, c32.view(), plan);
    EXPECT_EQ(c32.get(0, 3, 3), expected(a16, 0, b16, 0, 3, 3));
}

TEST(wide_result, the_c_interface_has_it_too) {
    const bf16 a[] = {to_bf16(1.5F)}, b[] = {to_bf16(2.0F)};
    float c[] = {7};
    ASSERT_EQ(heptad_multiply_into_f32(HEPTAD_BF16, 1, {a, 1, 1, 1, 1}, {b, 1, 1, 1, 1}, 0, {c, 1, 1, 1, 1}, nullptr,
                                       nullptr),
              HEPTAD_OK)
        << heptad_last_error();
    EXPECT_EQ(c[0], 3.0F);
    EXPECT_EQ(
        heptad_multiply_into_f32(HEPTAD_F64, 1, {a, 1, 1, 1, 1}, {b, 1, 1, 1, 1}, 0, {c, 1, 1, 1, 1}, nullptr, nullptr),
        HEPTAD_INPUT);
}

}  // namespace
}  // namespace heptad
