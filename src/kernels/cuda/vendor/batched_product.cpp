#include "kernels/cuda/vendor/batched_product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/device/status.hpp"
#include "kernels/cuda/vendor/cublaslt_library.hpp"
#include "kernels/cuda/vendor/kept_handles.hpp"

namespace heptad::cuda {
namespace {

constinit KeptHandles<cublasLtHandle_t> kept_light_handles;

}  // namespace

/// What cuBLASLt wants to know of a batch, given back at the end of the scope.
struct BatchedProducts::Descriptors {
    const CublasLtLibrary& library = cublaslt_library();
    cublasLtMatmulDesc_t product = nullptr;
    cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;

    Descriptors(const StridedBatch& batch, std::int64_t count) {
        check(library.desc_create(&product, batch.types.compute, batch.types.scale), "describe a product");
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
        layout(a, batch.op_a != CUBLAS_OP_N, batch.m, batch.k, batch.lda, batch.distance_a, batch.types.data);
        layout(b, batch.op_b != CUBLAS_OP_N, batch.k, batch.n, batch.ldb, batch.distance_b, batch.types.data);
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

BatchedProducts::BatchedProducts() : device_(current_device()) {
    handle_ = kept_light_handles.take(device_);
    if (handle_ == nullptr && cublaslt_library().found &&
        cublaslt_library().create(&handle_) != CUBLAS_STATUS_SUCCESS) {
        handle_ = nullptr;
    }
}

BatchedProducts::~BatchedProducts() {
    if (handle_ != nullptr) {
        kept_light_handles.keep(device_, handle_);
    }
}

namespace {

/// The numbers that make up a kernel of cuBLASLt.
std::string kernel_name(const cublasLtMatmulAlgo_t& algorithm) {
    std::string name;
    for (const cublasLtMatmulAlgoConfigAttributes_t attribute :
         {CUBLASLT_ALGO_CONFIG_ID, CUBLASLT_ALGO_CONFIG_TILE_ID, CUBLASLT_ALGO_CONFIG_STAGES_ID,
          CUBLASLT_ALGO_CONFIG_SPLITK_NUM, CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION,
          CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID}) {
        std::uint32_t number = 0;  // the last two are 16 bits long
        const bool is_short =
            attribute == CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID || attribute == CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID;
        std::size_t written = 0;
        cublaslt_library().algo_config(&algorithm, attribute, &number,
                                       is_short ? sizeof(std::uint16_t) : sizeof(std::uint32_t), &written);
        name += fmt::format("{}{}", name.empty() ? "" : ".", static_cast<std::int32_t>(number));
    }
    return name;
}

bool is_short_result(cudaDataType_t type) {
    return type == CUDA_R_16F || type == CUDA_R_16BF;
}

constexpr int kMostProposals = 8;

}  // namespace

/// What the library proposes for one product alone, then for the batch.
std::vector<BatchedProducts::Candidate> BatchedProducts::candidates(const StridedBatch& batch,
                                                                    std::int64_t workspace_bytes) {
    const CublasLtLibrary& library = cublaslt_library();
    cublasLtMatmulPreference_t preference = nullptr;
    check(library.preference_create(&preference), "describe its workspace");
    const auto limit = static_cast<std::uint64_t>(workspace_bytes);
    library.preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &limit, sizeof(limit));
    if (is_short_result(batch.result)) {  // partial sums in f32, as CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION
        const std::uint32_t in_f32 = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
        library.preference_set(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &in_f32, sizeof(in_f32));
    }
    const Descriptors alone(batch, 1), many(batch, batch.count);
    std::vector<Candidate> found;
    for (const Descriptors* asked : {&alone, &many}) {
        cublasLtMatmulHeuristicResult_t proposals[kMostProposals]{};
        int count = 0;
        if (library.heuristic(handle_, asked->product, asked->a, asked->b, asked->c, asked->c, preference,
                              kMostProposals, proposals, &count) != CUBLAS_STATUS_SUCCESS) {
            continue;
        }
        for (int i = 0; i < count; ++i) {
            cublasLtMatmulHeuristicResult_t checked{};
            if (library.algo_check(handle_, many.product, many.a, many.b, many.c, many.c, &proposals[i].algo,
                                   &checked) == CUBLAS_STATUS_SUCCESS &&
                checked.workspaceSize <= limit) {
                std::string name = kernel_name(proposals[i].algo);
                if (std::none_of(found.begin(), found.end(), [&](const Candidate& c) { return c.name == name; })) {
                    found.push_back({std::move(name), {true, proposals[i].algo, checked.workspaceSize}});
                }
            }
        }
    }
    library.preference_destroy(preference);
    return found;
}

void BatchedProducts::set_kernels(std::shared_ptr<const VendorKernels> kernels) {
    if (kernels_ != kernels) {
        kernels_ = std::move(kernels);
        choices_.clear();
    }
}

std::vector<std::string> BatchedProducts::kernels_for(const StridedBatch& batch, std::int64_t workspace_bytes) {
    std::vector<std::string> names;
    if (handle_ != nullptr) {
        for (const Candidate& candidate : candidates(batch, workspace_bytes)) {
            names.push_back(candidate.name);
        }
    }
    return names;
}

const BatchedProducts::Choice& BatchedProducts::choice(const StridedBatch& batch, std::int64_t workspace_bytes) {
    const Key key{batch.op_a,   batch.op_b,          batch.m,        batch.n,     batch.k,
                  batch.lda,    batch.ldb,           batch.ldc,      batch.count, batch.types.data,
                  batch.result, batch.types.compute, workspace_bytes};
    const auto [found, added] = choices_.try_emplace(key);
    if (!added) {
        return found->second;
    }
    const std::vector<Candidate> proposed = candidates(batch, workspace_bytes);
    if (proposed.empty()) {
        return found->second;
    }
    found->second = proposed.front().choice;
    if (kernels_) {
        const KernelUse use = batch.count == 1 ? KernelUse::alone : KernelUse::batched;
        for (const std::string& name : kernels_by_distance(*kernels_, batch.type, use, {batch.m, batch.n, batch.k})) {
            const auto same = std::find_if(proposed.begin(), proposed.end(),
                                           [&](const Candidate& candidate) { return candidate.name == name; });
            if (same != proposed.end()) {
                found->second = same->choice;
                break;
            }
        }
    }
    return found->second;
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
    check(cublaslt_library().matmul(handle_, descriptors.product, batch.alpha.pointer(), batch.a, descriptors.a,
                                    batch.b, descriptors.b, batch.beta.pointer(), batch.c, descriptors.c, batch.c,
                                    descriptors.c, &chosen.algorithm, workspace, chosen.workspace_bytes, stream),
          "multiply a batch");
    return true;
}

}  // namespace heptad::cuda
