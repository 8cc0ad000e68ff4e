// 64 products of a bit matrix with a vector at once, over GF(2): the work of Freivalds' test for packed bits.
#pragma once

#include <cstdint>
#include <vector>

#include <heptad/bits.hpp>

#include "base/thread_pool.hpp"

namespace heptad::check {

/// sums[i] ^= the x[j] with v(i, j) = 1, for all rows of v; x has v.cols words or more.
void add_bit_lanes(const ConstBitView& v, const std::vector<std::uint64_t>& x, std::uint64_t* sums, ThreadPool& pool);

}  // namespace heptad::check
