#include "backend/cuda/batched_product.hpp"

#include "backend/cuda/cublaslt_library.hpp"
#include "backend/cuda/status.hpp"

namespace heptad::cuda {

/// What cuBLASLt wants to know of a batch, given back at the end of the scope.
struct BatchedProducts::Descriptors {
    const CublasLtLibrary& library = cublaslt_library();
    cublasLtMatmulDesc_t product = nullptr;
    cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;

    Descriptors(const StridedBatch& batch, std::int64_t count) {
        check(library.desc_create(&product, batch.compute, batch.scale), "describe a product");
        library.desc_set(product, CUBLASLT_MATMUL_DESC_TRANSA, &batch.op_a, sizeof(batch.op_a));
        library.desc_set(product, CUBLASLT_MATMUL_DESC_TRANSB, &batch.op_b, sizeof(batch.op_b));
        const auto layout = [&](cublasLtMatrixLayout_t& made, bool transposed, std::int64_t rows, std::int64_t cols,
                                std::int64_t leading, std::int64_t distance, cudaDataType_t data) {
            check(library.layout_create(&made, data, static_cast<std::uint64_t>(transposed ? cols : rows),
                                        static_cast<std::uint64_t>(transposed ? rows : cols), leading),
                  "describe a matrix");
            const auto many = static_cast<std::int32_t>(count);
            library.layout_set(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &many, sizeof(many));
            library.layout_set(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &distance, sizeof(distance));
        };
        layout(a, batch.op_a != CUBLAS_OP_N, batch.m, batch.k, batch.lda, batch.distance_a, batch.data);
        layout(b, batch.op_b != CUBLAS_OP_N, batch.k, batch.n, batch.ldb, batch.distance_b, batch.data);
        layout(c, false, batch.m, batch.n, batch.ldc, batch.distance_c, batch.result);
    }
    ~Descriptors() {
        for (cublasLtMatrixLayout_t layout : {a, b, c}) {
            if (layout != nullptr) {
                library.layout_destroy(layout);
            }
        }
        if (product != nullptr) {
            library.desc_destroy(product);
        }
    }
    Descriptors(const Descriptors&) = delete;
    Descriptors& operator=(const Descriptors&) = delete;
};

BatchedProducts::BatchedProducts() {
    if (cublaslt_library().found && cublaslt_library().create(&handle_) != CUBLAS_STATUS_SUCCESS) {
        handle_ = nullptr;
    }
}

BatchedProducts::~BatchedProducts() {
    if (handle_ != nullptr) {
        cublaslt_library().destroy(handle_);
    }
}

const BatchedProducts::Choice& BatchedProducts::choice(const StridedBatch& batch, std::int64_t workspace_bytes) {
    const Key key{batch.op_a, batch.op_b,  batch.m,    batch.n,      batch.k,       batch.lda,      batch.ldb,
                  batch.ldc,  batch.count, batch.data, batch.result, batch.compute, workspace_bytes};
    const auto [found, added] = choices_.try_emplace(key);
    Choice& choice = found->second;
    if (!added) {
        return choice;
    }
    const CublasLtLibrary& library = cublaslt_library();
    cublasLtMatmulPreference_t preference = nullptr;
    check(library.preference_create(&preference), "describe its workspace");
    const auto limit = static_cast<std::uint64_t>(workspace_bytes);
    library.preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &limit, sizeof(limit));
    const Descriptors alone(batch, 1), many(batch, batch.count);
    cublasLtMatmulHeuristicResult_t result{};
    int results = 0;
    const cublasStatus_t status =
        library.heuristic(handle_, alone.product, alone.a, alone.b, alone.c, alone.c, preference, 1, &result, &results);
    library.preference_destroy(preference);
    cublasLtMatmulHeuristicResult_t checked{};
    if (status == CUBLAS_STATUS_SUCCESS && results > 0 &&
        library.algo_check(handle_, many.product, many.a, many.b, many.c, many.c, &result.algo, &checked) ==
            CUBLAS_STATUS_SUCCESS &&
        checked.workspaceSize <= limit) {
        choice = {true, result.algo, checked.workspaceSize};
    }
    return choice;
}

bool BatchedProducts::multiply(const StridedBatch& batch, void* workspace, std::int64_t workspace_bytes,
                               cudaStream_t stream) {
    if (handle_ == nullptr) {
        return false;
    }
    const Choice& chosen = choice(batch, workspace_bytes);
    if (!chosen.usable) {
        return false;
    }
    const Descriptors descriptors(batch, batch.count);
    check(cublaslt_library().matmul(handle_, descriptors.product, batch.alpha, batch.a, descriptors.a, batch.b,
                                    descriptors.b, batch.beta, batch.c, descriptors.c, batch.c, descriptors.c,
                                    &chosen.algorithm, workspace, chosen.workspace_bytes, stream),
          "multiply a batch");
    return true;
}

}  // namespace heptad::cuda
