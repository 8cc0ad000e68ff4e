// A product on an NVIDIA GPU, in the order of a stream, then the same again from a CUDA graph. Built where CUDA is.
#include <cuda_runtime.h>

#include <iostream>
#include <vector>

#include <heptad/cuda.hpp>

namespace {
void check(cudaError_t status) {
    if (status != cudaSuccess) {
        throw std::runtime_error(cudaGetErrorString(status));
    }
}
}  // namespace

int main() {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        std::cout << "skipped: this machine has no NVIDIA GPU\n";
        return 0;
    }
    const std::int64_t n = 2048;
    const std::size_t bytes = static_cast<std::size_t>(n * n) * sizeof(float);
    std::vector<float> ones(static_cast<std::size_t>(n * n), 1.0F), result(ones.size());
    float *a = nullptr, *c = nullptr;
    check(cudaMalloc(&a, bytes));
    check(cudaMalloc(&c, bytes));
    cudaStream_t stream = nullptr;
    check(cudaStreamCreate(&stream));
    check(cudaMemcpyAsync(a, ones.data(), bytes, cudaMemcpyHostToDevice, stream));

    using View = heptad::DeviceView<float>;
    const View left = View::row_major(a, n, n), product = View::row_major(c, n, n);
    heptad::multiply(1.0, left, left, 0.0, product, heptad::Options(), heptad::on_stream(stream));
    check(cudaMemcpyAsync(result.data(), c, bytes, cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
    std::cout << "on a stream: " << result[0] << ", expected " << n << '\n';

    // With a workspace of its own the product allocates nothing, so that the stream can be captured.
    const heptad::Plan plan = heptad::plan({n, n, n}, heptad::Type::f32, {.device = "cuda"});
    void* workspace = nullptr;
    check(cudaMalloc(&workspace, static_cast<std::size_t>(plan.workspace_bytes()) + 1));
    heptad::Context context = heptad::on_stream(stream);
    context.set_workspace(workspace, plan.workspace_bytes());
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t ready = nullptr;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    heptad::multiply(2.0, left, left, 0.0, product, plan, context);
    check(cudaStreamEndCapture(stream, &graph));
    check(cudaGraphInstantiateWithFlags(&ready, graph, 0));
    check(cudaGraphLaunch(ready, stream));
    check(cudaMemcpyAsync(result.data(), c, bytes, cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
    std::cout << "from a graph: " << result[0] << ", expected " << 2 * n << '\n';
    return result[0] == static_cast<float>(2 * n) ? 0 : 1;
}

// Output:
// on a stream: 2048, expected 2048
// from a graph: 4096, expected 4096
