// Products recorded into a CUDA graph: nothing is carried out while recording, and every replay is the product of what
// the operands hold then, non-finite input included.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "product/device/bit_cuda_product.hpp"
#include "product/device/device_bits.hpp"
#include "product/device/device_matrix.hpp"
#include "product/device/device_product.hpp"
#include "run/bits/bit_product.hpp"

namespace heptad::test {
namespace {

class Capture : public testing::TestWithParam<std::tuple<Type, int, const char*>> {};

TEST_P(Capture, replays_are_products_of_what_the_operands_hold_then) {
    HEPTAD_NEEDS_DEVICE();
    const auto [type, levels, mode] = GetParam();
    const std::int64_t n = 64;
    const int largest = type == Type::bf16 ? 1 : 2;  // sums must be exact
    std::mt19937 random(21);
    GuardedMatrix a(type, n, n, Layout::rows), b(type, n, n, Layout::rows), c(type, n, n, Layout::rows);
    for (GuardedMatrix* x : {&a, &b, &c}) {
        x->fill_random(random, largest);
    }
    const cuda::Stream stream(0);
    auto* const handle = static_cast<cudaStream_t>(stream.handle());
    DeviceMatrixCopy da(a, handle), db(b, handle), dc(c, handle);
    Options options;
    options.device = "cuda";
    options.levels = levels;
    options.algorithm = "winograd";
    options.mode = mode;
    options.accuracy = Accuracy::fast;
    ProductContext context;
    context.stream = handle;
    const ProductPlan plan = plan_device_product(n, n, n, type, options, context);
    const cuda::DeviceMemory workspace(0, std::max<std::int64_t>(plan.workspace_bytes, 256), handle);
    context.workspace = workspace.data();
    context.workspace_bytes = std::max<std::int64_t>(plan.workspace_bytes, 256);
    stream.synchronize();

    const GuardedMatrix untouched = c;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t ready = nullptr;
    ASSERT_EQ(cudaStreamBeginCapture(handle, cudaStreamCaptureModeGlobal), cudaSuccess);
    multiply_on_device(1, da.view(), db.view(), 0, dc.view(), options, context);
    ASSERT_EQ(cudaStreamEndCapture(handle, &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&ready, graph, 0), cudaSuccess);
    dc.fetch();
    stream.synchronize();
    EXPECT_TRUE(c.equals_byte_for_byte(untouched)) << "recording wrote to C";

    for (int replay = 0; replay < 3; ++replay) {
        a.fill_random(random, largest);
        const bool strange = replay == 2 && type != Type::i32;
        if (strange) {
            a.set(5, 6, std::numeric_limits<double>::infinity());
        }
        DeviceMatrixCopy fresh(a, handle);
        const auto bytes = a.bytes().size();
        ASSERT_EQ(cudaMemcpyAsync(da.view().data, fresh.view().data, bytes - 2 * 64 * element_bytes(type),
                                  cudaMemcpyDeviceToDevice, handle),
                  cudaSuccess);
        ASSERT_EQ(cudaGraphLaunch(ready, handle), cudaSuccess);
        dc.fetch();
        stream.synchronize();
        for (std::int64_t i = 0; i < n; ++i) {
            for (std::int64_t j = 0; j < n; ++j) {
                double sum = 0;
                for (std::int64_t q = 0; q < n; ++q) {
                    sum += a.get(i, q) * b.get(q, j);
                }
                const double got = c.get(i, j);
                ASSERT_TRUE(got == sum || (std::isnan(got) && std::isnan(sum)))
                    << "replay " << replay << " at " << i << ", " << j << ": " << got << " for " << sum;
            }
        }
    }
    cudaGraphExecDestroy(ready);
    cudaGraphDestroy(graph);
}

/// Products on more streams than are kept track of, while another one records: what is kept of the least recently used
/// streams goes, and nothing of that may wait for the device.
TEST(capture, products_on_many_other_streams_leave_a_recording_alone) {
    HEPTAD_NEEDS_DEVICE();
    constexpr std::int64_t n = 64, kStreams = 40;
    std::mt19937 random(22);
    GuardedMatrix a(Type::f32, n, n, Layout::rows), b(Type::f32, n, n, Layout::rows), c(Type::f32, n, n, Layout::rows);
    a.fill_random(random, 2);
    b.fill_random(random, 2);
    c.fill(0);
    std::vector<GuardedMatrix> results(kStreams, c);
    const cuda::Stream recording(0);
    std::vector<std::unique_ptr<cuda::Stream>> streams;
    std::vector<std::unique_ptr<DeviceMatrixCopy>> copies;
    auto* const handle = static_cast<cudaStream_t>(recording.handle());
    DeviceMatrixCopy da(a, handle), db(b, handle), dc(c, handle);
    for (GuardedMatrix& result : results) {
        streams.push_back(std::make_unique<cuda::Stream>(0));
        copies.push_back(std::make_unique<DeviceMatrixCopy>(result, streams.back()->handle()));
    }
    const auto options_with = [](int levels) {
        Options options;
        options.device = "cuda";
        options.levels = levels;
        options.accuracy = Accuracy::fast;
        return options;
    };
    constexpr std::int64_t kBytes = std::int64_t{64} << 20;
    const cuda::DeviceMemory workspace(0, kBytes, handle);
    ProductContext context;
    context.workspace = workspace.data();
    context.workspace_bytes = kBytes;
    context.stream = handle;
    recording.synchronize();
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t ready = nullptr;
    ASSERT_EQ(cudaStreamBeginCapture(handle, cudaStreamCaptureModeGlobal), cudaSuccess);
    multiply_on_device(1, da.view(), db.view(), 0, dc.view(), options_with(1), context);
    for (std::size_t i = 0; i < copies.size(); ++i) {
        ProductContext other;
        other.stream = streams[i]->handle();
        multiply_on_device(1, da.view(), db.view(), 0, copies[i]->view(), options_with(static_cast<int>(i % 2)), other);
    }
    multiply_on_device(1, da.view(), db.view(), 1, dc.view(), options_with(0), context);
    ASSERT_EQ(cudaStreamEndCapture(handle, &graph), cudaSuccess) << "the recording was broken";
    ASSERT_EQ(cudaGraphInstantiate(&ready, graph, 0), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(ready, handle), cudaSuccess);
    dc.fetch();
    recording.synchronize();
    for (std::size_t i = 0; i < copies.size(); ++i) {
        copies[i]->fetch();
        streams[i]->synchronize();
    }
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
            double sum = 0;
            for (std::int64_t q = 0; q < n; ++q) {
                sum += a.get(i, q) * b.get(q, j);
            }
            ASSERT_EQ(c.get(i, j), 2 * sum) << i << " " << j;
            for (const GuardedMatrix& result : results) {
                ASSERT_EQ(result.get(i, j), sum) << i << " " << j;
            }
        }
    }
    cudaGraphExecDestroy(ready);
    cudaGraphDestroy(graph);
}

INSTANTIATE_TEST_SUITE_P(device, Capture,
                         testing::Combine(testing::Values(Type::f32, Type::f64, Type::bf16, Type::i32),
                                          testing::Values(0, 1, 2), testing::Values("auto")));
// Without workspace of their own; one level alone, and one below another.
INSTANTIATE_TEST_SUITE_P(fused, Capture,
                         testing::Combine(testing::Values(Type::f32), testing::Values(1, 2), testing::Values("fused")));

class BitCapture : public testing::TestWithParam<std::tuple<Type, int>> {};

TEST_P(BitCapture, replays_are_products_of_what_the_operands_hold_then) {
    HEPTAD_NEEDS_DEVICE();
    const auto [algebra, levels] = GetParam();
    const std::int64_t m = 500, k = 700, n = 600;
    const double density = algebra == Type::gf2 ? 0.5 : 0.03;
    const cuda::Stream stream(0);
    auto* const handle = static_cast<cudaStream_t>(stream.handle());
    const DeviceBits a(m, k, 0, handle), b(k, n, 0, handle), c(m, n, 0, handle);
    const BitMatrix right = BitMatrix::random(k, n, 1, density), before = BitMatrix::random(m, n, 2);
    copy_bit_rows(right, b.view, handle);
    copy_bit_rows(before, c.view, handle);
    bits::BitOptions options;
    options.device = "cuda";
    options.levels = algebra == Type::gf2 ? levels : -1;
    constexpr std::int64_t kBytes = std::int64_t{16} << 20;
    const cuda::DeviceMemory workspace(0, kBytes, handle);
    ProductContext context;
    context.stream = handle;
    context.workspace = workspace.data();
    context.workspace_bytes = kBytes;
    stream.synchronize();

    cudaGraph_t graph = nullptr;
    cudaGraphExec_t ready = nullptr;
    ASSERT_EQ(cudaStreamBeginCapture(handle, cudaStreamCaptureModeGlobal), cudaSuccess);
    multiply_bits_on_cuda(algebra, a.view, b.view, c.view, false, options, context);
    ASSERT_EQ(cudaStreamEndCapture(handle, &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&ready, graph, 0), cudaSuccess);
    BitMatrix result(m, n);
    copy_bit_rows(c.view, result.view(), handle);
    stream.synchronize();
    EXPECT_TRUE(result == before) << "recording wrote to C";

    for (std::uint64_t replay = 0; replay < 2; ++replay) {
        const BitMatrix left = BitMatrix::random(m, k, 10 + replay, density);
        copy_bit_rows(left, a.view, handle);
        ASSERT_EQ(cudaGraphLaunch(ready, handle), cudaSuccess);
        copy_bit_rows(c.view, result.view(), handle);
        stream.synchronize();
        BitMatrix wanted(m, n);
        bits::multiply_bits(algebra, left, right, wanted.view(), false, {}, {});
        EXPECT_TRUE(result == wanted) << "replay " << replay;
    }
    cudaGraphExecDestroy(ready);
    cudaGraphDestroy(graph);
}

INSTANTIATE_TEST_SUITE_P(bits, BitCapture,
                         testing::Values(std::tuple{Type::gf2, 0}, std::tuple{Type::gf2, 2},
                                         std::tuple{Type::boolean, 0}));

}  // namespace
}  // namespace heptad::test
