// Plans in rounds: everybody still running runs once in each, there and back (1 2 3, 3 2 1, ...), so that a drift of
// the machine's clock strikes all of them alike. Who is far behind drops out. The fastest library never does, because
// all others are compared with it; nor does the fastest plan that `balanced` may take, unless it is far behind the
// library: those ahead of it are none that the usual accuracy can have instead.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "plan/model/machine.hpp"
#include "plan/model/plan.hpp"

namespace heptad {

struct RoundRunner {
    std::function<double()> run;  // once, or several times; tells the seconds of one call
    bool is_library = false;
    bool is_balanced = false;          // a plan with levels that `balanced` allows
    std::vector<double> seconds = {};  // of each round
    double spent_s = 0;                // in the last one, with all there is around the call
};

struct RoundRules {
    int most_rounds = 7;
    double most_s = 1;  // about; one round is run in any case
    /// Asked once, when these are over: if so, as many rounds and seconds are added. Not asked again before the end, so
    /// that nobody wins by being looked at more often.
    std::function<bool()> is_undecided = [] { return false; };
    /// Before each of them: lets the threads of the one before fall asleep.
    std::function<void()> settle = [] {};
    std::function<double()> clock_s;  // ever rising
};

/// Anew, whatever was run before.
void run_rounds(std::vector<RoundRunner>& all, const RoundRules& rules);

/// A time relative to the library's in the same round: two who run one after the other share what the machine did
/// meanwhile.
struct RelativeTime {
    int rounds = 0;
    double median = 1;
    double std_error = 0;  // about that of the median: the distance of the quartiles over the root of the rounds
};
struct RoundResults {
    std::size_t library = 0;  // the fastest of those that are
    double library_s = 0;     // its median
    std::vector<RelativeTime> times;
};
/// Each has had one round at least and one of them is a library.
RoundResults compare_with_library(const std::vector<RoundRunner>& all);

/// Somebody who has not dropped out is ahead of the library by `min_gain`, but not by more than the standard error:
/// more rounds may tell.
bool is_undecided(const RoundResults& results, double min_gain);

/// Adds what the rounds said of the plans for one problem to machine.measured_plans: the library first, then the others
/// from the fastest on. `error_of` carries a plan out and tells its largest error; it is asked where there are levels,
/// whose growth is then recorded.
void record_plans(const std::vector<ProductPlan>& plans, const RoundResults& results,
                  const std::function<double(const ProductPlan&)>& error_of, Machine& machine);

/// Adds what was measured before of one problem.
void keep_rows_of(const Machine& before, Type type, std::int64_t m, std::int64_t k, std::int64_t n, Machine& machine);

}  // namespace heptad
