// How products look to cuBLAS; needs its headers, but no device.
#include "kernels/cuda/vendor/strided_batch.hpp"

#include <gtest/gtest.h>

#include "kernels/cuda/vendor/vendor_kernels.hpp"

namespace heptad::test {
namespace {

using cuda::strided_batch;

/// Nothing is read there.
std::byte* place(std::int64_t element) {
    static std::vector<std::byte> addresses(1 << 16);
    return &addresses.at(static_cast<std::size_t>(4 * element));
}

/// m = 3, k = 5, n = 7, stored by rows or by columns, with room behind every line.
Product product_at(std::int64_t distance, bool by_rows) {
    const auto view = [&](std::int64_t at, std::int64_t rows, std::int64_t cols) {
        return by_rows ? View(place(at + distance), Type::f32, rows, cols, cols + 1, 1)
                       : View(place(at + distance), Type::f32, rows, cols, 1, rows + 1);
    };
    return {1, view(0, 3, 5), view(1000, 5, 7), 0, view(2000, 3, 7)};
}

TEST(strided_batch, conjugates_are_taken_with_a_transposition_alone) {
    Product product = product_at(0, true);
    for (ConstView* x : {&product.a, &product.b}) {
        x->type = Type::c64;
        x->conjugate = true;
    }
    product.c.type = Type::c64;
    product.imaginary = {2, -3};
    EXPECT_FALSE(strided_batch({&product, 1}));
    product.a = {product.a.data, Type::c64, 3, 5, 1, 4};
    product.b.conjugate = false;
    product.a.conjugate = true;
    const auto batch = strided_batch({&product, 1});
    ASSERT_TRUE(batch);
    EXPECT_EQ(batch->op_a, CUBLAS_OP_N);  // C is stored by rows, so B comes first
    EXPECT_EQ(batch->op_b, CUBLAS_OP_C);
    EXPECT_EQ(batch->types.data, CUDA_C_32F);
    EXPECT_EQ(static_cast<const float*>(batch->alpha.pointer())[1], 2);
    EXPECT_EQ(static_cast<const float*>(batch->beta.pointer())[1], -3);
}

TEST(strided_batch, rows_and_columns_are_exchanged_where_c_is_stored_by_rows) {
    const Product by_rows = product_at(0, true), by_columns = product_at(0, false);
    const auto rows = strided_batch({&by_rows, 1}), columns = strided_batch({&by_columns, 1});
    ASSERT_TRUE(rows && columns);
    EXPECT_EQ(rows->m, 7);
    EXPECT_EQ(rows->n, 3);
    EXPECT_EQ(rows->a, by_rows.b.data);
    EXPECT_EQ(columns->m, 3);
    EXPECT_EQ(columns->n, 7);
    EXPECT_EQ(columns->a, by_columns.a.data);
    for (const auto& batch : {rows, columns}) {
        EXPECT_EQ(batch->k, 5);
        EXPECT_EQ(batch->count, 1);
        EXPECT_EQ(batch->op_a, CUBLAS_OP_N);
        EXPECT_EQ(batch->op_b, CUBLAS_OP_N);
    }
}

TEST(strided_batch, a_kernel_measured_by_rows_is_found_for_that_shape_again) {
    const cuda::VendorKernels kernels{{Type::f32, 3, 5, 7, "this"}, {Type::f32, 7, 5, 3, "other"}};
    const std::vector<Product> products{product_at(0, true), product_at(300, true)};
    const auto batch = strided_batch(products);
    ASSERT_TRUE(batch);
    const std::vector<std::string> names =
        kernels_by_distance(kernels, batch->type, cuda::KernelUse::batched, {batch->m, batch->n, batch->k});
    EXPECT_EQ(names, std::vector<std::string>{"this"});
}

TEST(strided_batch, distances_are_equal_or_it_is_none) {
    const std::vector<Product> equal{product_at(0, true), product_at(300, true), product_at(600, true)};
    const auto batch = strided_batch(equal);
    ASSERT_TRUE(batch);
    EXPECT_EQ(batch->count, 3);
    EXPECT_EQ(batch->distance_a, 300);
    EXPECT_EQ(batch->distance_b, 300);
    EXPECT_EQ(batch->distance_c, 300);
    EXPECT_FALSE(
        strided_batch(std::vector<Product>{product_at(0, true), product_at(300, true), product_at(601, true)}));
    EXPECT_FALSE(strided_batch(std::vector<Product>{product_at(300, true), product_at(0, true)}));
    EXPECT_FALSE(strided_batch({}));
    Product scattered = product_at(0, true);
    scattered.a.col_stride = 2;
    EXPECT_FALSE(strided_batch({&scattered, 1}));
}

}  // namespace
}  // namespace heptad::test
