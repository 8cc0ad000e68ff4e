// OpenBLAS packs operands into memory of its own and prefetches beyond what it has packed. In pages that nobody has
// touched yet that fails anew with every panel: on a Neoverse V1 a f32 product of 32 x 32 x 32 takes 7.0 us and one of
// 64 x 64 x 64 takes 22, and 1.4 and 9.3 once a larger product has been there. What a product takes must not depend on
// what was multiplied before it.
#pragma once

#include "kernels/cpu/vendor_blas.hpp"

namespace heptad::cpu {

/// Touches the packing memory of all threads that the library is set to use now, by a product of each type; some
/// milliseconds. Nothing for the other libraries.
void touch_packing_memory(const VendorLibrary& library) noexcept;

}  // namespace heptad::cpu
