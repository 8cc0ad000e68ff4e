// The kernels that the description of a device names, in the words of its backend.
#pragma once

#include <memory>

#include "kernels/cuda/combine/pass_shape.hpp"
#include "kernels/cuda/vendor/vendor_kernels.hpp"
#include "plan/model/machine.hpp"

namespace heptad {

/// The kernels of the vendor's library that were the fastest.
std::shared_ptr<const cuda::VendorKernels> vendor_kernels(const Machine& machine);
/// The shapes of combine passes that it names; the default ones elsewhere.
cuda::PassShapes pass_shapes(const Machine& machine);

}  // namespace heptad
