// The check of packed bits while their product passes through memory; see streamed_check.hpp.
//
// gf2: Freivalds' test with 64 random vectors, exact. bool: rows of every tile, drawn at random, are recomputed.
#pragma once

#include <memory>

#include "check/streamed_lanes.hpp"

namespace heptad {

std::unique_ptr<StreamedLanes> make_bit_lanes(Type algebra, std::int64_t columns, int threads);

}  // namespace heptad
