#include "kernels/cpu/vendor_blas_memory.hpp"

#include <memory>
#include <new>

namespace heptad::cpu {
namespace {

/// From here on the last few panels, which are all that suffers, do not show.
constexpr int kSide = 320;

template <class T>
void multiply_zeros(CblasGemm<T> gemm) {
    constexpr int row_major = 101, as_is = 111;
    constexpr std::size_t count = std::size_t{kSide} * kSide;
    const std::unique_ptr<T[]> operands(new (std::nothrow) T[2 * count]());
    if (operands) {  // without, products are slower at first and that is all
        gemm(row_major, as_is, as_is, kSide, kSide, kSide, T(1), operands.get(), kSide, operands.get(), kSide, T(0),
             operands.get() + count, kSide);
    }
}

}  // namespace

void touch_packing_memory(const VendorLibrary& library) noexcept {
    if (library.vendor == Vendor::openblas) {
        multiply_zeros(library.sgemm);
        multiply_zeros(library.dgemm);
    }
}

}  // namespace heptad::cpu
