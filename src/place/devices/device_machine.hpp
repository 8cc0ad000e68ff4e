// What the planner knows of an NVIDIA device: measured by `heptad tune --device cuda`, or figures of an H200.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "backend/cuda/vendor_kernels.hpp"
#include "plan/machine.hpp"
#include "run/tune.hpp"

namespace heptad {

/// Rates measured on an H200 with cuBLAS 13; other chips are slower all over, but in similar proportions.
Machine default_device_machine();
/// Without the kernels with sums inside that need more shared memory than a block may have.
Machine without_fused_tiles_beyond(Machine machine, int shared_bytes);
/// The description kept by `heptad tune` for this device, or the default one as far as its kernels run there.
Machine load_device_machine(int device, NamedFile missing = NamedFile::must_exist);
/// Measures the device (about two minutes) and keeps the result for this user. `note` is called with what comes next.
/// `only_bits`: the splits of bit products alone (a few seconds), beside what was known before.
Machine tune_device(int device, bool only_bits, const std::function<void(const std::string&)>& note);
/// The kernels of the vendor's library that were the fastest.
std::shared_ptr<const cuda::VendorKernels> vendor_kernels(const Machine& machine);
/// Where that is kept.
std::string device_tune_file(int device);

}  // namespace heptad
