// Seconds of a whole fused level: P2's model with what was measured in place of the chip's peak rates. Equations (11),
// (12), (20) and (22) with three differences: an addition and an update count as many flops as they were measured to
// cost; the maximum of arithmetic and memory is taken block by block; and in a last wave that is not full, a
// multiprocessor runs at the rate of as many lone blocks as it has, up to its own. The time in shared memory, (21), is
// part of the measured rate. Three terms are not P2's: tiles at the edge of a product take longer, updates of one tile
// by products that end together wait for each other, and atomic ones have a cost of their own.
#pragma once

#include <cstdint>
#include <optional>

#include "plan/model/machine.hpp"
#include "plan/search/fused_instances.hpp"

namespace heptad {

/// Blocks of one level, and how many such levels run in one call.
struct FusedWork {
    std::int64_t m = 0, k = 0, n = 0;
    int levels_together = 1;
    bool even = true;  // no block is shorter than another
};

/// Whether the machine has kernels for that type and so many terms and targets.
bool can_fuse(const Machine& machine, Type type, const OperandCounts& most);

/// All levels of one call, launched in that order, in blocks of that tile.
double fused_seconds(const FusedDevice& device, const FusedProfile& profile, FusedOrder order,
                     const FusedInstances& instances, const FusedWork& work);

/// The tile with the least predicted time, and that time. `asked` other than automatic: that tile only.
struct FusedChoice {
    FusedTile tile = FusedTile::automatic;
    double seconds = 0;
    double misaligned = 1;
    bool judges_result = false;  // nobody has to look at C for infinities and NaN afterwards
};
/// Nothing if the machine has no such kernels.
std::optional<FusedChoice> choose_fused_tile(const Machine& machine, Type type, FusedOrder order, FusedTile asked,
                                             const FusedInstances& instances, const FusedWork& work);

}  // namespace heptad
