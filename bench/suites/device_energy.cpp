// NVML is opened at run time and its few functions are declared here: its header is not part of every toolkit, and a
// machine without it only loses the joules.
#include "bench/suites/device_energy.hpp"

#include <dlfcn.h>

#include <map>
#include <string>

#include "base/shared_state.hpp"
#include "bench/suites/pci_bus.hpp"

namespace heptad::cuda {
namespace {

using NvmlDevice = void*;
constexpr int kSuccess = 0;

struct Nvml {
    int (*init)() = nullptr;
    int (*handle_by_bus_id)(const char*, NvmlDevice*) = nullptr;
    int (*handle_by_index)(unsigned int, NvmlDevice*) = nullptr;
    int (*total_energy)(NvmlDevice, unsigned long long*) = nullptr;  // millijoules
    bool usable = false;
};

template <class Function>
bool bind(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
}

Nvml open_nvml() {
    Nvml nvml;
    void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        return nvml;
    }
    bool complete = bind(library, "nvmlInit_v2", nvml.init);
    complete = bind(library, "nvmlDeviceGetHandleByPciBusId_v2", nvml.handle_by_bus_id) && complete;
    complete = bind(library, "nvmlDeviceGetHandleByIndex_v2", nvml.handle_by_index) && complete;
    complete = bind(library, "nvmlDeviceGetTotalEnergyConsumption", nvml.total_energy) && complete;
    nvml.usable = complete && nvml.init() == kSuccess;
    return nvml;  // stays open for the rest of the process
}

/// CUDA and NVML may number devices differently; the place on the bus is the same. Null: none found.
NvmlDevice find_device(const Nvml& nvml, int device) {
    NvmlDevice found = nullptr;
    if (const std::string bus_id = pci_bus_id(device); !bus_id.empty()) {
        return nvml.handle_by_bus_id(bus_id.c_str(), &found) == kSuccess ? found : nullptr;
    }
    return nvml.handle_by_index(static_cast<unsigned int>(device), &found) == kSuccess ? found : nullptr;
}

}  // namespace

std::optional<double> energy_joules(int device) {
    static constinit Once<Nvml> library;
    static constinit Guarded<std::map<int, NvmlDevice>> all;
    const Nvml& nvml = library.get(open_nvml);
    if (!nvml.usable || device < 0) {
        return std::nullopt;
    }
    const auto devices = all.lock();
    if (!devices->contains(device)) {
        (*devices)[device] = find_device(nvml, device);
    }
    unsigned long long millijoules = 0;
    if ((*devices)[device] == nullptr || nvml.total_energy((*devices)[device], &millijoules) != kSuccess) {
        return std::nullopt;
    }
    return static_cast<double>(millijoules) * 1e-3;
}

}  // namespace heptad::cuda
