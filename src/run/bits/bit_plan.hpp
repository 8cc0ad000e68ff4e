// What is decided for a product of packed bit matrices: algorithm, levels, leaf and the sizes they are padded to.
#pragma once

#include <vector>

#include <heptad/bits.hpp>

#include "run/bits/bit_launch.hpp"

namespace heptad::bits {

/// Several products one after another.
struct ChainPlan {
    std::vector<ProductPlan> plans;
    bool packed = false;  // nothing leaves the packed layout between two products
    double predicted_s = 0;
};

/// The time is that of a Boolean product whose rows do not fill up. Throws Error(usage) for options that cannot be
/// meant and Error(input) for sizes that overflow.
ProductPlan make_bit_plan(Type algebra, const ProblemSize& size, const BitOptions& options, int threads);

/// The same with as many levels as pay and stay within so many bytes of workspace; with none where not even those do,
/// as the packed copies of the matrices are needed anyway. A number of levels in the options is kept.
ProductPlan make_fitting_bit_plan(Type algebra, const ProblemSize& size, const BitOptions& options, int threads,
                                  std::int64_t limit_bytes);

/// For the products (...(F1 * F2) * F3...) of a chain whose factors are sizes[0] x sizes[1], sizes[1] x sizes[2] ...
/// What is predicted to be the fastest of: products in a basis that chains; products in the usual basis that is
/// left and entered again within the packed layout; separate products. An algorithm in the options leaves the last two.
ChainPlan make_chain_plan(Type algebra, const std::vector<std::int64_t>& sizes, const BitOptions& options, int threads);

}  // namespace heptad::bits
