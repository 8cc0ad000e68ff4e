// Many products of one shape whose matrices lie at regular distances.
#pragma once

#include "kernels/backend.hpp"
#include "product/memory/product.hpp"

namespace heptad {

/// The matrices of product i begin i * stride elements after those of the first one. A stride of zero for A or B means
/// one matrix for all.
struct ProductBatch {
    std::int64_t count = 0;
    double alpha = 1;
    ConstView a;
    std::int64_t stride_a = 0;
    ConstView b;
    std::int64_t stride_b = 0;
    double beta = 0;
    View c;
    std::int64_t stride_c = 0;
    Product::Imaginary imaginary = {};
};

Product product_of(const ProductBatch& batch, std::int64_t index);
/// Products `first` and those after it, `count` of them.
std::vector<Product> products_of(const ProductBatch& batch, std::int64_t first, std::int64_t count);

/// Every product is valid, no C meets another C or any A or B, nor the scratch memory any of them.
/// Throws Error(usage) or Error(input).
void validate_batch(const ProductBatch& batch, const ProductContext& context);

/// One after the other as the plan for one says, or many at a time where that has no levels. All cores at work.
void multiply_batch_in_memory(const ProductBatch& batch, const Options& options, const ProductContext& context);

}  // namespace heptad
