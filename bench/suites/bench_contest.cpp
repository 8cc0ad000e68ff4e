#include "bench/suites/bench_contest.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "base/idle_threads.hpp"
#include "base/timing.hpp"

namespace heptad::cli {
namespace {

constexpr double kMostCallsPerSample = 1e7;

double seconds_of(const Contestant& contestant, std::int64_t calls) {
    if (contestant.run_timed) {
        return contestant.run_timed(calls);
    }
    const auto start = Clock::now();
    contestant.run(calls);
    return seconds_since(start);
}

/// Where one sample was asked for, the first call of a product that takes so long is that sample: how cold it begins
/// does not show, and a second one may take minutes.
constexpr double kLongEnoughToCount_s = 10;

/// Runs the contestant warm and finds how many calls fill a sample.
std::int64_t warm_up(const Contestant& contestant, const ContestRules& rules, double& call_s) {
    std::int64_t calls = 1;
    call_s = seconds_of(contestant, calls);
    if (call_s > rules.long_call_s) {
        return 1;  // long enough to be warm at its end
    }
    for (;;) {
        const double seconds = seconds_of(contestant, calls);
        call_s = seconds / static_cast<double>(calls);
        if (call_s > rules.repeat_below_s) {
            return 1;
        }
        if (seconds >= rules.sample_s / 4 || static_cast<double>(calls) * 4 > kMostCallsPerSample) {
            const double wanted = std::ceil(rules.sample_s / std::max(call_s, 1e-9));
            return static_cast<std::int64_t>(std::clamp(wanted, 1.0, kMostCallsPerSample));
        }
        calls *= 4;
    }
}

}  // namespace

std::vector<Timing> run_contest(const std::vector<Contestant>& contestants, const ContestRules& rules,
                                const ContestHooks& hooks) {
    const std::size_t count = contestants.size();
    std::vector<Timing> timings(count);
    std::vector<double> best_s(count, std::numeric_limits<double>::infinity());
    std::vector<bool> running(count, true);
    for (std::size_t i = 0; i < count; ++i) {
        hooks.progress(0, rules.rounds);
        hooks.poison();
        timings[i].name = contestants[i].name;
        timings[i].calls_per_sample = warm_up(contestants[i], rules, best_s[i]);
        if (rules.rounds == 1 && best_s[i] > kLongEnoughToCount_s) {
            timings[i].samples_s.push_back(best_s[i]);
            hooks.after_last_sample(i);
            running[i] = false;
        }
    }
    for (int round = 0; round < rules.rounds; ++round) {
        const bool last = round + 1 == rules.rounds;
        for (std::size_t place = 0; place < count; ++place) {
            const std::size_t i = (place + static_cast<std::size_t>(rules.rounds - 1 - round)) % count;
            if (!running[i]) {
                continue;
            }
            hooks.progress(round, rules.rounds);
            hooks.poison();
            if (rules.pause_s > 0) {
                std::this_thread::sleep_for(std::chrono::duration<double>(rules.pause_s));
                wait_until_idle();
            }
            const double seconds = seconds_of(contestants[i], timings[i].calls_per_sample);
            timings[i].samples_s.push_back(seconds / static_cast<double>(timings[i].calls_per_sample));
            best_s[i] = std::min(best_s[i], timings[i].samples_s.back());
            if (last) {
                hooks.after_last_sample(i);
            }
        }
        double fastest_s = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < count; ++i) {
            if (contestants[i].may_drop_out) {
                fastest_s = std::min(fastest_s, best_s[i]);
            }
        }
        for (std::size_t i = 0; i < count; ++i) {
            const bool hopeless = best_s[i] > fastest_s * rules.hopeless && best_s[i] > rules.long_call_s;
            running[i] = running[i] && !(contestants[i].may_drop_out && hopeless);
        }
    }
    for (Timing& timing : timings) {
        timing.median_s = median(timing.samples_s);
        const auto [least, most] = std::minmax_element(timing.samples_s.begin(), timing.samples_s.end());
        timing.min_s = *least;
        timing.max_s = *most;
    }
    return timings;
}

std::size_t fastest(const std::vector<Timing>& timings, std::size_t count) {
    const auto better = [](const Timing& x, const Timing& y) {
        return x.samples_s.size() != y.samples_s.size() ? x.samples_s.size() > y.samples_s.size()
                                                        : x.median_s < y.median_s;
    };
    const auto end = timings.begin() + static_cast<std::ptrdiff_t>(count);
    return static_cast<std::size_t>(std::min_element(timings.begin(), end, better) - timings.begin());
}

}  // namespace heptad::cli
