#pragma once

#include <heptad/heptad.hpp>

#include "base/types.hpp"

namespace heptad {

/// 2mkn, the operations that an effective rate counts; four times that of complex numbers.
inline double operation_count(const ProblemSize& size, Type type = Type::f32) {
    return (is_complex(type) ? 8.0 : 2.0) * static_cast<double>(size.m) * static_cast<double>(size.k) *
           static_cast<double>(size.n);
}

}  // namespace heptad
