// What a product of packed bit matrices on a device is carried out with: the sizes of its leaves, and where in the
// workspace everything lies. Made from its plan and from how A lies; needs no device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <heptad/heptad.hpp>

#include "kernels/bits/leaf.hpp"
#include "kernels/bits/level_program.hpp"
#include "kernels/cuda/bits/bit_passes.hpp"
#include "kernels/cuda/bits/bit_verbs.hpp"
#include "run/bits/bit_launch.hpp"

namespace heptad {

/// Each side of a product on a device is below this: counts are 32-bit integers, and so are coordinates of copies.
inline constexpr std::int64_t kMostBitSide = std::int64_t{1} << 31;
inline constexpr int kMostSerialBitLevels = 2, kMostParallelBitLevels = 4;
/// Rows of k and of n are moved 16 bytes at a time.
inline constexpr std::int64_t kBitUnit = 128;
/// A panel of B that is transposed at a time is a multiple of the leaf's tile.
inline constexpr std::int64_t kBitPanelUnit = 256;

struct BitDeviceProblem {
    cuda::BitOperation operation = cuda::BitOperation::parity;
    ProblemSize size;
    /// A begins on a 16-byte boundary and so do its rows; otherwise a product without levels copies what of it is
    /// multiplied at a time.
    bool aligned = true;
};

/// Over gf2 and bool.
inline cuda::BitOperation bit_operation(Type algebra, bool count = false) {
    return count                  ? cuda::BitOperation::count
           : algebra == Type::gf2 ? cuda::BitOperation::parity
                                  : cuda::BitOperation::any;
}

/// Part of the workspace, in words.
struct BitRegion {
    std::int64_t offset = 0, words = 0;
};

struct BitDeviceLaunch {
    BitDeviceProblem problem;
    const bits::LevelProgram* program = nullptr;  // null: classical
    int serial_levels = 0, parallel_levels = 0;
    std::string leaf;
    bits::LeafShape shape;  // of a leaf; 2^levels times that is the padded product
    PanelCut panels;        // without levels
    // Regions: the operands of all leaves of a sub-product, their results, and which tiles of C are not all ones yet.
    BitRegion left{}, right{}, result{}, open_tiles{};

    int levels() const { return serial_levels + parallel_levels; }
    std::int64_t workspace_bytes() const { return 8 * (left.words + right.words + result.words + open_tiles.words); }
    /// Without levels: where the panel of k ends that begins at `first_k`.
    std::int64_t panel_end(std::int64_t first_k) const;
};

/// The smallest leaves that cover a product with so many levels.
bits::LeafShape bit_device_leaf(const ProblemSize& size, int levels);
/// Lays the workspace of all the rest out. Throws Error(input) for sizes that overflow.
void lay_out(BitDeviceLaunch& launch);

/// Of a plan that was made here or passed check_bit_device_plan(), for an A that lies so. Throws Error(usage) for an
/// unaligned one that the workspace of the plan does not hold a copy of.
BitDeviceLaunch bit_device_launch(const ProductPlan& plan, bool aligned);
/// The plan that is carried out so, with the bytes that it takes; nothing is predicted.
ProductPlan plan_of(const BitDeviceLaunch& launch);

/// Throws Error(input) if a plan, which may come from anywhere, is none of packed bits on a device.
void check_bit_device_plan(const ProductPlan& plan);
/// The same, or on this processor.
inline void check_packed_plan(const ProductPlan& plan) {
    is_on_device(plan) ? check_bit_device_plan(plan) : bits::check_bit_plan(plan);
}

/// The levels of each pass of an expanding layer, the outermost first; a compressing layer goes the other way.
std::vector<int> bit_pass_levels(int parallel_levels);

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
