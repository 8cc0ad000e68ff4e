// The implementations of J. Li, S. Ranka, S. Sahni, Strassen's Matrix Multiplication on GPUs ("P0"), as plans for any
// backend: C = A*B of square matrices, depth first, two temporaries per level. With P0's thresholds
//
//   n <= tau1           the classical product
//   tau1 < n <= tau2    one level by figure 4 (strassen) or figure 5 (winograd), whose additions follow the product
//                       that they belong to in one pass: P0's mulIncInc, mulStoreDec ...
//   tau2 < n            a level by figure 8 or 15, combines with two outputs in one pass, over products of half the
//   size
//
// Figures 4 and 8 keep sums of A and B in blocks of C, so C is written before A and B could be judged. That is right
// for C = A*B, which never needs the old C: backends look at A and B first, and the classical product writes all of C
// again where the sums cannot be trusted. P0 has no form that adds to C, so there is none here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/model/machine.hpp"
#include "plan/model/plan.hpp"
#include "plan/model/problem.hpp"

namespace heptad {

struct P0Thresholds {
    std::int64_t tau1 = 0, tau2 = 0;
    bool operator==(const P0Thresholds&) const = default;
};

/// Those that make exactly `levels` levels of a product of size n; tau1 = tau2 / 2 as in P0's experiments where n is a
/// power of two. Throws Error(usage) unless 0 <= levels and n >= 2^levels.
P0Thresholds p0_thresholds(std::int64_t n, int levels);

/// The levels of a product of size n. Throws Error(usage) unless 1 <= tau1 <= tau2 and the algorithm is strassen or
/// winograd.
std::vector<LevelPlan> p0_levels(std::int64_t n, const std::string& algorithm, const P0Thresholds& thresholds);

/// The plan for n x n matrices of f32 or i32. The options say backend, leaf and workspace limit; what an odd size
/// leaves over is peeled off. Throws Error(usage) for other types, for a negative size, for options.accumulate and as
/// p0_levels does, Error(resource) where the workspace limit is too low.
ProductPlan p0_plan(std::int64_t n, Type type, const std::string& algorithm, const P0Thresholds& thresholds,
                    const Options& options, const Machine& machine);

}  // namespace heptad
