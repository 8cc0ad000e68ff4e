// Packed bits on one NVIDIA device by the public interface: from host memory, ordinary and large enough to be locked,
// in windows at any bit; from the device's memory; closures; and through the pipelines, on one device and on one that
// poses as two.
#include "product/device/bit_cuda_product.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/bits/bit_test_matrices.hpp"
#include "kernels/cuda/device/device.hpp"
#include "product/device/bit_device_product.hpp"
#include "product/device/bit_host_operands.hpp"
#include "product/device/cuda_device.hpp"
#include "product/device/device_bits.hpp"
#include "product/device/over_devices.hpp"
#include "run/bits/bit_graph.hpp"
#include "run/bits/bit_product.hpp"

namespace heptad::test {
namespace {

class BitCudaProduct : public ::testing::Test {
protected:
    void SetUp() override {
        if (!cuda::report().available) {
            GTEST_SKIP() << cuda::report().problem;
        }
        options_.device = "cuda";
    }
    bits::BitOptions options_;
};

BitMatrix by_processor(Type algebra, const ConstBitView& a, const ConstBitView& b, const BitMatrix& c0,
                       bool accumulate) {
    BitMatrix c = c0;
    bits::multiply_bits(algebra, a, b, c.view(), accumulate, {}, {1});
    return c;
}

TEST_F(BitCudaProduct, windows_at_any_bit_equal_the_definition_and_nothing_beside_them_is_written) {
    std::mt19937_64 random(21);
    for (int repeat = 0; repeat < 40; ++repeat) {
        const auto side = [&] { return static_cast<std::int64_t>(1 + random() % 300); };
        const std::int64_t m = side(), k = side(), n = side();
        const Type algebra = repeat % 2 == 0 ? Type::gf2 : Type::boolean;
        const double density = algebra == Type::gf2 ? 0.5 : 0.06;
        const BitWindow a(m, k, random, density), b(k, n, random, density), c(m, n, random);
        const bool accumulate = repeat % 3 == 0;
        const BitMatrix wanted = by_processor(algebra, a.view(), b.view(), BitMatrix::copy_of(c.view()), accumulate);
        multiply_bits_on_cuda(algebra, a.view(), b.view(), c.view(), accumulate, options_, {});
        EXPECT_TRUE(ConstBitView(c.view()) == wanted.view()) << m << " " << k << " " << n;
        EXPECT_TRUE(c.outside_untouched() && a.outside_untouched() && b.outside_untouched());
    }
}

TEST_F(BitCudaProduct, matrices_on_locked_pages_and_with_serial_levels_equal_the_processor) {
    // 8 MiB each: their pages are locked, and with serial levels they move in pieces.
    const std::int64_t n = 8192;
    const BitMatrix a = BitMatrix::random(n, n - 40, 1), b = BitMatrix::random(n - 40, n - 3, 2);
    for (const auto& [algebra, levels] : {std::pair{Type::gf2, 0}, {Type::gf2, 3}, {Type::boolean, 0}}) {
        BitMatrix c = BitMatrix::random(n, n - 3, 3);
        const BitMatrix wanted = by_processor(algebra, a, b, c, true);
        options_.levels = algebra == Type::gf2 ? levels : -1;
        multiply_bits_on_cuda(algebra, a, b, c.view(), true, options_, {});
        EXPECT_TRUE(c == wanted) << type_name(algebra) << " " << levels;
    }
    const BitMatrix square = BitMatrix::random(n, n, 4);
    BitMatrix c(n, n);
    options_.levels = -1;
    multiply_bits_on_cuda(Type::gf2, square, square, c.view(), false, options_, {});
    EXPECT_TRUE(c == by_processor(Type::gf2, square, square, BitMatrix(n, n), false));
}

TEST_F(BitCudaProduct, matrices_on_the_device_are_multiplied_there_and_mixed_ones_refused) {
    const cuda::Stream stream(0);
    const BitMatrix a = BitMatrix::random(300, 500, 1), b = BitMatrix::random(500, 700, 2);
    const DeviceBits there_a(300, 500, 0, stream.handle()), there_b(500, 700, 0, stream.handle()),
        there_c(300, 700, 0, stream.handle());
    copy_bit_rows(a, there_a.view, stream.handle());
    copy_bit_rows(b, there_b.view, stream.handle());
    ProductContext context;
    context.stream = stream.handle();
    multiply_bits_on_cuda(Type::gf2, there_a.view, there_b.view, there_c.view, false, options_, context);
    BitMatrix c(300, 700);
    copy_bit_rows(there_c.view, c.view(), stream.handle());
    stream.synchronize();
    EXPECT_TRUE(c == by_processor(Type::gf2, a, b, BitMatrix(300, 700), false));
    EXPECT_THROW(multiply_bits_on_cuda(Type::gf2, a, there_b.view, there_c.view, false, options_, context), Error);
    EXPECT_THROW(multiply_bits_on_cuda(Type::gf2, a, b, c.view(), false, options_, context), Error);  // a stream
}

TEST_F(BitCudaProduct, workspace_of_the_context_is_used_and_not_gone_beyond) {
    const cuda::Stream stream(0);
    const std::int64_t n = 4096;
    const BitMatrix a = BitMatrix::random(n, n, 1), b = BitMatrix::random(n, n, 2);
    const DeviceBits there_a(n, n, 0, stream.handle()), there_b(n, n, 0, stream.handle()),
        there_c(n, n, 0, stream.handle());
    copy_bit_rows(a, there_a.view, stream.handle());
    copy_bit_rows(b, there_b.view, stream.handle());
    options_.levels = 1;
    const std::int64_t bytes = std::int64_t{64} << 20;
    const cuda::DeviceMemory memory(0, bytes, stream.handle());
    ProductContext context;
    context.stream = stream.handle();
    context.workspace = memory.data();
    context.workspace_bytes = bytes;
    multiply_bits_on_cuda(Type::gf2, there_a.view, there_b.view, there_c.view, false, options_, context);
    BitMatrix c(n, n);
    copy_bit_rows(there_c.view, c.view(), stream.handle());
    stream.synchronize();
    EXPECT_TRUE(c == by_processor(Type::gf2, a, b, BitMatrix(n, n), false));
    context.workspace_bytes = 16;  // a level needs sums of blocks
    EXPECT_THROW(multiply_bits_on_cuda(Type::gf2, there_a.view, there_b.view, there_c.view, false, options_, context),
                 Error);
    context.workspace = c.view().words;  // in host memory
    context.workspace_bytes = 8 * n * c.stride();
    EXPECT_THROW(multiply_bits_on_cuda(Type::gf2, there_a.view, there_b.view, there_c.view, false, options_, context),
                 Error);
    options_.levels = -1;
    for (const DeviceBits* taken : {&there_a, &there_b, &there_c}) {  // memory that is a matrix's
        context.workspace = taken->view.words;
        context.workspace_bytes = DeviceBits::bytes(n, n);
        EXPECT_THROW(
            multiply_bits_on_cuda(Type::gf2, there_a.view, there_b.view, there_c.view, false, options_, context),
            Error);
    }
}

TEST_F(BitCudaProduct, bits_beyond_the_last_column_of_a_c_on_the_device_are_kept) {
    const cuda::Stream stream(0);
    const std::int64_t m = 90, k = 300, whole = 200, n = 100;  // C: the first half of the columns
    for (const auto& [algebra, levels] : {std::pair{Type::gf2, 0}, {Type::gf2, 1}, {Type::boolean, 0}}) {
        const BitMatrix a = BitMatrix::random(m, k, 1, 0.06), b = BitMatrix::random(k, n, 2, 0.06);
        const BitMatrix before = BitMatrix::random(m, whole, 3);
        const DeviceBits there_a(m, k, 0, stream.handle()), there_b(k, n, 0, stream.handle()),
            there(m, whole, 0, stream.handle());
        copy_bit_rows(a, there_a.view, stream.handle());
        copy_bit_rows(b, there_b.view, stream.handle());
        copy_bit_rows(before, there.view, stream.handle());
        options_.levels = algebra == Type::gf2 ? levels : -1;
        ProductContext context;
        context.stream = stream.handle();
        multiply_bits_on_cuda(algebra, there_a.view, there_b.view, there.view.block(0, 0, m, n), false, options_,
                              context);
        BitMatrix after(m, whole);
        copy_bit_rows(there.view, after.view(), stream.handle());
        stream.synchronize();
        const BitMatrix product = by_processor(algebra, a, b, BitMatrix(m, n), false);
        EXPECT_TRUE(std::as_const(after).view().block(0, 0, m, n) == product.view()) << type_name(algebra) << levels;
        EXPECT_TRUE(std::as_const(after).view().block(0, n, m, whole - n) == before.view().block(0, n, m, whole - n))
            << type_name(algebra) << " " << levels;
    }
}

TEST_F(BitCudaProduct, an_empty_c_is_nothing_to_do_wherever_the_matrices_lie) {
    const cuda::Stream stream(0);
    const DeviceBits there(64, 128, 0, stream.handle());
    ProductContext context;
    context.stream = stream.handle();
    context.workspace_bytes = 0;
    const BitView b_without_columns{there.view.words, 128, 0, 2, 0}, nothing{there.view.words, 64, 0, 2, 0};
    EXPECT_NO_THROW(multiply_bits_on_cuda(Type::gf2, there.view, b_without_columns, nothing, false, options_, context));
    const ConstBitView shifted{there.view.words, 63, 100, 2, 5};  // must not be read by the processor
    EXPECT_NO_THROW(multiply_bits_on_cuda(Type::gf2, shifted, {there.view.words, 100, 0, 2, 0},
                                          {there.view.words, 63, 0, 2, 0}, false, options_, {}));
}

TEST_F(BitCudaProduct, a_set_token_ends_a_product_before_it_begins_wherever_the_matrices_lie) {
    const BitMatrix a = BitMatrix::random(100, 100, 1);
    BitMatrix c = a;
    CancelToken token;
    token.cancel();
    ProductContext context;
    context.hooks.cancel = &token;
    const auto code_of = [&](const ConstBitView& x, const BitView& to) {
        try {
            multiply_bits_on_cuda(Type::gf2, x, x, to, false, options_, context);
        } catch (const Error& error) {
            return error.code();
        }
        return ErrorCode::internal;
    };
    EXPECT_EQ(code_of(a, c.view()), ErrorCode::cancelled);
    EXPECT_TRUE(c == a);
    const cuda::Stream stream(0);
    const DeviceBits there(100, 100, 0, stream.handle()), result(100, 100, 0, stream.handle());
    context.stream = stream.handle();
    EXPECT_EQ(code_of(there.view, result.view), ErrorCode::cancelled);
}

TEST_F(BitCudaProduct, progress_grows_to_one_and_a_product_from_host_memory_can_be_cancelled_on_its_way) {
    const std::int64_t n = 2048;
    const BitMatrix a = BitMatrix::random(n, n, 1), b = BitMatrix::random(n, n, 2);
    BitDeviceOptions constraints;
    constraints.levels = constraints.serial_levels = 1;  // seven products, one after another
    const ProductPlan plan =
        plan_bit_device_product({cuda::BitOperation::parity, {n, n, n}, true}, constraints, bit_device_facts(0));
    std::vector<double> told;
    RunHooks hooks;
    hooks.progress = [&](const Progress& progress) { told.push_back(progress.fraction); };
    BitMatrix c(n, n);
    multiply_host_bits_on_device(plan, a, b, c.view(), false, 0, hooks);
    EXPECT_TRUE(c == by_processor(Type::gf2, a, b, BitMatrix(n, n), false));
    ASSERT_EQ(told.size(), 8U);
    EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
    EXPECT_EQ(told.back(), 1);

    CancelToken token;
    hooks.cancel = &token;
    hooks.progress = [&](const Progress& progress) {
        told.push_back(progress.fraction);
        token.cancel();
    };
    told.clear();
    try {
        multiply_host_bits_on_device(plan, a, b, c.view(), false, 0, hooks);
        ADD_FAILURE() << "the product went on to its end";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::cancelled);
    }
    EXPECT_EQ(told.size(), 1U);
    multiply_host_bits_on_device(plan, a, b, c.view(), false, 0);  // the device is as usable as before
    EXPECT_TRUE(c == by_processor(Type::gf2, a, b, BitMatrix(n, n), false));
}

TEST_F(BitCudaProduct, an_unaligned_a_on_the_device_fits_the_workspace_that_the_plan_tells) {
    const cuda::Stream stream(0);
    const std::int64_t m = 700, k = 4000, n = 800;
    for (const Type algebra : {Type::gf2, Type::boolean}) {
        const BitMatrix a = BitMatrix::random(m, k, 1, 0.03), b = BitMatrix::random(k, n, 2, 0.03);
        const DeviceBits wide(m, k + 64, 0, stream.handle()), there_b(k, n, 0, stream.handle()),
            there_c(m, n, 0, stream.handle());
        const BitView odd{wide.view.words + 1, m, k, wide.view.stride, 0};  // 8 bytes off
        copy_bit_rows(a, odd, stream.handle());
        copy_bit_rows(b, there_b.view, stream.handle());
        const std::int64_t told = plan_bit_device_product({bit_operation(algebra), {m, k, n}},
                                                          bit_device_options(options_, 1 << 30), bit_device_facts(0))
                                      .workspace_bytes;
        const cuda::DeviceMemory memory(0, told, stream.handle());
        ProductContext context;
        context.stream = stream.handle();
        context.workspace = memory.data();
        context.workspace_bytes = told;
        multiply_bits_on_cuda(algebra, odd, there_b.view, there_c.view, false, options_, context);
        BitMatrix c(m, n);
        copy_bit_rows(there_c.view, c.view(), stream.handle());
        stream.synchronize();
        EXPECT_TRUE(c == by_processor(algebra, a, b, BitMatrix(m, n), false)) << type_name(algebra);
    }
}

TEST_F(BitCudaProduct, closures_equal_the_processors) {
    for (const std::int64_t n : {1, 65, 1000, 5000}) {
        const BitMatrix graph = BitMatrix::random(n, n, 5, std::min(1.0, 1.5 / static_cast<double>(n)));
        BitMatrix wanted = graph;
        bits::close_transitively(wanted.view(), {2});
        EXPECT_TRUE(close_on_cuda(graph, options_, {}) == wanted) << n;
    }
    EXPECT_THROW(close_on_cuda(BitMatrix(3, 4), options_, {}), Error);
    const cuda::Stream stream(0);
    const DeviceBits there(100, 100, 0, stream.handle());
    EXPECT_THROW(close_on_cuda(there.view, options_, {}), Error);
}

TEST_F(BitCudaProduct, pipelines_on_one_device_and_on_one_that_poses_as_two_equal_the_processor) {
    for (const Type algebra : {Type::gf2, Type::boolean}) {
        for (const ProblemSize& size : {ProblemSize{1024, 2048, 1024}, ProblemSize{1000, 1500, 777}}) {
            const double density = algebra == Type::gf2 ? 0.5 : 0.02;
            const BitMatrix a = BitMatrix::random(size.m, size.k, 1, density),
                            b = BitMatrix::random(size.k, size.n, 2, density);
            const BitMatrix c0 = BitMatrix::random(size.m, size.n, 3);
            for (const int levels : {0, 1, 2}) {
                if (algebra == Type::boolean && levels > 0) {
                    continue;
                }
                for (const bool accumulate : {false, true}) {
                    const BitMatrix wanted = by_processor(algebra, a, b, c0, accumulate);
                    bits::BitOptions options = options_;
                    options.host.levels = levels;
                    options.host.device_memory_bytes = std::int64_t{1} << 20;
                    options.host.pipelines = 2;
                    const ProductPlan plan = make_bit_plan_over_devices(algebra, size, accumulate, options, {}).plan;
                    EXPECT_EQ(plan.host->in_place, levels == 0 && !accumulate && size.m == 1024) << to_string(plan);
                    for (const int devices : {1, 2}) {
                        DeviceSet set;
                        for (int i = 0; i < devices; ++i) {
                            set.push_back(std::make_unique<CudaDevice>(0));
                        }
                        BitMatrix c = c0;
                        run_host_plan(plan, set, a, b, c.view(), accumulate, {});
                        EXPECT_TRUE(c == wanted) << to_string(plan) << " on " << devices;
                    }
                }
            }
        }
    }
}

}  // namespace
}  // namespace heptad::test
