// A guarded matrix of the host, and its copy on a device, guards and all.
#pragma once

#include "kernels/cuda/device/device.hpp"
#include "kernels/guarded_matrix.hpp"

namespace heptad::test {

class DeviceMatrixCopy {
public:
    DeviceMatrixCopy(GuardedMatrix& host, void* stream)
        : host_(host),
          bytes_(static_cast<std::int64_t>(host.bytes().size())),
          memory_(0, bytes_ + kShift, stream),
          stream_(stream) {
        cuda::copy_rows(host.bytes().data(), bytes_, start(), bytes_, bytes_, 1, stream);
    }
    View view() const {
        View view = host_.view();
        view.data = start() + (static_cast<std::byte*>(view.data) - host_.bytes().data());
        return view;
    }
    void fetch() { cuda::copy_rows(start(), bytes_, host_.bytes().data(), bytes_, bytes_, 1, stream_); }

private:
    /// Off the device's own alignment, so that narrow loads are tested too where the guards do not see to that.
    static constexpr std::int64_t kShift = 16;
    std::byte* start() const { return static_cast<std::byte*>(memory_.data()) + kShift; }
    GuardedMatrix& host_;
    std::int64_t bytes_;
    cuda::DeviceMemory memory_;
    void* stream_;
};

/// Skips the test where no device can be used.
#define HEPTAD_NEEDS_DEVICE()                                                   \
    if (!::heptad::cuda::report().available) {                                  \
        GTEST_SKIP() << "no CUDA device: " << ::heptad::cuda::report().problem; \
    }

}  // namespace heptad::test
