// Strided batches on a device, and results in f32 of 16-bit operands, bit for bit on small integers.
#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"
#include "product/device/device_matrix.hpp"
#include "product/device/device_product.hpp"

namespace heptad::test {
namespace {

Options on_device(int levels) {
    Options options;
    options.device = "cuda";
    options.levels = levels;
    options.algorithm = "winograd";
    options.accuracy = Accuracy::fast;
    return options;
}

double entry_of_product(const GuardedMatrix& a, const GuardedMatrix& b, std::int64_t row_a, std::int64_t row_b,
                        std::int64_t k, std::int64_t i, std::int64_t j) {
    double sum = 0;
    for (std::int64_t q = 0; q < k; ++q) {
        sum += a.get(row_a + i, q) * b.get(row_b + q, j);
    }
    return sum;
}

/// Matrices of a batch are bands of rows of one tall matrix.
class DeviceBatch : public testing::TestWithParam<std::tuple<Type, int, bool>> {};

TEST_P(DeviceBatch, every_product_is_the_product) {
    HEPTAD_NEEDS_DEVICE();
    const auto [type, levels, one_b] = GetParam();
    const std::int64_t m = 20, k = 36, n = 28, count = 5;
    for (const Layout layout : {Layout::rows, Layout::rows_padded}) {
        std::mt19937 random(11);
        GuardedMatrix a(type, m * count, k, layout), b(type, k * count, n, layout), c(type, m * count, n, layout);
        for (GuardedMatrix* x : {&a, &b, &c}) {
            x->fill_random(random, type == Type::bf16 ? 1 : 2);  // sums must be exact
        }
        GuardedMatrix expected = c;
        const cuda::Stream stream(0);
        DeviceMatrixCopy da(a, stream.handle()), db(b, stream.handle()), dc(c, stream.handle());
        ProductContext context;
        context.stream = stream.handle();
        ProductBatch batch;
        batch.count = count;
        batch.alpha = 2;
        batch.beta = -1;
        batch.a = block(ConstView(da.view()), 0, 0, m, k);
        batch.b = block(ConstView(db.view()), 0, 0, k, n);
        batch.c = block(dc.view(), 0, 0, m, n);
        batch.stride_a = m * batch.a.row_stride;
        batch.stride_b = one_b ? 0 : k * batch.b.row_stride;
        batch.stride_c = m * batch.c.row_stride;
        multiply_batch_on_device(batch, on_device(levels), context);
        dc.fetch();
        stream.synchronize();
        for (std::int64_t x = 0; x < count; ++x) {
            for (std::int64_t i = 0; i < m; ++i) {
                for (std::int64_t j = 0; j < n; ++j) {
                    const double product = entry_of_product(a, b, x * m, one_b ? 0 : x * k, k, i, j);
                    expected.set(x * m + i, j, 2 * product - expected.get(x * m + i, j));
                    ASSERT_EQ(c.get(x * m + i, j), expected.get(x * m + i, j))
                        << "product " << x << ", " << i << ", " << j;
                }
            }
        }
        EXPECT_TRUE(c.equals(expected)) << "guards";
    }
}

INSTANTIATE_TEST_SUITE_P(device, DeviceBatch,
                         testing::Combine(testing::Values(Type::f32, Type::f64, Type::bf16, Type::i32),
                                          testing::Values(0, 1, 2), testing::Bool()));

TEST(device_batch, batches_in_host_memory_are_brought_there_and_back) {
    HEPTAD_NEEDS_DEVICE();
    std::mt19937 random(12);
    GuardedMatrix a(Type::f32, 30, 8, Layout::rows), b(Type::f32, 24, 6, Layout::rows),
        c(Type::f32, 30, 6, Layout::rows);
    for (GuardedMatrix* x : {&a, &b, &c}) {
        x->fill_random(random, 2);
    }
    ProductBatch batch{3,
                       1,
                       block(ConstView(a.view()), 0, 0, 10, 8),
                       80,
                       block(ConstView(b.view()), 0, 0, 8, 6),
                       48,
                       0,
                       block(c.view(), 0, 0, 10, 6),
                       60};
    multiply_batch_on_device(batch, on_device(0), {});
    for (std::int64_t i = 0; i < 30; ++i) {
        ASSERT_EQ(c.get(i, 5), entry_of_product(a, b, i / 10 * 10, i / 10 * 8, 8, i % 10, 5)) << i;
    }
}

TEST(device_batch, products_of_16_bit_floats_may_end_in_f32) {
    HEPTAD_NEEDS_DEVICE();
    const std::int64_t m = 33, k = 130, n = 29;
    for (const Type type : {Type::bf16, Type::f16}) {
        for (const Layout layout : {Layout::rows, Layout::columns_padded, Layout::general}) {
            for (const double beta : {0.0, 0.5}) {
                std::mt19937 random(13);
                GuardedMatrix a(type, m, k, layout), b(type, k, n, layout), c(Type::f32, m, n, layout);
                for (GuardedMatrix* x : {&a, &b, &c}) {
                    x->fill_random(random, 2);
                }
                a.set(0, 0, 0.0078125);  // the sum needs more bits than the operands have
                GuardedMatrix expected = c;
                const cuda::Stream stream(0);
                DeviceMatrixCopy da(a, stream.handle()), db(b, stream.handle()), dc(c, stream.handle());
                ProductContext context;
                context.stream = stream.handle();
                multiply_on_device(1, da.view(), db.view(), beta, dc.view(), on_device(-1), context);
                dc.fetch();
                stream.synchronize();
                for (std::int64_t i = 0; i < m; ++i) {
                    for (std::int64_t j = 0; j < n; ++j) {
                        expected.set(i, j, entry_of_product(a, b, 0, 0, k, i, j) + beta * expected.get(i, j));
                        ASSERT_EQ(c.get(i, j), expected.get(i, j)) << type_name(type) << " " << i << ", " << j;
                    }
                }
                EXPECT_TRUE(c.equals(expected)) << "guards";
            }
        }
    }
}

TEST(device_batch, complex_numbers_off_their_boundaries_are_refused) {
    HEPTAD_NEEDS_DEVICE();
    const cuda::Stream stream(0);
    const cuda::DeviceMemory memory(0, 4096, stream.handle());
    const auto at = [&](std::int64_t bytes) { return static_cast<std::byte*>(memory.data()) + bytes; };
    for (const Type type : {Type::c64, Type::c128}) {
        ProductBatch batch;
        batch.count = 2;
        batch.a = {at(0), type, 4, 4, 4, 1};
        batch.b = {at(1024), type, 4, 4, 4, 1};
        batch.c = {at(2048 + (type == Type::c64 ? 4 : 8)), type, 4, 4, 4, 1};
        batch.stride_a = batch.stride_b = batch.stride_c = 16;
        ProductContext context;
        context.stream = stream.handle();
        try {
            multiply_batch_on_device(batch, on_device(0), context);
            ADD_FAILURE() << type_name(type);
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find("boundary"), std::string::npos) << error.what();
        }
    }
}

}  // namespace
}  // namespace heptad::test
