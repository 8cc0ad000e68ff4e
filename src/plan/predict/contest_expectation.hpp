// What to expect of a contest before anybody runs. Where the clock moves by a tenth within seconds, the few turns that
// a large product has time for leave a doubt as large as the gain, although smaller products have shown what levels
// gain on this machine. So what they showed counts too.
#pragma once

#include "plan/model/machine.hpp"
#include "plan/predict/contest.hpp"

namespace heptad {

/// Fills in the expected times of plans that only halve, if such plans took part in a contest of a square at least half
/// as large as this one: the prediction of the cost model, which that contest has corrected, and its doubt, to which
/// the step in size adds. The description does not know this contest yet.
void expect_times(Contest& contest, const Machine& machine);

}  // namespace heptad
