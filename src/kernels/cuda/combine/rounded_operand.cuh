// Operands of tf32 that the copy engine rounds while it fetches them.
#pragma once

#include "kernels/cuda/device/device_code.cuh"

namespace heptad::cuda {

/// It rounds f32 to the nearest tf32, but makes infinities of the largest. So an operand whose lines it can read is
/// rounded on its way where the guard has noted its largest value, in this word, and that stays finite; where powers of
/// two stand beside it, the word is of something else.
constexpr double kLargestRounded = 0x1.ffcp127;
__device__ __forceinline__ bool is_rounded_on_its_way(const Guard& guard, int word) {
    return word >= 0 && guard.words != nullptr && guard.words->scaled == 0 &&
           kept_value(guard.words->max_bits[word]) < kLargestRounded;  // false for NaN
}

}  // namespace heptad::cuda
