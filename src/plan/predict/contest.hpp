// A contest: whole plans for one real problem, run in turns, and the verdict. Each plan is compared with the library's
// product of the same turn, because two who run one after the other share what the machine did meanwhile; the median
// over the turns counts, and so does how far that median may be off.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <heptad/heptad.hpp>

namespace heptad {

/// A plan that takes part: its levels, all of them breadth first, and its leaf.
struct ContestPlan {
    std::vector<std::string> algorithms;  // from the outside; none: the classical product
    std::string leaf;
    bool operator==(const ContestPlan&) const = default;
};

/// What a plan took in each turn, from the first on; one that drops out has fewer.
struct ContestTurns {
    ContestPlan plan;
    std::vector<double> seconds;
};

struct ContestTrial {
    ContestPlan plan;
    int turns = 0;
    double relative_time = 1;  // to the library's product in the same turn: the median
    double doubt = 0;          // how far that median may be off: the distance of the quartiles over the root of turns
    /// What smaller contests made expect of it before it ran, and how far that may be off; infinitely: nothing.
    double expected_time = 1, expected_doubt = std::numeric_limits<double>::infinity();
    bool operator==(const ContestTrial&) const = default;
};

/// A time relative to the library's and how far it may be off.
struct ContestEstimate {
    double time = 1, doubt = 0;
};
/// What was measured and what was expected, each as far as it can be trusted.
ContestEstimate estimate(const ContestTrial& trial);

/// A gain above this relative time is not worth leaving the library for: it cannot lose against itself.
inline constexpr double kNoticeable = 0.97;
/// Contests of squares double their sizes, so that between two of them one is always near; in octaves.
inline constexpr double kReach = 0.6;

struct Contest {
    Type type = Type::f32;
    std::int64_t m = 0, k = 0, n = 0;
    double first_trial_s = 0;          // median seconds
    std::vector<ContestTrial> trials;  // first the library's classical product, then the others from the fastest on
    double noticeable = kNoticeable;
    double reach = kReach;  // problems further away than that, in octaves, are not decided by it
    bool operator==(const Contest&) const = default;
};

/// The verdict. The library is the fastest leaf that brings its own threads, or the fastest classical product where
/// there is none. Each plan has had one turn at least and one of them is classical.
Contest judge(Type type, std::int64_t m, std::int64_t k, std::int64_t n, const std::vector<ContestTurns>& plans);

/// Fewer turns say nothing about how far they may be off, and decide nothing.
constexpr int kFewestTurns = 3;
/// Faster than the library beyond doubt, and by more than nobody would notice.
bool beats_the_library(const ContestTrial& trial, double noticeable = kNoticeable);
/// Somebody who still takes part is ahead of the library, but not beyond doubt: more turns may tell.
bool is_in_doubt(const Contest& contest);

/// The contest whose sizes are all within its reach (a factor of about 1.5) of these, the nearest of them; nullptr:
/// there is none.
const Contest* nearest_contest(const std::vector<Contest>& contests, Type type, std::int64_t m, std::int64_t k,
                               std::int64_t n);

}  // namespace heptad
