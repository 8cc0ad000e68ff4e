// Contests on a device: whole plans beside cuBLAS on squares, in turns (plan/predict/contest.hpp). What decides between
// two plans there, how hot the card is and how much of its power is left, shows in no measurement of a part by itself.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "kernels/cuda/device/cuda_backend.hpp"
#include "kernels/cuda/device/device.hpp"
#include "plan/model/machine.hpp"

namespace heptad {

/// What contests work with. The memory holds random numbers of the type, and is written over in part.
struct ContestGround {
    cuda::CudaBackend& backend;
    const cuda::Stream& stream;
    std::byte* memory = nullptr;
    std::int64_t bytes = 0;
};

/// One contest of n x n matrices; none where nobody takes part beside the library, time is too short for a verdict, or
/// the memory of the ground too small. Throws Error(resource) where the device has no room for the workspace. What
/// `usual` would choose takes part too; kernels and shapes of passes are those that the backend has.
std::optional<Contest> hold_device_contest(Type type, std::int64_t n, const ContestGround& ground,
                                           const Machine& machine, const Machine& usual);

/// Adds contests of `type` to machine.contests, and what they say of levels to machine.level_factors, on squares from
/// 2048 up; those that the device's memory is too small for are left out. A few seconds.
void measure_device_contests(Type type, const ContestGround& ground, Machine& machine,
                             const std::function<void(const std::string&)>& note);

}  // namespace heptad
