// A machine as plain data: what its kernels find out about the processor and NVIDIA devices, for programs to tell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heptad {

struct CpuFacts {
    std::string architecture;  // "x86-64", "aarch64"
    std::string vendor;        // "GenuineIntel", "AuthenticAMD", "ARM" ...
    std::string brand;         // as the processor or the kernel tells it; may be masked by a virtual machine
    int cores = 1;             // cores of the machine
    int usable_cores = 1;      // cores this process may use
    std::int64_t l1d_bytes = 0, l2_bytes = 0, l3_bytes = 0;  // of the first core; 0: unknown
    double max_mhz = 0;                                      // 0: unknown
    std::vector<std::string> features;                       // those that matter for products, e.g. "avx2", "avx512f"
};

/// A BLAS library that was looked for.
struct LibraryFacts {
    bool found = false;
    std::string name, version, path, core, correction, problem;  // kernels/cpu/vendor_blas.hpp says what they tell
};

struct DeviceInfo {
    int index = 0;
    std::string name;
    int major = 0, minor = 0;  // compute capability
    int multiprocessors = 0;
    int shared_bytes = 0;  // that a thread block may have
    std::int64_t memory_bytes = 0, free_bytes = 0;
};

struct DeviceReport {
    bool built = false;      // this build has CUDA code
    bool available = false;  // and can use it here: driver, device, cuBLAS
    std::string problem;     // why not
    std::string driver, runtime, cublas, cublas_path;
    std::vector<DeviceInfo> devices;

    /// The device of that number, or nullptr where it cannot be used.
    const DeviceInfo* find(int device) const {
        const bool is_there = available && device >= 0 && static_cast<std::size_t>(device) < devices.size();
        return is_there ? &devices[static_cast<std::size_t>(device)] : nullptr;
    }
};

}  // namespace heptad
