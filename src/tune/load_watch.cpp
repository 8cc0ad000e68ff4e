#include "tune/load_watch.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

#include "base/cores.hpp"
#include "base/error.hpp"
#include "base/idle_threads.hpp"
#include "base/timing.hpp"

namespace heptad {
namespace {

/// The system counts in hundredths of a second on each processor, and so it does for threads that are running: windows
/// of less than the second of these say nothing.
constexpr double kWindow_s = 0.3, kShortest_s = 0.15;
constexpr int kMostWaits = 3;
/// Of one processor: what a machine at rest does beside us.
constexpr double kTolerated = 0.2;
/// Of the wall time. At least one thread is at work all the time, but it is not us who look at the clocks.
constexpr double kLeastOfOne = 0.8;
/// Of the wall time of all threads, where nothing else is known: they wait for each other at the ends of passes.
constexpr double kLeastOfAll = 0.6;

}  // namespace

double busy_seconds_of_all() {
    const CpuSet ours = cpus_of(getpid());
    std::ifstream stat("/proc/stat");
    double ticks = 0;
    bool known = false;
    for (std::string line; std::getline(stat, line);) {
        std::istringstream words(line);
        std::string name;
        words >> name;
        if (!name.starts_with("cpu") || name == "cpu" || !ours.contains(std::atoi(name.c_str() + 3))) {
            continue;
        }
        double user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, softirq = 0, steal = 0;
        words >> user >> nice >> system >> idle >> wait >> irq >> softirq >> steal;
        ticks += user + nice + system + irq + softirq + steal;
        known = true;
    }
    return known ? ticks / static_cast<double>(sysconf(_SC_CLK_TCK)) : -1;
}

LoadRules load_rules(int threads, double patience_s) {
    LoadRules rules;
    rules.threads = threads;
    rules.processors = std::max(1, cpus_of(getpid()).count());
    rules.patience_s = patience_s;
    rules.wall_s = [start = Clock::now()] { return seconds_since(start); };
    rules.ours_s = process_cpu_s;
    rules.sleep = [](double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); };
    return rules;
}

LoadWatch::LoadWatch(LoadRules rules)
    : rules_(std::move(rules)), before_(read()), recent_(before_), patience_s_(rules_.patience_s) {}

bool LoadWatch::measure(bool uses_all_threads, const std::function<void()>& act) {
    for (int tries = 1;; ++tries) {
        const Reading start = read();
        act();
        if (!was_disturbed(start, uses_all_threads)) {
            ++stored_;
            return true;
        }
        if (rules_.stores_disturbed) {
            ++disturbed_;
            ++stored_;
            return true;
        }
        const double again_s = rules_.wall_s() - start.wall_s + kWindow_s;
        if (tries == kMostWaits || again_s > patience_s_) {
            ++refused_;
            return false;
        }
        patience_s_ -= again_s;
        repeated_ += tries == 1 ? 1 : 0;
        before_ = recent_ = read();  // what was before must not count against what comes
        rules_.sleep(kWindow_s);
    }
}

double LoadWatch::taken_by_others(const Reading& now) const {
    const double wall_s = now.wall_s - before_.wall_s, ours_s = now.ours_s - before_.ours_s;
    const double all_s = now.all_s - before_.all_s;
    // A system that does not even see what we do makes its figures up.
    const bool known = now.all_s >= 0 && wall_s >= kShortest_s && all_s >= ours_s / 2;
    return known ? std::max(0.0, (all_s - ours_s) / wall_s) : -1;
}

bool LoadWatch::was_disturbed(const Reading& start, bool uses_all_threads) {
    const Reading now = read(), before = before_;
    const double taken = taken_by_others(now);
    if (now.wall_s - recent_.wall_s >= kWindow_s) {
        before_ = std::exchange(recent_, now);
    }
    if (now.wall_s - before.wall_s < kShortest_s) {
        return false;
    }
    most_taken_ = std::max(most_taken_, taken);
    const bool waited = now.ours_s - before.ours_s < kLeastOfOne * (now.timed_s - before.timed_s);
    if (taken >= 0) {
        const int wanted = std::min(rules_.threads, rules_.processors);
        return waited || rules_.processors - taken < wanted - kTolerated;
    }
    const double timed_s = now.timed_s - start.timed_s;
    return waited || (uses_all_threads && timed_s >= kShortest_s &&
                      now.ours_s - start.ours_s < kLeastOfAll * rules_.threads * timed_s);
}

std::string LoadWatch::notice() const {
    std::string text;
    if (disturbed_ > 0) {
        text = fmt::format(
            "the machine was not idle (others had up to {:.1f} of {} processors): {} of {} measurements were "
            "disturbed, and stored all the same",
            most_taken_, rules_.processors, disturbed_, stored_);
    } else if (repeated_ + refused_ > 0) {
        text = fmt::format(
            "the machine was not idle (others had up to {:.1f} of {} processors): {} of {} measurements were repeated, "
            "{} stayed disturbed and were not stored",
            most_taken_, rules_.processors, repeated_, stored_ + refused_, refused_);
    }
    if (impossible_ > 0) {
        text += fmt::format("{}{} that cannot be true {} left out", text.empty() ? "" : ", and ",
                            impossible_ == 1 ? "a figure" : fmt::format("{} figures", impossible_),
                            impossible_ == 1 ? "was" : "were");
    }
    if (refused_ + impossible_ > 0) {
        text += "; older figures stay in their place, so run `heptad tune` again when the machine is idle";
    }
    return text;
}

}  // namespace heptad
