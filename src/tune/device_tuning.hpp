// What `heptad tune --device cuda` tries besides leaves.
//
// Which split into serial and parallel levels is fastest for packed bits on a device (P3's d_s and d_p; d_i is what
// they leave), and which cut at the host for matrices that do not fit (d_h, and pipelines to a device), cannot be told
// from rates alone, so `heptad tune --device cuda` tries them, within the memory that is free (P3 3.17).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/cuda/device/cuda_backend.hpp"
#include "kernels/cuda/device/device.hpp"
#include "plan/model/machine.hpp"
#include "tune/load_watch.hpp"

namespace heptad {

/// Times products over GF(2) of three sizes with every split that leaves long leaves and fits the device: about three
/// seconds on an H200. `note` is called with what comes next.
std::vector<BitSplitSample> measure_bit_splits(int device, const std::function<void(const std::string&)>& note);

/// A product of packed bits in host memory on devices as device_list.hpp names them.
struct BitHostTrial {
    std::string devices;
    std::int64_t n = 0;
    std::int64_t device_memory_bytes = 0;  // that each of them may use, fewer than the matrices take
};
/// Times it with segments of C and with one and two levels at the host (P3's d_h), each with one to three pipelines to
/// a device, as far as they fit; ways far behind are not tried with more pipelines.
std::vector<BitHostSample> measure_bit_hosts(const BitHostTrial& trial,
                                             const std::function<void(const std::string&)>& note);
/// What `heptad tune` tries on a device: 1.5 GiB of matrices in 1 GiB, about four seconds on an H200.
BitHostTrial host_trial_of(int device);

// P1 finds the shape of its addition kernel by trying them all; so does `heptad tune --device cuda`, for each element
// type and each class of passes, on the passes that plans are made of.

/// The fastest shape of each class for one type: winograd's sums of A (few blocks), winograd*winograd's (16 in, 49 out)
/// and its result (49 in, 16 out), at n = 8192. `memory` holds pass_tuning_bytes(); `backend` works on `stream` and is
/// left with its default shapes.
std::vector<PassProfile> tune_passes(Type type, cuda::CudaBackend& backend, const cuda::Stream& stream, void* memory);
std::int64_t pass_tuning_bytes(Type type);

// The kernels with sums inside, for P2's model.

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

// Whole plans beside cuBLAS on squares of a device, in rounds (tune/plan_rounds.hpp). What decides between two plans
// there, how hot the card is and how much of its power is left, shows in no measurement of a part by itself.

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
