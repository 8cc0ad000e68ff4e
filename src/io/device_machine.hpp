// What the planner knows of an NVIDIA device: measured by `heptad tune --device cuda`, or figures of an H200.
#pragma once

#include <cstdint>
#include <string>

#include "io/machine_file.hpp"
#include "plan/model/machine.hpp"

namespace heptad {

/// machines/h200.json: other chips are slower all over, but in similar proportions.
Machine default_device_machine();
/// The rest of that file: a device that need not be there, and what nobody measures of those that are.
struct AssumedDevice {
    std::string name;
    std::int64_t memory_bytes = 0;
    int multiprocessors = 0;
    double link_bytes_per_s = 0;      // each way by itself
    double transfer_bytes_per_s = 0;  // both at a time
    double locked_buffer_bytes_per_s = 0;
    std::string bit_leaf;
    double bit_operations_per_s = 0, bit_bytes_per_s = 0, bit_launch_s = 0;
};
const AssumedDevice& assumed_device();
/// Of a device whose thread blocks may have so much: without the kernels with sums inside that need more.
Machine with_shared_memory(Machine machine, int shared_bytes);
/// The description kept by `heptad tune` for this device, or the default one as far as its kernels run there.
Machine load_device_machine(int device, NamedFile missing = NamedFile::must_exist);
/// Where that is kept.
TuneFile device_tune_file(int device);

}  // namespace heptad
