// Batches by pointers, cublas?gemmBatched: the addresses of their matrices stand in device memory. Reading them would
// mean waiting for the stream, and cannot be captured into a graph. So one product after another is copied to memory of
// ours, multiplied there, and its C copied back, by kernels that read the addresses themselves: about a tenth of an f32
// product of 4096 on an H200, and less of larger ones.
#pragma once

#include "api/cublas/gemm_call.hpp"
#include "kernels/cuda/combine/pointed_copy.hpp"

namespace heptad::cublas {

class PointerBatch {
public:
    /// Precondition: as_products(call) is one.
    PointerBatch(const GemmCall& call, bool reads_result);

    /// Of the copies of one product.
    std::int64_t bytes() const { return offset_c_ + bytes_of(c_); }
    /// That copying one product takes, about.
    double copies_s() const;

    /// Enqueues the copies of product `index` to `memory`, and returns it as a product of them.
    Product gather(std::int64_t index, void* memory, void* stream) const;
    /// Enqueues the copy of its C back.
    void scatter(std::int64_t index, const void* memory, void* stream) const;

private:
    std::int64_t bytes_of(const cuda::PointedMatrix& matrix) const;

    GemmCall call_;
    bool reads_result_;
    cuda::PointedMatrix a_, b_, c_;  // of the first product
    std::int64_t offset_b_ = 0, offset_c_ = 0;
};

}  // namespace heptad::cublas
