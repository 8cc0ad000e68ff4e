// What programs above the library ask of this machine: its processor and libraries, its NVIDIA devices and their names.
#pragma once

#include <string>
#include <vector>

#include "base/machine_facts.hpp"

namespace heptad {

const CpuFacts& cpu_facts();
/// Every BLAS library that is looked for, found or not.
std::vector<LibraryFacts> library_facts();
/// Several lines for people: processor, caches, features, libraries and what was corrected in them.
std::string cpu_text();
/// For a process that is ours, before anything else is called: libraries may be put right there.
void allow_library_corrections() noexcept;

DeviceReport nvidia_devices();
/// The number in "cuda" or "cuda:1". Throws Error(usage) for anything else.
int nvidia_index(const std::string& name);
/// Throws Error(resource) that says why, unless that device can be used.
void require_nvidia_device(const std::string& name);

}  // namespace heptad
