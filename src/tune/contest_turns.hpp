// The turns of a contest: everybody still in it runs once in each, there and back (1 2 3, 3 2 1, ...), so that a drift
// of the machine's clock strikes all of them alike. Who is far behind drops out. The fastest library never does,
// because all others are compared with it; nor does the fastest plan that `balanced` may take, unless it is far behind
// the library: those ahead of it are none that the usual accuracy can have instead.
#pragma once

#include <functional>
#include <vector>

namespace heptad {

struct TurnTaker {
    std::function<double()> run;  // once, or several times; tells the seconds of one call
    bool is_library = false;
    bool is_balanced = false;          // a plan with levels that `balanced` allows
    std::vector<double> seconds = {};  // of each turn
    double spent_s = 0;                // in the last one, with all there is around the call
};

struct TurnRules {
    int most_turns = 7;
    double most_s = 1;  // about; one turn is taken in any case
    /// Asked once, when these are over: if so, as many turns and seconds are added. Not asked again before the end, so
    /// that nobody wins by being looked at more often.
    std::function<bool()> in_doubt = [] { return false; };
    /// Before each of them: lets the threads of the one before fall asleep.
    std::function<void()> settle = [] {};
    std::function<double()> clock_s;  // ever rising
};

void take_turns(std::vector<TurnTaker>& all, const TurnRules& rules);

}  // namespace heptad
