#include "product/device/device_facts.hpp"

#include "kernels/cpu/cpu_info.hpp"
#include "kernels/cpu/vendor_blas.hpp"
#include "kernels/cuda/device/device.hpp"

namespace heptad {

const CpuFacts& cpu_facts() {
    return cpu::cpu_info();
}

std::vector<LibraryFacts> library_facts() {
    std::vector<LibraryFacts> all;
    for (const cpu::VendorReport& report : cpu::vendor_reports()) {
        all.push_back(
            {report.found, report.name, report.version, report.path, report.core, report.correction, report.problem});
    }
    return all;
}

std::string cpu_text() {
    return cpu::describe_machine_text();
}

void allow_library_corrections() noexcept {
    cpu::allow_vendor_corrections();
}

DeviceReport nvidia_devices() {
    return cuda::report();
}

int nvidia_index(const std::string& name) {
    return cuda::device_index(name);
}

void require_nvidia_device(const std::string& name) {
    cuda::require_device(cuda::device_index(name));
}

}  // namespace heptad
