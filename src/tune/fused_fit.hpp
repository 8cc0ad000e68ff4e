// The parameters of the model of a fused kernel from a few times of single products: each is where one of them decides.
//
//   two depths, one term              the rate of full waves
//   few waves, one and two targets    what an update of C costs beside it
//   a second term on each side        what an addition costs
//   four terms on each side           what memory and the L2 cache give
//   one block on each multiprocessor  the rate of lone blocks
//   rows that do not begin on 16-byte boundaries
//   the same in tiles that end beyond it  what asking for every element costs
//   few waves, added in any order         what an atomic update costs
//   four products at once, one target     what waiting for an update costs
#pragma once

#include <functional>

#include "plan/model/machine.hpp"
#include "plan/search/fused_instances.hpp"

namespace heptad {

/// One product of m x k by k x n with so many terms and targets, launched alone, or several.
struct FusedTrial {
    OperandCounts counts;
    std::int64_t m = 0, k = 0, n = 0;
    bool misaligned = false;
    FusedOrder order = FusedOrder::serial;
    int products = 1;         // of that shape in one call
    bool one_target = false;  // all of them update the same ones
};
using FusedStopwatch = std::function<double(const FusedTrial&)>;

/// Rows and columns in whole tiles, as close to a square of `side` as fills every wave completely.
struct WholeWaves {
    std::int64_t rows = 0, cols = 0;  // tiles down and across
};
WholeWaves whole_waves(const FusedProfile& profile, const FusedDevice& device, std::int64_t side);

/// `profile` has its type, tile, shape and limits; the rest is filled in. `device` has its launch time. `more_k`
/// is added to the k of all trials.
FusedProfile fit_fused_profile(FusedProfile profile, const FusedDevice& device, const FusedStopwatch& seconds,
                               std::int64_t more_k = 0);

}  // namespace heptad
