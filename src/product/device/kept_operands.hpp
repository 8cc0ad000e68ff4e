// Residues of A and B that the steps of a part of k share. A corner of C that grows takes the same rows and columns
// again and again: each is made into residues once, and found again by the steps that follow.
#pragma once

#include <array>
#include <mutex>

#include "kernels/cuda/device/cuda_backend.hpp"
#include "kernels/cuda/device/device.hpp"
#include "plan/search/transfer_plan.hpp"

namespace heptad {

/// use(the backend of a stream), by this thread alone.
template <class Use>
void with_backend(const cuda::Stream& stream, Use use) {
    const auto backend = cuda::backend_for(stream.device(), stream.handle());
    const std::lock_guard lock(backend->mutex());
    use(*backend);
}

class KeptOperands {
public:
    /// Memory in the order of one stream, for products on another.
    KeptOperands(const std::array<KeptResidues, 2>& kept, const cuda::Stream& stream, const cuda::Stream& compute)
        : compute_(compute), kept_(kept) {
        for (std::size_t operand = 0; operand < kept_.size(); ++operand) {
            memory_[operand] = cuda::DeviceMemory(stream.device(), kept_[operand].bytes(), stream.handle());
            kept_[operand].memory = memory_[operand].data();
        }
    }
    ~KeptOperands() {
        if (kept_[0].memory != nullptr) {
            try {
                with_backend(compute_, [](cuda::CudaBackend& backend) { backend.keep_residues({}, {}); });
            } catch (...) {  // NOLINT(bugprone-empty-catch): the stream has lost its backend, and this with it
            }
        }
    }
    KeptOperands(const KeptOperands&) = delete;
    KeptOperands& operator=(const KeptOperands&) = delete;

    std::int64_t bytes() const { return kept_[0].bytes() + kept_[1].bytes(); }

    /// The product that is enqueued next is that of a step, whose operands have arrived. With each part of k all begins
    /// anew.
    void begin(const TransferStep& step) {
        if (kept_[0].memory == nullptr) {
            return;
        }
        const MatrixWindow &left = step.left[0].block, &right = step.right[0].block;
        const bool begins = first_of_part_ != left.col;
        first_of_part_ = left.col;
        kept_[0].depth = kept_[1].depth = left.cols;
        with_backend(compute_, [&](cuda::CudaBackend& backend) {
            if (begins) {
                backend.keep_residues(kept_[0], kept_[1]);
            }
            backend.place_operands(left.row, right.col);
        });
    }

private:
    const cuda::Stream& compute_;
    std::array<KeptResidues, 2> kept_;
    std::array<cuda::DeviceMemory, 2> memory_;
    std::int64_t first_of_part_ = -1;
};

}  // namespace heptad
