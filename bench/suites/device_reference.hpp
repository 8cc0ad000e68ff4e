// The product of two f32 matrices in f64, made on the device, and the errors of f32 products against it: over every
// entry of C, where device_error.hpp samples some. f32 entries are exact in f64, and the product's own error is some
// 1e-8 times smaller than those it measures.
#pragma once

#include "base/matrix.hpp"
#include "bench/suites/difference.hpp"
#include "kernels/cuda/device/cuda_backend.hpp"
#include "kernels/cuda/device/device.hpp"

namespace heptad::cli {

class DeviceReference {
public:
    /// A and B in host memory, by rows. `backend` works on `stream`; both must outlive this. Waits for the stream.
    DeviceReference(const Matrix& a, const Matrix& b, cuda::CudaBackend& backend, const cuda::Stream& stream);
    /// Of a product that lies on the device, rows side by side. Waits for the stream.
    Difference error_of(const ConstView& c) const;
    /// The largest of A's entries times the largest of B's: what errors are divided by in result files.
    double scale() const { return scale_; }

private:
    const cuda::Stream* stream_;
    double scale_ = 0;
    Matrix exact_;
};

}  // namespace heptad::cli
