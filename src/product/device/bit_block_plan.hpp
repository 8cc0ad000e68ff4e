// The product of blocks of packed bits that an NVIDIA device is asked for by the pipelines, in the words of their
// options.
#pragma once

#include <heptad/bits.hpp>

#include "plan/model/plan.hpp"
#include "product/device/bit_device_plan.hpp"
#include "run/bits/bit_plan.hpp"

namespace heptad {

/// Blocks lie in rows of whole lines; `aligned` is for callers whose A may lie otherwise. Throws like
/// plan_bit_device_product().
BitDevicePlan plan_bit_block(Type algebra, const ProblemSize& block, const bits::BitOptions& options,
                             std::int64_t workspace_limit_bytes, const BitDeviceFacts& facts, bool aligned = true);

/// What was decided for a block, and the options that decide the same.
ProductPlan block_plan_of(const BitDevicePlan& plan);
ProductPlan block_plan_of(const bits::BitPlan& plan);
bits::BitOptions bit_options_of(const ProductPlan& block);

}  // namespace heptad
