// Who takes part in a contest. Every entrant costs seconds of `heptad tune`, so only plans that can be expected to be
// near the best of them do.
#pragma once

#include <cstddef>
#include <vector>

#include "plan/model/machine.hpp"
#include "plan/model/problem.hpp"
#include "plan/predict/contest.hpp"

namespace heptad {

/// One who would take part.
struct ContestCandidate {
    ContestPlan plan;
    double predicted_s = 0;
    bool is_balanced = false;  // has levels, and `balanced` allows them
};
/// The first so many of them, with the last place kept for the first that is balanced if no other is: the usual
/// accuracy must have someone to choose.
std::vector<ContestPlan> take_places(std::vector<ContestCandidate> candidates, std::size_t places);

struct EntrantLimits {
    std::size_t most_libraries = 3, most_others = 4;
    /// The first choice of the cost model takes part. It is the most hopeful of thousands of sums and rarely as good:
    /// not where a turn takes seconds.
    bool has_model_choice = true;
    /// Beside the first of the others, its leaf with one level more and with one less (but not without any) takes part:
    /// predictions err most in how many levels pay.
    bool has_neighbours = false;
};

/// The libraries with their own threads; the other classical products, one to three halvings over each leaf, what the
/// contests so far lead to and the first choice of the model. Of either kind those with the least predicted time, and
/// among the others one whose levels `balanced` allows.
std::vector<ContestPlan> contest_entrants(const Problem& problem, const Machine& machine, const EntrantLimits& limits);

}  // namespace heptad
