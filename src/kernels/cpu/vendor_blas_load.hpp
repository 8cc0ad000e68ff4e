// Opening one file as the library of a vendor: for vendor_blas.cpp, which knows where to look.
#pragma once

#include <string>

#include "kernels/cpu/vendor_blas.hpp"

namespace heptad::cpu {

/// Whether allow_vendor_corrections() was called: this process is ours.
bool corrections_allowed() noexcept;

/// Opens it and fills `library`. Returns why it cannot be used, or "". What was opened stays open.
std::string load_vendor_file(Vendor vendor, const char* file, VendorLibrary& library);

}  // namespace heptad::cpu
