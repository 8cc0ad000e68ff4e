// Packed bits on one NVIDIA device by the public interface: from host memory, ordinary and large enough to be locked,
// in windows at any bit; from the device's memory; closures; and through the pipelines, on one device and on one that
// poses as two.
#include "place/devices/bit_cuda_product.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "backend/cuda/device.hpp"
#include "bits/bit_graph.hpp"
#include "bits/bit_product.hpp"
#include "bits/bit_test_matrices.hpp"
#include "place/devices/cuda_device.hpp"
#include "place/devices/device_bits.hpp"
#include "place/devices/over_devices.hpp"

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
                    const HostPlan plan = make_bit_plan_over_devices(algebra, size, accumulate, options, {});
                    EXPECT_EQ(plan.in_place, levels == 0 && !accumulate && size.m == 1024) << to_string(plan);
                    for (const int devices : {1, 2}) {
                        DeviceSet set;
                        for (int i = 0; i < devices; ++i) {
                            set.push_back(std::make_unique<CudaDevice>(0));
                        }
                        BitMatrix c = c0;
                        run_host_plan(plan, set, a, b, c.view(), accumulate, options, {});
                        EXPECT_TRUE(c == wanted) << to_string(plan) << " on " << devices;
                    }
                }
            }
        }
    }
}

}  // namespace
}  // namespace heptad::test
