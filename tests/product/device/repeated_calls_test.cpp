// Products that come again take the short way: the same results, and nothing else is taken for one of them.
#include "product/device/repeated_calls.hpp"

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <string>

#include "kernels/reference/reference_backend.hpp"
#include "product/device/device_matrix.hpp"
#include "product/device/device_product.hpp"

namespace heptad::test {
namespace {

struct RepeatedCalls : testing::Test {
    static constexpr std::int64_t m = 70, k = 40, n = 50;

    static Options by_cublas(const std::string& device) {
        Options options;
        options.device = device;
        options.levels = 0;
        options.leaf = "cublas";
        return options;
    }
    /// On a device, with what C must be.
    struct Matrices {
        GuardedMatrix a, b, c, expected;
        DeviceMatrixCopy on_a, on_b, on_c;
        Product product;

        Matrices(Type type, double beta, void* stream)
            : a(filled(type, m, k, 1)),
              b(filled(type, k, n, 2)),
              c(filled(type, m, n, 3)),
              expected(c),
              on_a(a, stream),
              on_b(b, stream),
              on_c(c, stream),
              product{1, on_a.view(), on_b.view(), beta, on_c.view()} {
            const Product on_host{1, a.view(), b.view(), beta, expected.view()};
            ReferenceBackend().multiply({&on_host, 1}, "");
        }
        static GuardedMatrix filled(Type type, std::int64_t rows, std::int64_t cols, unsigned seed) {
            std::mt19937 random(seed);
            GuardedMatrix matrix(type, rows, cols, Layout::rows);
            matrix.fill_random(random, 1);  // sums of bf16 are exact
            return matrix;
        }
    };
};

TEST_F(RepeatedCalls, are_right_whether_the_device_is_named_or_not) {
    HEPTAD_NEEDS_DEVICE();
    const cuda::Stream stream(0);
    ProductContext context;
    context.stream = stream.handle();
    for (const Type type : {Type::f32, Type::f64, Type::bf16, Type::f16}) {
        Matrices first(type, 0, stream.handle());
        multiply_on_device(first.product, by_cublas("cuda"), context);
        for (const char* const device : {"cuda", "cuda:0", "auto"}) {
            Matrices other(type, 0, stream.handle());
            EXPECT_TRUE(repeat_on_device(other.product, by_cublas(device), context)) << device;
            other.on_c.fetch();
            stream.synchronize();
            EXPECT_TRUE(other.c.equals(other.expected)) << type_name(type) << ' ' << device;
        }
    }
}

TEST_F(RepeatedCalls, what_differs_is_left_to_the_long_way_and_changes_nothing) {
    HEPTAD_NEEDS_DEVICE();
    const cuda::Stream stream(0);
    ProductContext context;
    context.stream = stream.handle();
    Matrices known(Type::f32, 1, stream.handle());
    const GuardedMatrix before = known.c;
    {
        Matrices other(Type::f32, 1, stream.handle());
        multiply_on_device(other.product, by_cublas("cuda"), context);
    }
    const auto is_repeat = [&](const Product& product, const Options& options, const ProductContext& where) {
        return repeat_on_device(product, options, where);
    };
    for (const char* const device : {"cpu", "cuda:1", "cuda:0,1", "reference"}) {
        EXPECT_FALSE(is_repeat(known.product, by_cublas(device), context)) << device;
    }
    Options strict = by_cublas("cuda");
    strict.accuracy = Accuracy::strict;
    EXPECT_FALSE(is_repeat(known.product, strict, context));
    Product changed = known.product;
    changed.beta = 0;
    EXPECT_FALSE(is_repeat(changed, by_cublas("cuda"), context)) << "C counts";
    for (const auto part : {&Product::a, &Product::b}) {
        Product mixed = known.product;
        (mixed.*part).data = (part == &Product::a ? known.a : known.b).view().data;
        EXPECT_FALSE(is_repeat(mixed, by_cublas("cuda"), context)) << "an operand on the host";
        EXPECT_THROW(multiply_on_device(mixed, by_cublas("cuda"), context), Error);
    }
    const Product on_host{1, known.a.view(), known.b.view(), 1, known.c.view()};
    EXPECT_FALSE(is_repeat(on_host, by_cublas("auto"), context));
    ProductContext told = context;
    told.hooks.progress = [](const Progress&) {};
    EXPECT_FALSE(is_repeat(known.product, by_cublas("cuda"), told));
    ProductContext lent = context;
    lent.workspace_bytes = 0;
    EXPECT_FALSE(is_repeat(known.product, by_cublas("cuda"), lent));
    ProductContext elsewhere = context;
    const cuda::Stream unknown(0);
    elsewhere.stream = unknown.handle();
    EXPECT_FALSE(is_repeat(known.product, by_cublas("cuda"), elsewhere)) << "a stream without a backend";
    const CancelToken token;
    token.cancel();
    ProductContext cancelled = context;
    cancelled.hooks.cancel = &token;
    EXPECT_FALSE(is_repeat(known.product, by_cublas("cuda"), cancelled));
    known.on_c.fetch();
    stream.synchronize();
    EXPECT_TRUE(known.c.equals_byte_for_byte(before));
    EXPECT_TRUE(is_repeat(known.product, by_cublas("cuda"), context)) << "and this is one";
}

TEST_F(RepeatedCalls, are_recorded_into_graphs) {
    HEPTAD_NEEDS_DEVICE();
    const cuda::Stream stream(0);
    auto* const handle = static_cast<cudaStream_t>(stream.handle());
    ProductContext context;
    context.stream = handle;
    Matrices matrices(Type::f64, 0, handle);
    multiply_on_device(matrices.product, by_cublas("cuda"), context);
    cuda::fill_bytes(matrices.on_c.view().data, 0xff, m * n * 8, handle);
    stream.synchronize();
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t ready = nullptr;
    ASSERT_EQ(cudaStreamBeginCapture(handle, cudaStreamCaptureModeGlobal), cudaSuccess);
    EXPECT_TRUE(repeat_on_device(matrices.product, by_cublas("cuda"), context));
    ASSERT_EQ(cudaStreamEndCapture(handle, &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&ready, graph, 0), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(ready, handle), cudaSuccess);
    matrices.on_c.fetch();
    stream.synchronize();
    EXPECT_TRUE(matrices.c.equals(matrices.expected));
    cudaGraphExecDestroy(ready);
    cudaGraphDestroy(graph);
}

}  // namespace
}  // namespace heptad::test
