// What this processor is: name, cores, caches and vector features. Read once from cpuid, /proc and /sys.
#pragma once

#include <string>

#include "base/machine_facts.hpp"

namespace heptad::cpu {

struct CpuInfo : CpuFacts {
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
