// Several products one after another, without leaving the packed layout between them where that is predicted to be
// faster, and without leaving the basis where it chains (P3 2.3).
#pragma once

#include <vector>

#include "run/bits/bit_product.hpp"

namespace heptad::bits {

BitMatrix multiply_chain(Type algebra, const std::vector<ConstBitView>& factors, const BitOptions& options,
                         const BitContext& context);
BitMatrix raise(Type algebra, const ConstBitView& a, std::int64_t exponent, const BitOptions& options,
                const BitContext& context);
/// The power of a checked square matrix, exponent 2 or more, with the first plan of a chain.
BitMatrix raise_by(const ChainPlan& chain, const ConstBitView& a, std::int64_t exponent, const RunHooks& hooks);

}  // namespace heptad::bits
