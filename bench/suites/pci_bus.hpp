// Where a device sits: what other libraries than CUDA know it by.
#pragma once

#include <string>

namespace heptad::cuda {

/// "0000:65:00.0"; empty where it cannot be told.
std::string pci_bus_id(int device);

}  // namespace heptad::cuda
