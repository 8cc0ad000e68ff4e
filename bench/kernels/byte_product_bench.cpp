// Products of bytes with their remainders against cuBLAS's int8 products with 32-bit results, batches of 7 and 14
// leaves on a device, in turns. Fails where a remainder is not that of cuBLAS's sum.
//   byte_product_bench [n ...]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <vector>

#include <cublas_v2.h>

#include "base/moduli.hpp"
#include "device_turns.hpp"
#include "kernels/cuda/residue/residue_launches.hpp"

namespace heptad {
namespace {

std::vector<std::int8_t> random_bytes(std::int64_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_int_distribution<int> bytes(-127, 127);
    std::vector<std::int8_t> all(static_cast<std::size_t>(count));
    std::generate(all.begin(), all.end(), [&] { return static_cast<std::int8_t>(bytes(random)); });
    return all;
}

bool compare(std::int64_t n, int batch) {
    const cuda::Stream stream(0);
    const std::int64_t plane = n * n, bytes = batch * plane;
    const cuda::DeviceMemory a(0, bytes, stream.handle()), b(0, bytes, stream.handle()), c(0, bytes, stream.handle()),
        sums(0, 4 * bytes, stream.handle());
    for (const auto* const memory : {&a, &b}) {
        const std::vector<std::int8_t> host = random_bytes(plane, memory == &a ? 1 : 2);
        for (int t = 0; t < batch; ++t) {
            cuda::copy_rows(host.data(), plane, static_cast<std::int8_t*>(memory->data()) + t * plane, plane, plane, 1,
                            stream.handle());
        }
        stream.synchronize();
    }
    cublasHandle_t cublas = nullptr;
    bool is_right = cublasCreate(&cublas) == CUBLAS_STATUS_SUCCESS &&
                    cublasSetStream(cublas, static_cast<cudaStream_t>(stream.handle())) == CUBLAS_STATUS_SUCCESS;
    const auto planes = [&](const cuda::DeviceMemory& memory) {
        return cuda::BytePlanes{static_cast<std::uint8_t*>(memory.data()), n, n, plane};
    };
    cuda::ResidueMultiply ours{planes(a), planes(b), planes(c), {}};
    ours.choice.usual = ours.choice.most = batch;
    const int one = 1, zero = 0, side = static_cast<int>(n);
    // cuBLAS counts by columns: its C' = B A' has the rows of ours side by side.
    const std::function<void()> ways[] = {
        [&] {
            is_right &= cublasGemmStridedBatchedEx(cublas, CUBLAS_OP_T, CUBLAS_OP_N, side, side, side, &one, b.data(),
                                                   CUDA_R_8I, side, plane, a.data(), CUDA_R_8I, side, plane, &zero,
                                                   sums.data(), CUDA_R_32I, side, plane, batch, CUBLAS_COMPUTE_32I,
                                                   CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS;
        },
        [&] { is_right &= cuda::launch_residue_multiply_mma(ours, stream.handle()) == 0; },
        [&] { is_right &= cuda::launch_residue_multiply(ours, stream.handle()) == 0; }};
    const std::vector<double> seconds = timed_in_turns(stream, ways, 9);
    for (int t = 0; t < batch; ++t) {
        const std::int64_t at = t * plane + (n - 1 - t) * n;  // a row of each
        std::vector<std::int32_t> of_cublas(static_cast<std::size_t>(n));
        std::vector<std::uint8_t> of_ours(of_cublas.size());
        cuda::copy_rows(static_cast<std::int32_t*>(sums.data()) + at, 4 * n, of_cublas.data(), 4 * n, 4 * n, 1,
                        stream.handle());
        cuda::copy_rows(static_cast<std::uint8_t*>(c.data()) + at, n, of_ours.data(), n, n, 1, stream.handle());
        stream.synchronize();
        for (std::size_t j = 0; j < of_ours.size(); ++j) {
            is_right &= (of_cublas[j] - of_ours[j]) % kModuli[static_cast<std::size_t>(t)] == 0;
        }
    }
    cublasDestroy(cublas);
    const double vendor = seconds[0], of_all_chips = seconds[1], mine = seconds[2];
    const double operations = 2.0 * batch * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
    std::printf(
        "n = %5lld, %2d leaves: cublas %8.1f us (%.0f Top/s), heptad-int8 %8.1f us (%.0f Top/s), ratio %.3f, "
        "by warp products (sm_80) %8.1f us%s\n",
        static_cast<long long>(n), batch, vendor * 1e6, operations / vendor * 1e-12, mine * 1e6,
        operations / mine * 1e-12, vendor / mine, of_all_chips * 1e6, is_right ? "" : " WRONG");
    std::fflush(stdout);
    return is_right;
}

}  // namespace
}  // namespace heptad

int main(int argc, char** argv) {
    std::vector<std::int64_t> sizes;
    for (int i = 1; i < argc; ++i) {
        sizes.push_back(std::atoll(argv[i]));
    }
    if (sizes.empty()) {
        sizes = {2048, 4096, 8192};
    }
    bool all_right = true;
    for (const std::int64_t n : sizes) {
        for (const int batch : {7, 14}) {
            all_right = heptad::compare(n, batch) && all_right;
        }
    }
    return all_right ? 0 : 1;
}
