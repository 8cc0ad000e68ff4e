// Matrices in host memory, multiplied on a device that holds all of them. Large ones arrive and leave in parts, beside
// the products (plan/search/transfer_schedule): straight where the caller has locked the pages, else through small
// locked buffers that all cores fill and empty (staging).
#pragma once

#include "plan/search/transfer_schedule.hpp"
#include "product/memory/product.hpp"

namespace heptad {

/// Operands need one contiguous side; anything else is Error(input). The result is in host memory on return.
RunReport multiply_host_operands(Factor alpha, const ConstView& a, const ConstView& b, Factor beta, const View& c,
                                 const Options& options, int device, const ProductContext& context);
/// As the plan says: by its transfers, or all at once.
RunReport multiply_host_operands(Factor alpha, const ConstView& a, const ConstView& b, Factor beta, const View& c,
                                 const ProductPlan& plan, int device, const ProductContext& context);
/// In the steps of a schedule. Preconditions: C is not empty; beta is 0 where blocks are summed (by level).
RunReport multiply_host_operands(Factor alpha, const ConstView& a, const ConstView& b, Factor beta, const View& c,
                                 const TransferSchedule& schedule, const Options& options, int device,
                                 const ProductContext& context);

}  // namespace heptad
