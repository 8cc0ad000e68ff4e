// Names of several devices: "cuda:0,1" are two NVIDIA devices, "cpu:4" are four cores of this machine, each a device by
// itself. "cuda" and "cuda:1" name one.
#pragma once

#include <string>
#include <vector>

#include "base/machine_facts.hpp"
#include "move/compute_device.hpp"
#include "plan/search/host_plan.hpp"

namespace heptad {

/// More than this in one list is a mistake.
inline constexpr int kMostDevices = 64;

struct DeviceList {
    std::string name;  // as typed
    bool cuda = false;
    std::vector<int> indices;
};

/// Does this name mean cores as devices, or several NVIDIA devices?
bool is_device_list(const std::string& name);
/// Throws Error(usage) for what is no list, and for devices that are named twice.
DeviceList parse_device_list(const std::string& name);

/// A core of this machine as a device: the whole path through several devices without any. Its memory is the host's,
/// and uploads are copies.
std::unique_ptr<ComputeDevice> open_core();
/// Throws Error(resource) unless all of them can be used.
DeviceSet open_devices(const DeviceList& list);

/// What the planner should know of them. Needs no device: without one, the figures of an H200 are taken.
DeviceFacts device_facts(const DeviceList& list);
/// What a product may take on each of the NVIDIA devices of a list, by what was found on this machine.
std::int64_t usable_bytes_of_each(const DeviceList& list, const DeviceReport& found);

}  // namespace heptad
