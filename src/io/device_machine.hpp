// What the planner knows of an NVIDIA device: measured by `heptad tune --device cuda`, or figures of an H200.
#pragma once

#include <memory>

#include "io/machine_file.hpp"
#include "kernels/cuda/combine/pass_shape.hpp"
#include "kernels/cuda/vendor/vendor_kernels.hpp"
#include "plan/model/machine.hpp"

namespace heptad {

/// machines/h200.json: other chips are slower all over, but in similar proportions.
Machine default_device_machine();
/// Of a device whose thread blocks may have so much: without the kernels with sums inside that need more.
Machine with_shared_memory(Machine machine, int shared_bytes);
/// The description kept by `heptad tune` for this device, or the default one as far as its kernels run there.
Machine load_device_machine(int device, NamedFile missing = NamedFile::must_exist);
/// The kernels of the vendor's library that were the fastest.
std::shared_ptr<const cuda::VendorKernels> vendor_kernels(const Machine& machine);
/// The shapes of combine passes that it names; the default ones elsewhere.
cuda::PassShapes pass_shapes(const Machine& machine);
/// Where that is kept.
TuneFile device_tune_file(int device);

}  // namespace heptad
