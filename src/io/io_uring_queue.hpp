// The queue over io_uring. The same header serves builds without liburing.
#pragma once

#include <memory>

#include "io/io_queue.hpp"

namespace heptad {

/// Was liburing found when this was built?
bool has_uring();
/// Null where this build or the kernel does not have it.
std::unique_ptr<IoQueue> make_uring_queue(const IoWatch& watch);

}  // namespace heptad
