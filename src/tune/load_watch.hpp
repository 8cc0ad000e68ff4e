// Was the machine ours while something was measured? A run beside other programs once stored 97.7 MFLOP/s for a library
// that does 69 GFLOP/s, and plans were made from it for weeks. Two clocks tell:
//
//   ours      while a product runs, one thread of this process at least is at work (all of them, if it is large): less
//             processor time than wall time means that somebody else had our processors
//   all       what all processes had of the processors that we may run on (/proc/stat, with what the hypervisor gave to
//             other guests), less what we had: where that leaves fewer processors than we have threads, we shared them
//
// What was disturbed is measured again after a pause, a few times and as long as there is patience; what stays
// disturbed is not stored.
#pragma once

#include <functional>
#include <string>

namespace heptad {

/// Processor seconds of all processes on the processors that this one may run on; negative: the system does not say.
double busy_seconds_of_all();

struct LoadRules {
    int threads = 1;
    int processors = 1;             // that we may run on
    double patience_s = 30;         // for pauses and repetitions, all together
    bool stores_disturbed = false;  // whoever never has the machine to himself may want it all the same
    /// Clocks, ever rising: of the wall, of all threads of this process, and of all processes.
    std::function<double()> wall_s, ours_s, all_s = busy_seconds_of_all;
    std::function<void(double seconds)> sleep;
};
/// With the clocks and the processors of this process.
LoadRules load_rules(int threads, double patience_s);

class LoadWatch {
public:
    explicit LoadWatch(LoadRules rules);

    /// Does it until nobody disturbs it, a few times at most. False: it stayed disturbed, and its result is not to be
    /// stored. Within it, products run inside of timed(). `uses_all_threads`: the products are so large that all
    /// threads are at work.
    bool measure(bool uses_all_threads, const std::function<void()>& act);

    /// The time in which products run, and nobody sleeps.
    template <class Action>
    auto timed(const Action& act) {
        const double start_s = rules_.wall_s();
        auto result = act();
        timed_s_ += rules_.wall_s() - start_s;
        return result;
    }

    /// Seconds since it began, without what had to be repeated and the pauses for that.
    double spent_s() const { return rules_.wall_s() - start_s_ - (rules_.patience_s - patience_s_); }

    /// Was anybody else there? Short disturbances may have hidden between the readings of the clocks, too.
    bool noticed_others() const { return repeated_ + refused_ + disturbed_ > 0; }

    /// A figure that was measured and cannot be true was left out.
    void count_impossible(int figures = 1) { impossible_ += figures; }

    bool stored_something() const { return stored_ > 0; }
    /// One sentence for people, empty where nothing was disturbed.
    std::string notice() const;

private:
    struct Reading {
        double wall_s, ours_s, all_s, timed_s;
    };
    Reading read() const { return {rules_.wall_s(), rules_.ours_s(), rules_.all_s(), timed_s_}; }
    bool was_disturbed(const Reading& start, bool uses_all_threads);
    /// Processors that others had in the last moments; negative: not known.
    double taken_by_others(const Reading& now) const;

    LoadRules rules_;
    double start_s_ = rules_.wall_s();
    double timed_s_ = 0;       // all that timed() saw
    Reading before_, recent_;  // between them and now: windows of some tenths of a second
    double patience_s_;
    double most_taken_ = 0;
    int stored_ = 0, repeated_ = 0, refused_ = 0, impossible_ = 0, disturbed_ = 0;  // the last: stored all the same
};

}  // namespace heptad
