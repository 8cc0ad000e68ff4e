// Exact products of a recorded graph whose matrices take more bits than the moduli hold. Nobody waits for a graph, so
// its kernels leave a note in the host's memory, and the next exact product that waits for the device raises it.
#pragma once

#include <cstdint>

namespace heptad::cuda {

/// Where kernels on a device write that they refused. The place stays as long as the process: graphs may outlive
/// everything else.
std::uint32_t* refusal_note(int device);

/// Throws Error(input) if there is a note, and takes it away.
void raise_noted_refusal(int device);

}  // namespace heptad::cuda
