// The streams and buffers of a product whose operands come and go beside it, kept between products. A backend, and with
// it cuBLAS, belongs to a stream: made anew while transfers are under way, it would wait for all of them. And so does
// everything on the device while pages of buffers are locked or unlocked.
#pragma once

#include <memory>

#include "kernels/cuda/device/device.hpp"
#include "move/staging.hpp"

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
    Staging& staging_there() const { return set_->staging_there; }
    Staging& staging_back() const { return set_->staging_back; }

    /// Gives back what is kept and not lent.
    static void release() noexcept;

private:
    struct Set {
        explicit Set(int device)
            : there(device), back(device), compute(device), staging_there(device), staging_back(device) {}
        const cuda::Stream there, back, compute;
        Staging staging_there, staging_back;
    };
    struct Store;

    std::unique_ptr<Set> set_;
};

}  // namespace heptad
