// The plan for matrices in host memory on a device that holds all of them, kept from one product to the next.
#pragma once

#include "plan/search/transfer_plan.hpp"
#include "product/memory/product.hpp"

namespace heptad {

/// Small products are not divided: they are over before a second copy would have begun. Where `adds`, C is brought too.
TransferDecision plan_host_operands(const ProblemSize& size, Type type, Type result_type, bool adds,
                                    const Options& options, const ProductContext& context);

/// Seconds from matrices in host memory to a result there.
double predicted_from_host_s(const ProblemSize& size, Type type, Type result_type, bool adds, const Options& options,
                             const ProductContext& context);

}  // namespace heptad
