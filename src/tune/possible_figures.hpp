// Figures that cannot be true, whatever the clocks said: a product that is slower than plain loops on one thread, or
// faster than the processor, or far below both the next smaller and the next larger square.
#pragma once

#include "plan/model/machine.hpp"

namespace heptad {

struct PossibleRates {
    double least_flops = 0;     // of products whose sizes are all kThick or more
    double most_flops = 1e300;  // of any
};
inline constexpr std::int64_t kThick = 128;

/// Multiplications and additions per second of the plainest loop, by the processor time of this thread.
double plain_loop_flops();

/// Replaces figures that cannot be true by what `before` says of that leaf there. How many they were.
int replace_impossible(LeafProfile& profile, const PossibleRates& rates, const Machine& before);

}  // namespace heptad
