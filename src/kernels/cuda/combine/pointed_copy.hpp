// Matrices whose addresses stand in device memory, as those of cuBLAS's batches by pointers do: copied to memory that
// the host knows, and back. The host never learns the addresses, so it waits for nothing.
#pragma once

#include "kernels/cuda/device/cuda_kernels.hpp"

namespace heptad::cuda {

/// By columns, `leading` elements apart.
struct PointedMatrix {
    void* const* address = nullptr;  // in device memory
    std::int64_t rows = 0, cols = 0, leading = 0;
    std::size_t element_bytes = 0;  // 2, 4, 8 or 16
};

/// Columns of the copy are its rows apart.
DeviceStatus launch_gather(const PointedMatrix& from, void* copy, StreamHandle stream);
DeviceStatus launch_scatter(const void* copy, const PointedMatrix& to, StreamHandle stream);

}  // namespace heptad::cuda
