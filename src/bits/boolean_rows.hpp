// The Boolean product where A has few ones: row i of C is the OR of the rows of B that row i of A names. Nothing is
// packed; tables would cost more than they save.
#pragma once

#include "base/thread_pool.hpp"
#include "bits/bit_words.hpp"
#include "bits/work_meter.hpp"

namespace heptad::bits {

/// Is A sparse enough? Looks at every word of it once.
bool has_few_ones(const ConstBitView& a);

/// c = a * b, or c |= a * b. The shapes fit and c overlaps nothing. Throws Error(cancelled).
void multiply_boolean_rows(const ConstBitView& a, const ConstBitView& b, const BitView& c, bool accumulate,
                           ThreadPool& pool, const BitHooks& hooks);

}  // namespace heptad::bits
