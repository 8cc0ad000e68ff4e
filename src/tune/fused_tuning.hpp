// Measures the kernels with sums inside on one device, for P2's model.
#pragma once

#include <functional>

#include "kernels/cuda/device/cuda_backend.hpp"
#include "plan/model/machine.hpp"

namespace heptad {

/// What a tuning run lends: memory with random numbers of the type in it, and how long something takes.
struct FusedTuning {
    cuda::CudaBackend& backend;
    std::byte* memory = nullptr;
    std::int64_t memory_bytes = 0;
    std::function<double(const std::function<void()>& act)> seconds_of;
};

/// Seconds of one more launch behind others.
double fused_launch_seconds(Type type, const FusedTuning& tuning);
/// One profile for each block shape of the type; none where there are no such kernels.
std::vector<FusedProfile> tune_fused(Type type, const FusedDevice& device, const FusedTuning& tuning);

}  // namespace heptad
