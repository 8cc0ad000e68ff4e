// Products like one that this thread has enqueued before, where those are a single call of cuBLAS in its own workspace:
// what a small product costs beyond that call.
//
//   a look at where A lies      one call of the driver, most of it
//   the current device          one of the runtime
//   shapes, plan, backend       tens of nanoseconds; no allocation
//
// Nothing is called that a stream under capture would refuse.
#pragma once

#include <memory>

#include "product/memory/product.hpp"

namespace heptad {

/// False: nothing was done; take multiply_on_device(). The device may be named, or open ("auto").
bool repeat_on_device(const Product& product, const Options& options, const ProductContext& context);

/// Such a product was enqueued on the device as the plan says, and where it is one call it may come again.
void keep_for_repeats(const Product& product, const std::shared_ptr<const ProductPlan>& plan, const Options& options,
                      int device, const ProductContext& context);

}  // namespace heptad
