// The error of a product on a device: some of its entries, spread over C, against the same ones recomputed on the host
// in a higher precision. The definition is that of measured_error.hpp: max|C - exact| / (max|A| * max|B|), and
// for integers 0 or 1. Of complex numbers that of their parts, max|A| as well.
#pragma once

#include "base/matrix.hpp"
#include "kernels/cuda/device/cuda_backend.hpp"
#include "kernels/cuda/device/device.hpp"

namespace heptad::cli {

class DeviceError {
public:
    /// A and B lie on the device of the stream, rows side by side. Fetches what the sampled entries of C depend on.
    DeviceError(const ConstView& a, const ConstView& b, cuda::CudaBackend& backend, const cuda::Stream& stream);
    /// Waits for the stream. NaN if a sampled entry is not finite.
    double of(const ConstView& c) const;

private:
    const cuda::Stream* stream_;
    Matrix rows_of_a_, columns_of_b_;
    double max_a_ = 0, max_b_ = 0;
};

}  // namespace heptad::cli
