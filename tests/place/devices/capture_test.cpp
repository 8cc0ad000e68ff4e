// Products recorded into a CUDA graph: nothing is carried out while recording, and every replay is the product of what
// the operands hold then, non-finite input included.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "place/devices/device_matrix.hpp"
#include "place/devices/device_product.hpp"

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

INSTANTIATE_TEST_SUITE_P(device, Capture,
                         testing::Combine(testing::Values(Type::f32, Type::f64, Type::bf16, Type::i32),
                                          testing::Values(0, 1, 2), testing::Values("auto")));
// Without workspace of their own; one level alone, and one below another.
INSTANTIATE_TEST_SUITE_P(fused, Capture,
                         testing::Combine(testing::Values(Type::f32), testing::Values(1, 2), testing::Values("fused")));

}  // namespace
}  // namespace heptad::test
