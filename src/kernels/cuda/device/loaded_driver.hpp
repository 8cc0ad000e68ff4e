// Memory of devices, as the CUDA driver knows it that somebody in this process has loaded: it may not have been us, and
// this build may have no CUDA code. Loads and starts nothing.
#pragma once

#include <optional>

namespace heptad::cuda {

/// Does the pointer point to the heap below the program's break, where malloc() has small matrices? No device's memory
/// lies there. Two nanoseconds; false says nothing.
bool is_of_heap(const void* pointer) noexcept;

/// May a pointer of this process point to a device's memory? Takes a clock's time, or none on machines without such
/// devices.
/// The answer may be some milliseconds old, which is less than a driver takes to start.
bool has_loaded_driver() noexcept;

/// The device whose memory, managed memory among it, the pointer points to; nothing for memory of the host.
std::optional<int> device_holding(const void* pointer) noexcept;

}  // namespace heptad::cuda
