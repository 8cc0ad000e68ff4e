#include "bench/suites/pci_bus.hpp"

#include <cuda_runtime_api.h>

namespace heptad::cuda {

std::string pci_bus_id(int device) {
    char id[32] = {};
    if (cudaDeviceGetPCIBusId(id, sizeof(id), device) != cudaSuccess) {
        cudaGetLastError();
        return "";
    }
    return id;
}

}  // namespace heptad::cuda
