// What is decided for a product of packed bit matrices on a device: levels, leaf, and the sizes they are padded to or
// the panels they are cut into. Needs no device.
//
// d_s serial levels come first: 7^d_s sub-products one after another, each read straight from A and B in the standard
// basis and added to C at once. Below them d_p parallel levels: all sums of two levels in one pass, all 7^d_p leaf
// products in one launch.
#pragma once

#include <limits>

#include <heptad/bits.hpp>

#include "io/device_machine.hpp"
#include "plan/model/machine.hpp"
#include "product/device/bit_device_launch.hpp"

namespace heptad {

struct BitDeviceOptions {
    std::string algorithm = "auto";  ///< over GF(2): classical, winograd, self-inverse, chaining
    int levels = -1;                 ///< -1: as many as pay
    int serial_levels = -1;          ///< of those; -1: as few as the workspace allows
    std::string leaf = "auto";
    /// Without levels: bits of k that are multiplied at a time, at most. Longer sums let the blocks of a launch drift
    /// apart until what they share is no longer in the L2 cache.
    std::int64_t most_panel_k = 65536;
    /// Boolean products with k from sixteen times this on: after so many bits of k, and then after every panel, the
    /// tiles of C that are all ones are finished. 0: every tile is computed to the end.
    std::int64_t first_panel_k = 4096;
    std::int64_t workspace_limit_bytes = std::numeric_limits<std::int64_t>::max();
};

/// What the planner knows of a device; at first, of one that need not be there.
struct BitDeviceFacts {
    std::string leaf = assumed_device().bit_leaf;                     // the best one there
    double operations_per_s = assumed_device().bit_operations_per_s;  // of long leaf products: 2 m k n of them
    double bytes_per_s = assumed_device().bit_bytes_per_s;            // read and written by passes
    double launch_s = assumed_device().bit_launch_s;
    int multiprocessors = assumed_device().multiprocessors;
    /// What `heptad tune` measured there. Predictions are corrected by the nearest sample of the same split.
    std::vector<BitSplitSample> measured = {};
    std::vector<BitHostSample> measured_at_host = {};  // likewise, of cuts at the host
};

/// Throws Error(usage) for options that cannot be meant, Error(input) for sizes that overflow, and Error(resource) with
/// the bytes needed where the workspace limit is too low.
ProductPlan plan_bit_device_product(const BitDeviceProblem& problem, const BitDeviceOptions& options,
                                    const BitDeviceFacts& facts = {});

inline BitDeviceOptions bit_device_options(const bits::BitOptions& options, std::int64_t workspace_limit_bytes) {
    BitDeviceOptions constraints;
    constraints.algorithm = options.algorithm;
    constraints.levels = options.levels;
    constraints.leaf = options.leaf;
    constraints.workspace_limit_bytes = workspace_limit_bytes;
    return constraints;
}

}  // namespace heptad
