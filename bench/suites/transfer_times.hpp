// The transfers of a product from host memory to host memory with nothing multiplied, by the way that such products
// take: A and B to the device, C back, and both at a time.
#pragma once

#include "base/matrix.hpp"
#include "bench/suites/bench_contest.hpp"
#include "bench/suites/transfer_bound.hpp"

namespace heptad::cli {

/// What C holds afterwards means nothing.
TransferTimes time_transfers(const Matrix& a, const Matrix& b, Matrix& c, int device, const ContestRules& rules);

}  // namespace heptad::cli
