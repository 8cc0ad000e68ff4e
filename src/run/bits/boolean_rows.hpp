// The Boolean product where A has hardly any ones: row i of C is the OR of the rows of B that row i of A names. Nothing
// is packed, because a row of B is not met often enough to repay it.
#pragma once

#include "base/bit_words.hpp"
#include "base/thread_pool.hpp"
#include "run/work_meter.hpp"

namespace heptad::bits {

/// Is a row of B used once or less, on an average? Reads A until it is not.
bool meets_rows_once(const ConstBitView& a);

/// c = a * b, or c |= a * b. The shapes fit and c overlaps nothing. Throws Error(cancelled).
void multiply_boolean_rows(const ConstBitView& a, const ConstBitView& b, const BitView& c, bool accumulate,
                           ThreadPool& pool, const RunHooks& hooks);

}  // namespace heptad::bits
