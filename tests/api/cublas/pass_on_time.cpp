// What a call costs that is passed on: cublasSgemm_v2 through libheptad_cublas.so beside the same through the library's
// own pointer, in turns; the least of many rounds, in nanoseconds of the host.
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

int main() {
    constexpr int kRounds = 200, kCalls = 200;
    void* const library = dlopen("libcublas.so.13", RTLD_LAZY | RTLD_NOLOAD);
    const auto real =
        library != nullptr ? reinterpret_cast<decltype(&cublasSgemm_v2)>(dlsym(library, "cublasSgemm_v2")) : nullptr;
    cublasHandle_t handle = nullptr;
    float* data = nullptr;
    constexpr std::size_t kBytes = std::size_t{3} * 1024 * 1024 * sizeof(float);
    if (real == nullptr || cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS || cudaMalloc(&data, kBytes) != cudaSuccess ||
        cudaMemset(data, 0, kBytes) != cudaSuccess) {
        std::fprintf(stderr, "no cuBLAS 13 or no device\n");
        return 1;
    }
    const float one = 1, zero = 0;
    for (const int n : {16, 64, 256, 1023, 1024}) {
        std::array<double, 2> best{1e9, 1e9};
        for (int round = 0; round < kRounds; ++round) {
            for (const std::size_t ours : {std::size_t{0}, std::size_t{1}}) {
                const auto function = ours == 1 ? &cublasSgemm_v2 : real;
                const auto start = std::chrono::steady_clock::now();
                for (int i = 0; i < kCalls; ++i) {
                    function(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, data, n, data + n * n, n, &zero,
                             data + 2 * n * n, n);
                }
                const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
                best[ours] = std::min(best[ours], taken.count() / kCalls);
                cudaDeviceSynchronize();
            }
        }
        std::printf("n = %4d: cuBLAS %7.1f ns, passed on %7.1f ns, overhead %5.1f ns\n", n, best[0], best[1],
                    best[1] - best[0]);
    }
    return 0;
}
