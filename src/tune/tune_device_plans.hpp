// Whole plans beside cuBLAS on squares of a device, in rounds (tune/plan_rounds.hpp). What decides between two plans
// there, how hot the card is and how much of its power is left, shows in no measurement of a part by itself.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "kernels/cuda/device/cuda_backend.hpp"
#include "kernels/cuda/device/device.hpp"
#include "plan/model/machine.hpp"
#include "tune/load_watch.hpp"

namespace heptad {

/// Where plans run. The memory holds random numbers of the type, and is written over in part.
struct DeviceGround {
    cuda::CudaBackend& backend;
    const cuda::Stream& stream;
    std::byte* memory = nullptr;
    std::int64_t bytes = 0;
    LoadWatch& watch;       // of the host, whose thread launches all that runs
    const Machine& before;  // what stands where a measurement cannot be trusted
};

/// Records plans for n x n matrices and the growth of their errors. Disturbed by others, the rows of ground.before
/// stay. False: there is nobody beside the library, time is too short, or the memory of the
/// ground too small. Throws Error(resource) where the device has no room for the workspace. What `usual` would choose
/// runs too; kernels and shapes of passes are those that the backend has.
bool measure_device_plans_on(Type type, std::int64_t n, const DeviceGround& ground, const Machine& usual,
                             Machine& machine);

/// On squares from 2048 up; those that the device's memory is too small for are left out. A few seconds.
void measure_device_plans(Type type, const DeviceGround& ground, Machine& machine,
                          const std::function<void(const std::string&)>& note);

}  // namespace heptad
