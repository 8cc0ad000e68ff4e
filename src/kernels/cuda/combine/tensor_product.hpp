// The classical product of short floats on Hopper's tensor cores, and copies of what does not lie as kernels read it.
#pragma once

#include "kernels/cuda/device/cuda_kernels.hpp"

namespace heptad::cuda {

/// c = alpha * a * b' + beta * c, added in f32. The rows of `a` and of `b`, the columns of B, lie along k or, those of
/// 16 bits, across it: one stride is 1; the other one, the length of lines and the first address are multiples of 16
/// bytes, or lines along k are zero up to the next multiple. Entries of a row of c lie side by side. f32 stands for
/// tf32.
struct TensorProduct {
    Scalar scalar = Scalar::bf16;
    double alpha = 1;
    DeviceMatrix a, b;
    double beta = 0;
    DeviceMatrix c;
    Guard guard;
    /// Of tf32: `a` and `b` were copied from here, unless they are rounded on their way: told by the word of the guard
    /// that has their largest value. -1: they were copied.
    struct Original {
        DeviceMatrix matrix;
        int word = -1;
    } originals[2] = {};
};
/// Is it there on the present device?
DeviceStatus find_tensor_product(bool& available);
DeviceStatus launch_tensor_product(const TensorProduct& product, StreamHandle stream);

/// Copies a matrix of any strides to rows whose entries lie side by side; zeros where `to` is larger. With a word it
/// does nothing where the original is rounded on its way.
DeviceStatus launch_line_copy(Scalar scalar, const DeviceMatrix& from, const DeviceMatrix& to, const Guard& guard,
                              int word, StreamHandle stream);

}  // namespace heptad::cuda
