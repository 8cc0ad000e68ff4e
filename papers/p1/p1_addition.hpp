// The launch of P1's addition kernel, free of CUDA headers.
#pragma once

#include "kernels/cuda/device/cuda_kernels.hpp"
#include "papers/p1/p1_verbs.hpp"

namespace heptad::cuda {

/// target = x * a + y * b + keep * target. Scalars are -1, 0 or 1.
struct P1AdditionLaunch {
    Scalar scalar = Scalar::f32;  // f32 or f64
    DeviceMatrix target, a, b;
    double x = 1, y = 0, keep = 0;
    P1Style style = P1Style::plain;
    const void* constants = nullptr;  // device_scalars: -1, 0 and 1 in the type, on the device
};
DeviceStatus launch_p1_addition(const P1AdditionLaunch& launch, StreamHandle stream);

}  // namespace heptad::cuda
