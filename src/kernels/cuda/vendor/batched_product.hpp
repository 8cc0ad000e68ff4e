// A product or a strided batch through cuBLASLt, by the kernel that was measured to be the fastest; where none was, by
// the one that the library takes for one of the products alone: its own choice for a batch of large products is up to a
// fifth slower than for one of them (tf32 and f64 on Hopper).
#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/cuda/vendor/strided_batch.hpp"
#include "kernels/cuda/vendor/vendor_kernels.hpp"

namespace heptad::cuda {

class BatchedProducts {
public:
    BatchedProducts();
    ~BatchedProducts();
    BatchedProducts(const BatchedProducts&) = delete;
    BatchedProducts& operator=(const BatchedProducts&) = delete;

    /// What was measured, from now on.
    void set_kernels(std::shared_ptr<const VendorKernels> kernels);
    /// The names of all kernels that the library proposes for such a batch, none of them twice.
    std::vector<std::string> kernels_for(const StridedBatch& batch, std::int64_t workspace_bytes);
    /// False: cuBLASLt is not there or has no such kernel, and nothing was enqueued.
    bool multiply(const StridedBatch& batch, void* workspace, std::int64_t workspace_bytes, cudaStream_t stream);

private:
    struct Choice {
        bool usable = false;
        cublasLtMatmulAlgo_t algorithm{};
        std::size_t workspace_bytes = 0;
    };
    struct Candidate {
        std::string name;
        Choice choice;
    };
    struct Descriptors;
    std::vector<Candidate> candidates(const StridedBatch& batch, std::int64_t workspace_bytes);
    const Choice& choice(const StridedBatch& batch, std::int64_t workspace_bytes);

    int device_ = 0;
    cublasLtHandle_t handle_ = nullptr;
    using Key = std::tuple<int, int, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                           std::int64_t, int, int, int, std::int64_t>;
    std::map<Key, Choice> choices_;
    std::shared_ptr<const VendorKernels> kernels_;
};

}  // namespace heptad::cuda
