// Several products without leaving the packed layout and the basis between them (P3 2.3).
#pragma once

#include <vector>

#include "bits/bit_product.hpp"

namespace heptad::bits {

BitMatrix multiply_chain(Type algebra, const std::vector<ConstBitView>& factors, const BitOptions& options,
                         const BitContext& context);
BitMatrix raise(Type algebra, const ConstBitView& a, std::int64_t exponent, const BitOptions& options,
                const BitContext& context);

}  // namespace heptad::bits
