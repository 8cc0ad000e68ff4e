// One line of `heptad bench gpu`: C = A * B on a device by cuBLAS and by Heptad, interleaved on one stream and timed by
// the device's own events, with the error and the energy of both.
#pragma once

#include <functional>

#include "bench/suites/bench_product.hpp"
#include "bench/suites/device_operand.hpp"
#include "kernels/cuda/device/cuda_backend.hpp"
#include "kernels/cuda/device/device.hpp"

namespace heptad::cli {

struct DeviceBenchSettings {
    std::string device = "cuda";  // as options name it
    std::string device_name;      // as the maker does
    Accuracy accuracy = Accuracy::balanced;
    std::string algorithm = "auto", leaf = "auto";
    int levels = -1;
    bool with_emulation = false;             // f64: beside cuBLAS's own fixed point
    std::int64_t workspace_limit_bytes = 0;  // what the device has left
    ConstView uniform_a, uniform_b;          // Heptad multiplies these, too, if there are any
    ContestRules rules;
};

/// Throws Error(verification) if a result on a device is above its bound, or an integer wrong.
void require_right(const BenchRecord& record);

/// `vendor` works on `stream`, and nothing else does. cuBLAS has no product of 32- and 64-bit integers: those are
/// compared with classical kernels of ours on the CUDA cores. Throws Error(verification) if the result is above the
/// plan's bound.
BenchRecord bench_device_product(const DeviceOperand& a, const DeviceOperand& b, const DeviceOperand& c,
                                 cuda::CudaBackend& vendor, const cuda::Stream& stream,
                                 const DeviceBenchSettings& settings,
                                 const std::function<void(int round, int rounds)>& progress);

}  // namespace heptad::cli
