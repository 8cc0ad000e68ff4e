// What is decided for a product of packed bit matrices on a device: levels, leaf, the sizes they are padded to, and
// where in the workspace everything lies. Needs no device.
//
// d_s serial levels come first: 7^d_s sub-products one after another, each read straight from A and B in the standard
// basis and added to C at once. Below them d_p parallel levels: all sums of two levels in one pass, all 7^d_p leaf
// products in one launch.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <heptad/heptad.hpp>

#include "kernels/bits/leaf.hpp"
#include "kernels/bits/level_program.hpp"
#include "kernels/cuda/bits/bit_passes.hpp"
#include "kernels/cuda/bits/bit_verbs.hpp"
#include "plan/model/machine.hpp"

namespace heptad {

struct BitDeviceProblem {
    cuda::BitOperation operation = cuda::BitOperation::parity;
    ProblemSize size;
    /// A begins on a 16-byte boundary and so do its rows; otherwise a product without levels copies what of it is
    /// multiplied at a time.
    bool aligned = true;
};

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

/// What the planner knows of a device.
struct BitDeviceFacts {
    std::string leaf = "wgmma";         // the best one there
    double operations_per_s = 12.8e15;  // of long leaf products: 2 m k n of them
    double bytes_per_s = 3.6e12;        // read and written by passes
    double launch_s = 4e-6;
    int multiprocessors = 132;
    /// What `heptad tune` measured there. Predictions are corrected by the nearest sample of the same split.
    std::vector<BitSplitSample> measured = {};
    std::vector<BitHostSample> measured_at_host = {};  // likewise, of cuts at the host
};

/// Part of the workspace, in words.
struct BitRegion {
    std::int64_t offset = 0, words = 0;
};

struct BitDevicePlan {
    BitDeviceProblem problem;
    const bits::LevelProgram* program = nullptr;  // null: classical
    int serial_levels = 0, parallel_levels = 0;
    std::string leaf;
    bits::LeafShape shape;           // of a leaf; 2^levels times that is the padded product
    std::int64_t panel_k = 0;        // without levels: rows of B
    std::int64_t panel_cols = 0;     // and columns of B that are transposed at a time
    std::int64_t first_panel_k = 0;  // of a Boolean product that ends early where C is all ones; 0: it does not
    BitRegion left, right, result;   // the operands of all leaves of a sub-product, and their results
    BitRegion open_tiles;            // which tiles of C are not all ones yet
    double predicted_s = 0;

    int levels() const { return serial_levels + parallel_levels; }
    std::int64_t workspace_bytes() const { return 8 * (left.words + right.words + result.words + open_tiles.words); }
    /// Without levels: where the panel of k ends that begins at `first_k`.
    std::int64_t panel_end(std::int64_t first_k) const;
    /// One line; d_h, d_s, d_p and d_i as P3 names them.
    std::string to_string() const;
};

/// Each side of a product on a device is below this: counts are 32-bit integers, and so are coordinates of copies.
inline constexpr std::int64_t kMostBitSide = std::int64_t{1} << 31;
inline constexpr int kMostSerialBitLevels = 2, kMostParallelBitLevels = 4;

/// The levels of each pass of an expanding layer, the outermost first; a compressing layer goes the other way.
std::vector<int> bit_pass_levels(int parallel_levels);

/// Throws Error(usage) for options that cannot be meant, Error(input) for sizes that overflow, and Error(resource) with
/// the bytes needed where the workspace limit is too low.
BitDevicePlan plan_bit_device_product(const BitDeviceProblem& problem, const BitDeviceOptions& options,
                                      const BitDeviceFacts& facts = {});

/// Reads what to_string() printed, for operands on 16-byte boundaries; sizes of leaves, workspace and prediction follow
/// from the rest. Throws Error(input).
BitDevicePlan parse_bit_device_plan(const std::string& text, const BitDeviceFacts& facts = {});

/// Which quarters each product of one level takes, as passes want it.
template <class Terms>
cuda::BitLevelMasks bit_level_masks(const LevelTerms& level, Terms ProductTerms<int>::*of) {
    cuda::BitLevelMasks masks{};
    for (const BlockProduct& product : level.products) {
        for (const auto& term : product.*of) {
            masks.of[product.product][term.block] = ~std::uint32_t{0};
        }
    }
    return masks;
}

}  // namespace heptad
