// What a launch of fused products hands to the device, for every element type:
//   M = (sum of left terms)(sum of right terms);
//   target = beta * target + addend_coefficient * addend + coefficient * M, for each target
// All products of a launch have one shape (m, k, n). They are cut into tiles of M; tile number i belongs to product
// i / (tiles of one product). Everything here is a kernel parameter, so no table has to be uploaded.
#pragma once

#include <cstdint>

#include "base/fused.hpp"
#include "kernels/cuda/device/cuda_kernels.hpp"

namespace heptad::cuda {

/// An operand is seen as `outer` x `depth`: depth runs along k, outer along m (left) or n (right).
template <class T>
struct FusedTermArgument {
    const T* data;
    T coefficient;              // the first one of a sum is 1
    std::int32_t outer, depth;  // what there is of the block; the rest counts as zero
};

/// Strides of all terms of one side. Elements side by side in memory lie along one of the two, or along none.
struct FusedOperandLayout {
    std::int64_t outer_stride, depth_stride;
    std::int32_t along_depth;  // depth_stride is 1 (or neither is)
    std::int32_t contiguous;   // one stride is 1
    std::int32_t wide;         // and every line of every term begins at a multiple of 16 bytes
};

template <class T>
struct FusedTargetArgument {
    T* data;
    const T* addend;
    T coefficient, beta;      // 0: M is not used, the target is not read
    T addend_coefficient;     // 0: there is no addend
    std::int32_t rows, cols;  // what there is of the block; nothing else is written
    std::int32_t block;       // number of the block among all targets of the launch
    std::int32_t turn;        // updates of that block that come before this one
    /// Updates of that block by products that come before those whose tiles are made in pieces: for tiles that the
    /// first of these has in pieces, and for those that it has whole.
    std::int32_t whole_turns[2];
};

struct FusedTargetLayout {
    std::int64_t row_stride, col_stride;
    std::int32_t wide;  // col_stride is 1 and every row begins at a multiple of 16 bytes
};

struct FusedAddendLayout {
    std::int64_t row_stride, col_stride;
};

struct FusedInstanceArgument {
    std::int16_t left_begin, left_count, right_begin, right_count, target_begin, target_count;
};

enum class FusedUpdate : std::int32_t {
    plain,    // no two products of the launch share a target
    ordered,  // updates of one block wait for their turn, tile by tile
    atomic,   // element-wise additions in any order; every beta is 1
};

template <class T>
struct FusedArguments {
    std::int32_t m, k, n;
    std::int32_t instance_count;
    std::int32_t tiles_down, tiles_across;  // of one product
    std::int32_t whole_tiles, pieces;       // of all products: tiles made by one block each, pieces of the others
    std::int32_t ranges;                    // or else so many equal shares of all the others together
    std::int32_t strip;                     // rows of tiles that are walked column by column, so that L2 holds them
    FusedUpdate update;
    FusedOperandLayout left, right;
    FusedTargetLayout target;
    FusedAddendLayout addend;
    /// With FusedUpdate::ordered or atomic: counters[0] deals out tiles; ordered: counters[1 + block * tiles + tile]
    /// is the number of updates that this tile of the block has had. All zero before the launch.
    std::uint32_t* counters;
    Guard guard;
    /// Where kernels that judge (FusedKernel::judges) tell, as GuardWords keeps it, that a product may be too large for
    /// C or is not finite. Null: not asked.
    unsigned long long* verdict;
    FusedInstanceArgument instances[kMostFusedInstances];
    FusedTermArgument<T> terms[kMostFusedTerms];
    FusedTargetArgument<T> targets[kMostFusedTargets];
};
static_assert(sizeof(FusedArguments<double>) < 32000, "kernel parameters end at 32764 bytes");

}  // namespace heptad::cuda
