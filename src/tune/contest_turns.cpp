#include "tune/contest_turns.hpp"

#include <algorithm>
#include <limits>

namespace heptad {
namespace {

/// A busy neighbour only ever adds, so the least time of each tells who is behind. After a single turn it may be his,
/// or that of a library whose second thread was woken on the core of the first.
constexpr double kFarBehindAtFirst = 2.5, kFarBehind = 1.15;

}  // namespace

void take_turns(std::vector<TurnTaker>& all, const TurnRules& rules) {
    std::vector<std::size_t> running(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        running[i] = i;
    }
    const double start_s = rules.clock_s();
    int share = 1;  // how many times the turns and seconds of the rules
    const auto is_over = [&](int turn) {
        double turn_s = 0;
        for (const std::size_t i : running) {
            turn_s += all[i].spent_s;
        }
        const bool has_time = turn == 0 || rules.clock_s() - start_s + turn_s <= share * rules.most_s;
        return turn >= share * rules.most_turns || !has_time;
    };
    for (int turn = 0;; ++turn) {
        if (is_over(turn) && share == 1 && rules.in_doubt()) {
            share = 2;
        }
        if (is_over(turn)) {
            break;
        }
        for (const std::size_t i : running) {
            const double before_s = rules.clock_s();
            rules.settle();
            all[i].seconds.push_back(all[i].run());
            all[i].spent_s = rules.clock_s() - before_s;
        }
        std::vector<double> least(all.size());
        double fastest = std::numeric_limits<double>::infinity(), fastest_library = fastest, fastest_balanced = fastest;
        for (const std::size_t i : running) {
            least[i] = *std::min_element(all[i].seconds.begin(), all[i].seconds.end());
            fastest = std::min(fastest, least[i]);
            fastest_library = all[i].is_library ? std::min(fastest_library, least[i]) : fastest_library;
            fastest_balanced = all[i].is_balanced ? std::min(fastest_balanced, least[i]) : fastest_balanced;
        }
        const double far_behind = turn == 0 ? kFarBehindAtFirst : kFarBehind;
        std::erase_if(running, [&](std::size_t i) {
            const bool keeps_its_place =
                (all[i].is_library && least[i] == fastest_library) ||
                (all[i].is_balanced && least[i] == fastest_balanced && least[i] <= far_behind * fastest_library);
            return least[i] > far_behind * fastest && !keeps_its_place;
        });
        std::reverse(running.begin(), running.end());
    }
}

}  // namespace heptad
