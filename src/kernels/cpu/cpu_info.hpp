// What this processor is: name, cores, caches and vector features. Read once from cpuid, /proc and /sys.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heptad::cpu {

struct CpuInfo {
    std::string architecture;  // "x86-64", "aarch64"
    std::string vendor;        // "GenuineIntel", "AuthenticAMD", "ARM" ...
    std::string brand;         // as the processor or the kernel tells it; may be masked by a virtual machine
    int cores = 1;             // cores of the machine
    int usable_cores = 1;      // cores this process may use
    std::int64_t l1d_bytes = 0, l2_bytes = 0, l3_bytes = 0;  // of the first core; 0: unknown
    double max_mhz = 0;                                      // 0: unknown
    std::vector<std::string> features;                       // those that matter for products, e.g. "avx2", "avx512f"

    bool has(const std::string& feature) const;
    /// The AVX-512 subset that the vendors' kernels for server cores are built on.
    bool has_avx512() const;
    bool has_avx2_fma() const;
};

/// Read on first use; thread safe.
const CpuInfo& cpu_info();

/// Several lines for people: processor, caches, features, BLAS libraries and what was corrected in them.
std::string describe_machine_text();

}  // namespace heptad::cpu
