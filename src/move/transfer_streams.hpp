// The streams of a product whose operands come and go beside it, kept between products. A backend, and with it cuBLAS,
// belongs to a stream: made anew while transfers are under way, it would wait for all of them.
#pragma once

#include <memory>

#include "kernels/cuda/device/device.hpp"

namespace heptad {

/// Lent to one product at a time; whoever uses them waits for what is under way before giving them back.
class TransferStreams {
public:
    /// The backends of the streams that compute and bring are there on return.
    explicit TransferStreams(int device);
    ~TransferStreams();
    TransferStreams(const TransferStreams&) = delete;
    TransferStreams& operator=(const TransferStreams&) = delete;

    const cuda::Stream& there() const { return set_->there; }
    const cuda::Stream& back() const { return set_->back; }
    const cuda::Stream& compute() const { return set_->compute; }

private:
    struct Set {
        explicit Set(int device) : there(device), back(device), compute(device) {}
        const cuda::Stream there, back, compute;
    };
    struct Store;
    static Store& store();

    std::unique_ptr<Set> set_;
};

}  // namespace heptad
