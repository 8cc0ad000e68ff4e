// Random matrices on a device. One square block of random entries is made on the host and brought there; a matrix of
// any size is laid out from parts of it taken at ever different places. That takes milliseconds where making all
// entries would take minutes.
#pragma once

#include <cstdint>

#include "base/view.hpp"
#include "kernels/cuda/device/device.hpp"

namespace heptad::cli {

/// A matrix on a device, rows side by side.
struct DeviceOperand {
    DeviceOperand(Type type, std::int64_t rows, std::int64_t cols, const cuda::Stream& stream);
    cuda::DeviceMemory memory;
    std::int64_t size_bytes = 0;
    View view;
};

class RandomBlock {
public:
    /// For matrices whose larger side is up to about `largest_side`; larger ones repeat entries more often. The stream
    /// must outlive the block. Floats in [-1, 1), integers over all their bits.
    RandomBlock(Type type, std::int64_t largest_side, const cuda::Stream& stream);
    Type type() const { return block_.view.type; }
    /// Same seed, same matrix.
    DeviceOperand matrix(std::int64_t rows, std::int64_t cols, std::uint64_t seed) const;

private:
    const cuda::Stream* stream_;
    DeviceOperand block_;
};

}  // namespace heptad::cli
