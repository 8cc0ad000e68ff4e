// The steps of a product from file to file on an NVIDIA device: copies of the pipeline's buffers there, and a stream
// each for uploads, products and downloads, so that all three go on at once.
#pragma once

#include <memory>

#include "move/step_device.hpp"

namespace heptad {

/// Holds whole tiles where they fit in `room_bytes`. Throws Error(resource) where not even a strip does.
std::unique_ptr<StepDevice> open_device_steps(const StepDeviceSizes& sizes, int device, std::int64_t room_bytes);

}  // namespace heptad
