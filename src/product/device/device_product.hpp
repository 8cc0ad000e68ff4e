// Products on an NVIDIA device: of matrices that lie there, in the order of the caller's stream, or of matrices in host
// memory, which are brought there and back.
#pragma once

#include "product/memory/batch.hpp"
#include "product/memory/product.hpp"

namespace heptad {

/// Does this name ("cuda", "cuda:1") mean a device of this file?
bool is_device_product(const std::string& device);

/// The plan for a problem on that device. Needs no device: without one, the figures of an H200 are taken.
ProductPlan plan_device_product(std::int64_t m, std::int64_t k, std::int64_t n, Type type, const Options& options,
                                const ProductContext& context);

/// On the device that the options name, or on this processor.
ProductPlan plan_where_asked(const ProblemSize& size, Type type, const Options& options, const ProductContext& context);
/// The same of a block as large as the share of one of so many nodes.
ProductPlan plan_of_share(const ProblemSize& size, Type type, std::int64_t nodes, const Options& options,
                          const ProductContext& context);

/// The product on the device that the options name. All three matrices lie there, and the product is only enqueued on
/// context.stream; or all three lie in host memory, and the result is there when this returns.
RunReport multiply_on_device(const Product& product, const Options& options, const ProductContext& context);
RunReport multiply_on_device(const Product& product, const ProductPlan& plan, int device,
                             const ProductContext& context);
inline RunReport multiply_on_device(Factor alpha, const ConstView& a, const ConstView& b, Factor beta, const View& c,
                                    const Options& options, const ProductContext& context) {
    return multiply_on_device({alpha.real(), a, b, beta.real(), c, {alpha.imag(), beta.imag()}}, options, context);
}
inline RunReport multiply_on_device(Factor alpha, const ConstView& a, const ConstView& b, Factor beta, const View& c,
                                    const ProductPlan& plan, int device, const ProductContext& context) {
    return multiply_on_device({alpha.real(), a, b, beta.real(), c, {alpha.imag(), beta.imag()}}, plan, device, context);
}

/// As the plan says, without a look at where the matrices lie: of memory that a graph under capture will have, CUDA
/// does not tell. Preconditions: the product is valid, the plan is one for it, and its matrices lie on that device.
RunReport enqueue_on_device(const Product& product, const ProductPlan& plan, int device, const ProductContext& context);

/// The number of the NVIDIA device that the first of them lies on; where none lies on one, `otherwise`.
int device_of_operands(const ConstView& a, const ConstView& b, const ConstView& c, int otherwise);

/// A batch, likewise all on the device or all in host memory.
void multiply_batch_on_device(const ProductBatch& batch, const Options& options, const ProductContext& context);

/// Growth of a plan's errors as it is expected on that device.
double expected_growth_on_device(const ProductPlan& plan, int device);

}  // namespace heptad
