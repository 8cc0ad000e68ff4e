// Beside others, on made-up clocks: what is disturbed is repeated, what stays disturbed is refused, and one sentence
// says so.
#include "tune/load_watch.hpp"

#include <gtest/gtest.h>

namespace heptad {
namespace {

/// Two processors. We want `wanted` of them while we work; others take `others` all the time.
class Computer {
public:
    double others = 0;
    double share = 1;  // of the time that we want, what we get
    bool tells_all = true;
    double slept_s = 0;

    LoadRules rules(int threads, double patience_s = 100) {
        LoadRules rules;
        rules.threads = threads;
        rules.processors = 2;
        rules.patience_s = patience_s;
        rules.wall_s = [this] { return wall_s_; };
        rules.ours_s = [this] { return ours_s_; };
        rules.all_s = [this] { return tells_all ? all_s_ : -1; };
        rules.sleep = [this](double seconds) {
            slept_s += seconds;
            pass(seconds, 0);
        };
        return rules;
    }
    /// A product by so many threads.
    double work(double seconds, int wanted) {
        pass(seconds, wanted * share);
        return seconds;
    }

private:
    void pass(double seconds, double ours) {
        wall_s_ += seconds;
        ours_s_ += seconds * ours;
        all_s_ += seconds * (ours + others);
    }
    double wall_s_ = 5, ours_s_ = 3, all_s_ = 1000;
};

/// How many times it was done, by so many threads for a second.
struct Outcome {
    bool trusted = false;
    int times = 0;
};
Outcome measure(LoadWatch& watch, Computer& computer, int threads, const std::function<void(int)>& before_each = {}) {
    Outcome outcome;
    outcome.trusted = watch.measure(true, [&] {
        if (before_each) {
            before_each(outcome.times);
        }
        ++outcome.times;
        watch.timed([&] { return computer.work(1, threads); });
    });
    return outcome;
}

TEST(load_watch, a_machine_of_our_own_is_trusted_at_once_and_says_nothing) {
    Computer computer;
    computer.others = 0.1;  // a machine at rest
    LoadWatch watch(computer.rules(2));
    const Outcome outcome = measure(watch, computer, 2);
    EXPECT_TRUE(outcome.trusted);
    EXPECT_EQ(outcome.times, 1);
    EXPECT_TRUE(watch.stored_something());
    EXPECT_EQ(watch.notice(), "");
    EXPECT_EQ(computer.slept_s, 0);
}

TEST(load_watch, somebody_on_one_of_our_processors_is_noticed_by_what_all_processes_had) {
    Computer computer;
    computer.others = 0.7;
    computer.share = 0.8;  // more than one thread's worth
    LoadWatch watch(computer.rules(2));
    const Outcome outcome = measure(watch, computer, 2);
    EXPECT_FALSE(outcome.trusted);
    EXPECT_EQ(outcome.times, 3);
    EXPECT_GT(computer.slept_s, 0);
    EXPECT_FALSE(watch.stored_something());
    const std::string notice = watch.notice();
    EXPECT_NE(notice.find("0.7 of 2 processors"), std::string::npos) << notice;
    EXPECT_NE(notice.find("1 of 1 measurements were repeated, 1 stayed disturbed"), std::string::npos) << notice;
    EXPECT_NE(notice.find("heptad tune"), std::string::npos) << notice;
}

TEST(load_watch, somebody_on_processors_that_we_leave_free_does_not_matter) {
    Computer computer;
    computer.others = 1;
    LoadWatch watch(computer.rules(1));
    EXPECT_TRUE(measure(watch, computer, 1).trusted);
    EXPECT_EQ(watch.notice(), "");
}

TEST(load_watch, what_is_quiet_when_it_is_repeated_is_stored) {
    Computer computer;
    LoadWatch watch(computer.rules(2));
    const Outcome outcome = measure(watch, computer, 2, [&](int time) { computer.others = time == 0 ? 2 : 0; });
    EXPECT_TRUE(outcome.trusted);
    EXPECT_EQ(outcome.times, 3);  // others were still there in the first pause
    EXPECT_NE(watch.notice().find("1 of 1 measurements were repeated, 0 stayed"), std::string::npos) << watch.notice();
    EXPECT_TRUE(measure(watch, computer, 2).trusted);
}

TEST(load_watch, less_time_than_one_thread_wants_is_noticed_where_the_system_says_nothing) {
    Computer computer;
    computer.tells_all = false;
    computer.share = 0.7;
    LoadWatch watch(computer.rules(1));
    EXPECT_FALSE(measure(watch, computer, 1).trusted);
}

TEST(load_watch, large_products_want_all_threads_where_the_system_says_nothing) {
    Computer computer;
    computer.tells_all = false;
    computer.share = 0.55;  // more than one thread's worth
    LoadWatch watch(computer.rules(2));
    EXPECT_FALSE(measure(watch, computer, 2).trusted);
    EXPECT_TRUE(watch.measure(false, [&] { watch.timed([&] { return computer.work(1, 2); }); }));
}

TEST(load_watch, whoever_wants_it_all_the_same_has_it_at_once_and_is_told) {
    Computer computer;
    computer.others = 2;
    LoadRules rules = computer.rules(2);
    rules.stores_disturbed = true;
    LoadWatch watch(rules);
    const Outcome outcome = measure(watch, computer, 2);
    EXPECT_TRUE(outcome.trusted);
    EXPECT_EQ(outcome.times, 1);
    EXPECT_TRUE(watch.stored_something());
    EXPECT_NE(watch.notice().find("1 of 1 measurements were disturbed, and stored"), std::string::npos)
        << watch.notice();
}

TEST(load_watch, repetitions_take_no_time_from_what_comes) {
    Computer computer;
    LoadWatch watch(computer.rules(2));
    const double start_s = watch.spent_s();
    measure(watch, computer, 2);
    EXPECT_FALSE(watch.noticed_others());
    EXPECT_NEAR(watch.spent_s() - start_s, 1, 1e-9);
    measure(watch, computer, 2, [&](int time) { computer.others = time == 0 ? 2 : 0; });
    EXPECT_TRUE(watch.noticed_others());
    EXPECT_NEAR(watch.spent_s() - start_s, 2, 1e-9);
}

TEST(load_watch, patience_ends) {
    Computer computer;
    computer.others = 2;
    LoadWatch watch(computer.rules(2, 2));
    EXPECT_EQ(measure(watch, computer, 2).times, 2);
    EXPECT_EQ(measure(watch, computer, 2).times, 1);
    EXPECT_NE(watch.notice().find("1 of 2 measurements were repeated, 2 stayed"), std::string::npos) << watch.notice();
}

TEST(load_watch, pauses_of_our_own_are_not_held_against_others) {
    Computer computer;
    LoadWatch watch(computer.rules(2));
    EXPECT_TRUE(watch.measure(true, [&] {
        computer.work(5, 0);  // threads fall asleep
        watch.timed([&] { return computer.work(1, 2); });
    }));
}

TEST(load_watch, figures_that_cannot_be_true_are_told) {
    Computer computer;
    LoadWatch watch(computer.rules(2));
    measure(watch, computer, 2);
    watch.count_impossible();
    EXPECT_NE(watch.notice().find("a figure that cannot be true was left out"), std::string::npos) << watch.notice();
    watch.count_impossible(2);
    EXPECT_NE(watch.notice().find("3 figures that cannot be true were"), std::string::npos) << watch.notice();
}

TEST(load_watch, clocks_of_this_machine_rise) {
    const LoadRules rules = load_rules(1, 1);
    EXPECT_GE(rules.processors, 1);
    const double wall_s = rules.wall_s(), ours_s = rules.ours_s(), all_s = rules.all_s();
    EXPECT_GE(rules.wall_s(), wall_s);
    EXPECT_GE(rules.ours_s(), ours_s);
    EXPECT_GE(rules.all_s(), all_s);
}

}  // namespace
}  // namespace heptad
