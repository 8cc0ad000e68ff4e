// The products that `heptad bench gpu` runs when none are named.
#pragma once

#include <vector>

#include <heptad/heptad.hpp>

namespace heptad::cli {

/// Squares, odd squares, families in which only k or only m = n grows, and thin products; none twice.
std::vector<ProblemSize> gpu_suite(Type type, bool quick);

}  // namespace heptad::cli
