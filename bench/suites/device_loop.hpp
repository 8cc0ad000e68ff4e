// What products of 64-bit integers on a device are compared with, since no library has them: a kernel on the CUDA cores
// as one writes it by hand.
#pragma once

#include "kernels/cuda/device/cuda_kernels.hpp"

namespace heptad::cli {

/// c = a * b modulo 2^64, on the current device; in each of them the entries of a row lie side by side.
cuda::DeviceStatus launch_i64_loop(const cuda::DeviceMatrix& a, const cuda::DeviceMatrix& b,
                                   const cuda::DeviceMatrix& c, cuda::StreamHandle stream);

}  // namespace heptad::cli
