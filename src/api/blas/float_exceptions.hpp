// The floating-point exceptions of a calling thread while it multiplies here. Predictions divide by zero, scales
// overflow and sums underflow where every entry of the result is right: NumPy would warn of that, and a program that
// traps exceptions (gfortran -ffpe-trap) would die of it.
#pragma once

#include <cfenv>
#include <cmath>
#include <utility>

#include "base/types.hpp"
#include "base/view.hpp"

namespace heptad::blas {

template <class Real>
bool has_infinity(const View& c) {
    const View lines = c.row_stride < c.col_stride ? transposed(c) : c;  // as they lie in memory
    for (std::int64_t i = 0; i < lines.rows; ++i) {
        for (std::int64_t j = 0; j < lines.cols; ++j) {
            const Real* const parts = reinterpret_cast<const Real*>(element_pointer(lines, i, j));
            if (std::isinf(parts[0]) || (is_complex(c.type) && std::isinf(parts[1]))) {
                return true;
            }
        }
    }
    return false;
}

/// Traps nothing and leaves no flag behind, but for the one that a library would leave: an overflow of which the result
/// has infinities. multiply(): was C written? What it throws leaves the traps off.
template <class Multiply>
bool without_float_exceptions(const View& c, Multiply&& multiply) {
    std::fenv_t before;
    std::feholdexcept(&before);
    const bool done = std::forward<Multiply>(multiply)();
    const bool overflows =
        done && std::fetestexcept(FE_OVERFLOW) != 0 &&
        (c.type == Type::f32 || c.type == Type::c64 ? has_infinity<float>(c) : has_infinity<double>(c));
    std::fesetenv(&before);
    if (overflows) {
        std::feraiseexcept(FE_OVERFLOW);
    }
    return done;
}

}  // namespace heptad::blas
