// Facts of the element types that are not public.
#pragma once

#include <heptad/heptad.hpp>

namespace heptad {

/// 2^-p for a significand of p bits; 0 for exact types. For tf32: of the rounded factors, not of the f32 as stored.
double unit_roundoff(Type type);

}  // namespace heptad
