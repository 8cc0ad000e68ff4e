// What a small product on a device costs over cuBLAS: heptad::multiply beside the call of cublasGemmEx_64 that it ends
// in, with a handle that is set up alike, in turns; the least of many rounds, in nanoseconds of the host. Then what
// CUDA takes for the questions that stand around that call.
#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_runtime.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

#include <heptad/cuda.hpp>

namespace {

using Call = std::function<void()>;
constexpr int kRounds = 200, kCalls = 200;

/// Nanoseconds of each, the least of rounds in which each has its turn.
std::vector<double> in_turns(const std::vector<Call>& calls) {
    std::vector<double> best(calls.size(), 1e9);
    for (int round = 0; round < kRounds; ++round) {
        for (std::size_t i = 0; i < calls.size(); ++i) {
            const auto start = std::chrono::steady_clock::now();
            for (int turn = 0; turn < kCalls; ++turn) {
                calls[i]();
            }
            const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
            best[i] = std::min(best[i], taken.count() / kCalls);
            cudaDeviceSynchronize();
        }
    }
    return best;
}

void compare_products(cublasHandle_t handle, cudaStream_t stream, float* data) {
    const heptad::Context context = heptad::on_stream(stream);
    heptad::Options left_open, named;
    named.device = "cuda:0";
    const float one = 1, zero = 0;
    for (const int n : {16, 64, 256, 512, 1024}) {
        const std::int64_t square = std::int64_t{n} * n;
        float *const a = data, *const b = data + square, *const c = data + 2 * square;
        using View = heptad::DeviceView<float>;
        const auto ours = [&](const heptad::Options& options) {
            return [&] {
                heptad::multiply(1.0, View::column_major(a, n, n), View::column_major(b, n, n), 0.0,
                                 View::column_major(c, n, n), options, context);
            };
        };
        const std::vector<double> ns = in_turns(
            {[&] {
                 cublasGemmEx_64(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, CUDA_R_32F, n, b, CUDA_R_32F, n,
                                 &zero, c, CUDA_R_32F, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
             },
             ours(named), ours(left_open)});
        std::printf("n = %4d: cuBLAS %7.1f ns; heptad::multiply on cuda:0 %7.1f (%+6.1f), left open %7.1f (%+6.1f)\n",
                    n, ns[0], ns[1], ns[1] - ns[0], ns[2], ns[2] - ns[0]);
    }
}

void time_questions(cudaStream_t stream, float* data) {
    struct Question {
        const char* name;
        Call ask;
    };
    const auto pointer = reinterpret_cast<CUdeviceptr>(data);
    unsigned kind = 0;
    int ordinal = 0;
    CUdeviceptr start = 0;
    std::size_t size = 0;
    std::array<CUpointer_attribute, 4> attributes{CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                                  CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                                  CU_POINTER_ATTRIBUTE_RANGE_SIZE};
    std::array<void*, 4> values{&kind, &ordinal, &start, &size};
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult found{};
    cudaGetDriverEntryPointByVersion("cuPointerGetAttributes", &entry, 12000, cudaEnableDefault, &found);
    const auto attributes_of = reinterpret_cast<decltype(&cuPointerGetAttributes)>(entry);
    const std::vector<Question> questions{
        {"cudaPointerGetAttributes",
         [&] {
             cudaPointerAttributes all{};
             cudaPointerGetAttributes(&all, data);
         }},
        {"cuPointerGetAttributes of 2", [&] { attributes_of(2, attributes.data(), values.data(), pointer); }},
        {"cuPointerGetAttributes of 4", [&] { attributes_of(4, attributes.data(), values.data(), pointer); }},
        {"cudaThreadExchangeStreamCaptureMode",
         [] {
             auto mode = cudaStreamCaptureModeGlobal;
             cudaThreadExchangeStreamCaptureMode(&mode);
         }},
        {"cudaGetDevice", [&] { cudaGetDevice(&ordinal); }},
        {"cudaStreamIsCapturing", [&] {
             cudaStreamCaptureStatus status{};
             cudaStreamIsCapturing(stream, &status);
         }}};
    std::vector<Call> calls;
    for (const Question& question : questions) {
        calls.push_back(question.ask);
    }
    const std::vector<double> ns = in_turns(calls);
    for (std::size_t i = 0; i < ns.size(); ++i) {
        std::printf("%-36s %6.1f ns\n", questions[i].name, ns[i]);
    }
}

}  // namespace

int main() {
    cublasHandle_t handle = nullptr;
    cudaStream_t stream = nullptr;
    float* data = nullptr;
    void* workspace = nullptr;
    constexpr std::size_t kBytes = std::size_t{3} * 1024 * 1024 * sizeof(float),
                          kWorkspaceBytes = std::size_t{32} << 20;
    if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS || cudaStreamCreate(&stream) != cudaSuccess ||
        cudaMalloc(&data, kBytes) != cudaSuccess || cudaMalloc(&workspace, kWorkspaceBytes) != cudaSuccess ||
        cudaMemset(data, 0, kBytes) != cudaSuccess) {
        std::fprintf(stderr, "no cuBLAS or no device\n");
        return 1;
    }
    cublasSetStream(handle, stream);
    cublasSetWorkspace(handle, workspace, kWorkspaceBytes);
    cublasSetMathMode(handle, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
    compare_products(handle, stream, data);
    time_questions(stream, data);
    return 0;
}
