// The turns of a contest: everybody still in it runs once in each, there and back (1 2 3, 3 2 1, ...), so that a drift
// of the machine's clock strikes all of them alike. Who is far behind drops out; the fastest library never does,
// because all others are compared with it.
#pragma once

#include <functional>
#include <vector>

namespace heptad {

struct TurnTaker {
    std::function<double()> run;  // once, or several times; tells the seconds of one call
    bool is_library = false;
    std::vector<double> seconds = {};  // of each turn
    double spent_s = 0;                // in the last one, with all there is around the call
};

struct TurnRules {
    int most_turns = 7;
    double most_s = 1;  // about; one turn is taken in any case
    /// What it costs to have a turn, in seconds, beyond the calls; run before each of them.
    std::function<void()> settle = [] {};
    std::function<double()> clock_s;  // ever rising
};

void take_turns(std::vector<TurnTaker>& all, const TurnRules& rules);

}  // namespace heptad
