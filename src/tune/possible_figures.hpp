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

/// Replaces figures that cannot be true by what `before` says of that leaf there. How many they were. `beside_others`:
/// the machine was seen busy, so that thick products are not believed to take more than twice as long as before either.
/// What is built in is a guess about libraries, which may have slow kernels, but none about our own.
int replace_impossible(LeafProfile& profile, const PossibleRates& rates, const Machine& before, bool beside_others);

}  // namespace heptad
