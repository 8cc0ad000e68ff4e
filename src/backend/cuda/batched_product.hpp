// A strided batch through cuBLASLt, by the kernel that the library takes for one of its products alone. The library's
// own choice for a batch of large products is up to a fifth slower than for one of them (tf32 and f64 on Hopper).
#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <map>
#include <tuple>

namespace heptad::cuda {

/// As cuBLAS sees it: by columns, C = op(A) op(B).
struct StridedBatch {
    cublasOperation_t op_a = CUBLAS_OP_N, op_b = CUBLAS_OP_N;
    std::int64_t m = 0, n = 0, k = 0;
    const void* a = nullptr;
    std::int64_t lda = 0, distance_a = 0;
    const void* b = nullptr;
    std::int64_t ldb = 0, distance_b = 0;
    void* c = nullptr;
    std::int64_t ldc = 0, distance_c = 0;
    std::int64_t count = 0;
    cudaDataType_t data = CUDA_R_32F, result = CUDA_R_32F;  // of A and B, of C
    cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
    cudaDataType_t scale = CUDA_R_32F;
    const void* alpha = nullptr;
    const void* beta = nullptr;
};

class BatchedProducts {
public:
    BatchedProducts();
    ~BatchedProducts();
    BatchedProducts(const BatchedProducts&) = delete;
    BatchedProducts& operator=(const BatchedProducts&) = delete;

    /// False: cuBLASLt is not there or has no such kernel, and nothing was enqueued.
    bool multiply(const StridedBatch& batch, void* workspace, std::int64_t workspace_bytes, cudaStream_t stream);

private:
    struct Choice {
        bool usable = false;
        cublasLtMatmulAlgo_t algorithm{};
        std::size_t workspace_bytes = 0;
    };
    struct Descriptors;
    const Choice& choice(const StridedBatch& batch, std::int64_t workspace_bytes);

    cublasLtHandle_t handle_ = nullptr;
    using Key = std::tuple<int, int, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                           std::int64_t, int, int, int, std::int64_t>;
    std::map<Key, Choice> choices_;
};

}  // namespace heptad::cuda
