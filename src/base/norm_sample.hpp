// Which values of a row of A or a column of B a device adds up, so that it knows a lower bound on the norm of each:
// runs of neighbours that are read in whole sectors, in equal distances. What lies between them may be zero.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/evenness_facts.hpp"

namespace heptad {

/// One run of so many: all of short lines, and a sixteenth of long ones, which costs 0.1 % of a product of n = 24000 in
/// bf16 on an H200.
inline std::int64_t norm_run_distance(std::int64_t k) {
    constexpr std::int64_t kMost = 16;
    return std::clamp<std::int64_t>(k / kSampledForTails, 1, kMost);
}
inline std::int64_t norm_places(std::int64_t k) {
    const std::int64_t distance = norm_run_distance(k) * kLineElements;
    const std::int64_t whole = k / distance;
    return whole * kLineElements + std::min<std::int64_t>(k - whole * distance, kLineElements);
}

/// Levels are taken for even data only if the largest values of A'' and B'' are at most so many times the rms of what
/// was added up of any row of A, times that of any column of B. For the largest of 2^28 normal numbers it is about 60,
/// seven times as much where lines are left alone with 0.7 powers of two each.
inline constexpr double kMostAboveRms = 512;

/// So that, with R and S those of the longest row of A'' and column of B'',
///   R S <= k max|A''| max|B''| <= k kMostAboveRms rms_i rms_j <= most_above_norms(k) 2^rows(i) |a_i| 2^cols(j) |b_j|.
inline double most_above_norms(std::int64_t k) {
    return kMostAboveRms * static_cast<double>(k) / static_cast<double>(std::max<std::int64_t>(norm_places(k), 1));
}

}  // namespace heptad
