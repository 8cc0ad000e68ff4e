// Which kernels a vendor library should run with on this processor, and how to make it.
//
//   OpenBLAS 0.3.21 (Debian 12) does not know recent Intel server cores and falls back to an SSE kernel. It picks when
//   it is loaded; OPENBLAS_CORETYPE overrules it.
//   BLIS picks its AVX2 kernel where a virtual machine masks the brand name from which it counts the vector units. It
//   picks at its first call; BLIS_ARCH_TYPE overrules it. Version 0.9 takes a number of its own enumeration and ends
//   the process on any other word, newer ones take names.
//
// In programs of our own both are first tried in a child process (vendor_blas_probe.hpp), and the value that worked
// there is set for just the moment when the library reads it. A setting of the user's is left alone. Elsewhere a
// library with a poor kernel is not used. Only x86-64 is corrected: on Arm the picks seen so far are the ones to keep.
#pragma once

#include <string>

#include "kernels/cpu/cpu_info.hpp"
#include "kernels/cpu/vendor_blas.hpp"

namespace heptad::cpu {

/// The OPENBLAS_CORETYPE to ask for, or "" if `picked` is good enough for this processor.
std::string better_openblas_core(const CpuInfo& cpu, const std::string& picked);

/// The name of the BLIS configuration to ask for, or "" if `picked` is good enough for this processor.
std::string better_blis_core(const CpuInfo& cpu, const std::string& picked);

/// Whether allow_vendor_corrections() was called: this process is ours.
bool corrections_allowed() noexcept;

/// Opens it and fills `library`. Returns why it cannot be used, or "". What was opened stays open.
std::string load_vendor_file(Vendor vendor, const char* file, VendorLibrary& library);

}  // namespace heptad::cpu
