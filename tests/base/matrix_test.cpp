#include "base/matrix.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

namespace heptad {
namespace {

template <class Body>
Error error_of(Body body) {
    try {
        body();
    } catch (const Error& error) {
        return error;
    }
    return {ErrorCode::internal, "nothing was thrown"};
}

TEST(Matrix, default_is_empty_f32) {
    const Matrix m;
    EXPECT_EQ(m.rows(), 0);
    EXPECT_EQ(m.cols(), 0);
    EXPECT_EQ(m.size_bytes(), 0);
    EXPECT_EQ(m.data(), nullptr);
}

TEST(Matrix, row_major_and_column_major_views_reach_every_element_inside_the_storage) {
    for (const Type type : {Type::f64, Type::f32, Type::tf32, Type::bf16, Type::f16, Type::i32, Type::i64, Type::gf2,
                            Type::boolean, Type::c64, Type::c128}) {
        for (const Order order : {Order::row_major, Order::column_major}) {
            Matrix m(type, 3, 5, order);
            EXPECT_EQ(m.size_bytes(), 15 * static_cast<std::int64_t>(element_bytes(type)));
            const ByteRange range = byte_range(m.view());
            EXPECT_EQ(range.begin, reinterpret_cast<std::uintptr_t>(m.data()));
            EXPECT_EQ(range.end - range.begin, static_cast<std::uintptr_t>(m.size_bytes()));
            EXPECT_EQ(order == Order::row_major, m.view().col_stride == 1);
        }
    }
}

TEST(Matrix, storage_is_aligned_to_a_cache_line_and_large_storage_to_huge_pages) {
    const Matrix small(Type::boolean, 1, 1);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(small.data()) % 64, 0U);
    const Matrix large(Type::f64, 1024, 1024);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(large.data()) % (2U << 20), 0U);
}

TEST(Matrix, large_storage_is_writable_from_the_first_to_the_last_byte) {
    for (int repeat = 0; repeat < 20; ++repeat) {
        Matrix m(Type::boolean, 5, 1 << 20);
        auto* const bytes = static_cast<unsigned char*>(m.data());
        bytes[0] = 1;
        bytes[m.size_bytes() - 1] = 2;
        m.clear();
        EXPECT_EQ(bytes[0], 0);
        EXPECT_EQ(bytes[m.size_bytes() - 1], 0);
    }
}

TEST(Matrix, negative_size_is_bad_input) {
    EXPECT_EQ(error_of([] { Matrix(Type::f32, -1, 3); }).code(), ErrorCode::input);
    EXPECT_EQ(error_of([] { Matrix(Type::f32, 3, -1); }).code(), ErrorCode::input);
}

TEST(Matrix, size_overflow_is_bad_input) {
    const std::int64_t big = std::int64_t{1} << 32;
    EXPECT_EQ(error_of([&] { Matrix(Type::boolean, big, big); }).code(), ErrorCode::input);
    EXPECT_EQ(error_of([&] { Matrix(Type::f64, big, big / 8); }).code(), ErrorCode::input);
    EXPECT_EQ(error_of([&] { Matrix(Type::f64, std::numeric_limits<std::int64_t>::max(), 1); }).code(),
              ErrorCode::input);
}

TEST(Matrix, refused_memory_is_a_resource_error_that_names_the_bytes) {
    const Error error = error_of([] { Matrix(Type::f64, std::int64_t{1} << 29, std::int64_t{1} << 29); });
    EXPECT_EQ(error.code(), ErrorCode::resource);
    EXPECT_NE(std::string(error.what()).find("2305843009213693952 bytes"), std::string::npos) << error.what();
    EXPECT_EQ(error_of([] { Matrix(Type::boolean, std::numeric_limits<std::int64_t>::max(), 1); }).code(),
              ErrorCode::resource);
}

TEST(Matrix, one_size_zero_needs_no_memory_whatever_the_other) {
    const Matrix m(Type::f64, 0, std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(m.size_bytes(), 0);
    EXPECT_EQ(m.data(), nullptr);
}

TEST(Matrix, moved_from_is_empty_and_the_storage_travels) {
    Matrix from(Type::i32, 2, 2, Order::column_major);
    const void* const data = from.data();
    Matrix to(std::move(from));
    EXPECT_EQ(to.data(), data);
    EXPECT_EQ(from.rows(), 0);  // NOLINT: the state after a move is promised
    EXPECT_EQ(from.data(), nullptr);
    Matrix assigned(Type::f32, 7, 7);
    assigned = std::move(to);
    EXPECT_EQ(assigned.data(), data);
    EXPECT_EQ(assigned.order(), Order::column_major);
    EXPECT_EQ(to.size_bytes(), 0);  // NOLINT
}

}  // namespace
}  // namespace heptad
