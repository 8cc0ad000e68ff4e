// Memory of devices, as the CUDA driver knows it that somebody in this process has loaded: it may not have been us, and
// this build may have no CUDA code. Loads and starts nothing.
#pragma once

#include <initializer_list>
#include <optional>

namespace heptad::cuda {

/// Do all point to the heap below the program's break, where malloc() has small matrices? No device's memory lies
/// there. Two nanoseconds; false says nothing.
bool are_of_heap(std::initializer_list<const void*> pointers) noexcept;

/// May one of them point to a device's memory? A load on machines without such devices, a few for pointers to the heap,
/// and else a clock's time before a driver is loaded.
bool may_lie_on_device(std::initializer_list<const void*> pointers) noexcept;

/// The device whose memory, managed memory among it, the pointer points to; nothing for memory of the host.
std::optional<int> device_holding(const void* pointer) noexcept;

/// The device of the calling thread's context, which is the runtime's current one; nothing where the thread has none
/// yet. A third of the time that the runtime takes for it.
std::optional<int> device_of_context() noexcept;

}  // namespace heptad::cuda
