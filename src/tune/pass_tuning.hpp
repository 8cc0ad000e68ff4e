// P1 finds the shape of its addition kernel by trying them all; so does `heptad tune --device cuda`, for each element
// type and each class of passes, on the passes that plans are made of.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cuda/device/cuda_backend.hpp"
#include "kernels/cuda/device/device.hpp"
#include "plan/model/machine.hpp"

namespace heptad {

/// The fastest shape of each class for one type: winograd's sums of A (few blocks), winograd*winograd's (16 in, 49 out)
/// and its result (49 in, 16 out), at n = 8192. `memory` holds pass_tuning_bytes(); `backend` works on `stream` and is
/// left with its default shapes.
std::vector<PassProfile> tune_passes(Type type, cuda::CudaBackend& backend, const cuda::Stream& stream, void* memory);
std::int64_t pass_tuning_bytes(Type type);

}  // namespace heptad
