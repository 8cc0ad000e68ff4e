// Exact conversions between the 16-bit float formats and f32, round to nearest even; NaN stays NaN.
#pragma once

#include <heptad/heptad.hpp>

namespace heptad {

float to_float(bf16 x);
float to_float(f16 x);
bf16 to_bf16(float x);
f16 to_f16(float x);
/// f32 rounded to the 10 explicit significand bits of tf32.
float round_to_tf32(float x);

}  // namespace heptad
