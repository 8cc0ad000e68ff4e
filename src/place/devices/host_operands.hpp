// Matrices in host memory, multiplied on a device: C goes by panels of rows, so that one panel is on its way there, one
// is being multiplied and one is on its way back.
#pragma once

#include "place/memory/product.hpp"

namespace heptad {

/// Operands need one contiguous side; anything else is Error(input). The result is in host memory on return.
RunReport multiply_host_operands(double alpha, const ConstView& a, const ConstView& b, double beta, const View& c,
                                 const Options& options, int device, const ProductContext& context);
/// All at once, as the plan says.
RunReport multiply_host_operands(double alpha, const ConstView& a, const ConstView& b, double beta, const View& c,
                                 const ProductPlan& plan, int device, const ProductContext& context);

}  // namespace heptad
