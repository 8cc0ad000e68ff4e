// The same product with all three matrices on the device already: what a product from host memory to host memory is
// measured against.
#pragma once

#include <functional>
#include <string>

#include "base/matrix.hpp"
#include "bench/suites/bench_contest.hpp"

namespace heptad::cli {

struct InCoreTimes {
    Timing timing;
    std::string plan;
    double error_bound = 0;
};

/// Brings A and B to the device, times the product there by the device's own clock and gives all memory back.
InCoreTimes time_in_core(const Matrix& a, const Matrix& b, const Options& options, const ContestRules& rules,
                         const std::function<void(int round, int rounds)>& progress);

/// The same of random matrices that are made there.
InCoreTimes time_in_core(Type type, const ProblemSize& size, const Options& options, const ContestRules& rules,
                         const std::function<void(int round, int rounds)>& progress);

}  // namespace heptad::cli
