// Stages in threads: items arrive in order, and the first failure ends all of them.
#include "move/stages.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "move/stage_trace.hpp"

namespace heptad {
namespace {

TEST(stages, items_arrive_in_order_through_one_place) {
    StageFailure failure;
    Channel<int> channel(failure, 1);
    Stages stages(failure);
    stages.start([&] {
        for (int i = 0; i < 1000; ++i) {
            channel.push(i);
        }
    });
    int next = 0;
    stages.run_here_and_finish([&] {
        for (; next < 1000; ++next) {
            ASSERT_EQ(channel.pop(), next);
        }
    });
    EXPECT_EQ(next, 1000);
}

TEST(stages, failure_of_a_stage_ends_those_that_wait_for_it_and_is_thrown_by_the_main_thread) {
    StageFailure failure;
    Channel<int> channel(failure, 1), full(failure, 1);
    Stages stages(failure);
    stages.start([&]() -> void { throw std::runtime_error("the disk is full"); });
    stages.start([&] {
        full.push(1);
        full.push(2);  // for which there is never a place
    });
    try {
        stages.run_here_and_finish([&] { channel.pop(); });  // which nobody fills
        FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "the disk is full");
    }
}

TEST(stages, failure_of_the_main_stage_ends_the_others) {
    StageFailure failure;
    Channel<int> channel(failure, 1);
    Stages stages(failure);
    stages.start([&] { channel.pop(); });
    EXPECT_THROW(stages.run_here_and_finish([]() -> void { throw std::logic_error("no"); }), std::logic_error);
}

TEST(stages, scope_that_is_left_early_does_not_hang) {
    StageFailure failure;
    Channel<int> channel(failure, 1);
    {
        Stages stages(failure);
        stages.start([&] { channel.pop(); });
    }
    EXPECT_TRUE(failure.raised());
}

TEST(stages, failure_cancels_a_product_that_is_under_way) {
    StageFailure failure;
    Stages stages(failure);
    stages.start([&] {  // as a product does, which looks at its token now and then
        while (!failure.cancel().cancelled()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        throw Error(ErrorCode::cancelled, "the product was cancelled");
    });
    EXPECT_THROW(stages.run_here_and_finish([]() -> void { throw std::logic_error("the disk is full"); }),
                 std::logic_error);
}

TEST(stages, stage_that_heeds_nothing_is_given_up_after_the_grace) {
    std::atomic<bool> given_up{false};
    std::string told;
    StageFailure failure(
        [&](const std::exception_ptr& first) {
            try {
                std::rethrow_exception(first);
            } catch (const std::logic_error& error) {
                told = error.what();
            }
            given_up = true;
        },
        std::chrono::milliseconds(30));
    Stages stages(failure);
    stages.start([&] {
        while (!given_up) {  // deep in a library
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    });
    EXPECT_THROW(stages.run_here_and_finish([]() -> void { throw std::logic_error("the disk is full"); }),
                 std::logic_error);
    EXPECT_EQ(told, "the disk is full");
}

TEST(stages, stages_that_end_in_time_are_not_given_up) {
    bool given_up = false;
    StageFailure failure([&](const std::exception_ptr&) { given_up = true; }, std::chrono::seconds(60));
    Stages stages(failure);
    Channel<int> channel(failure, 1);
    stages.start([&] { channel.pop(); });
    EXPECT_THROW(stages.run_here_and_finish([]() -> void { throw std::logic_error("no"); }), std::logic_error);
    EXPECT_FALSE(given_up);
}

TEST(stages, closed_channel_gives_what_is_left_and_then_nothing) {
    StageFailure failure;
    Channel<int> channel(failure);
    Stages stages(failure);
    std::vector<int> seen;
    stages.start([&] {
        while (const std::optional<int> item = channel.next()) {
            seen.push_back(*item);
        }
    });
    stages.run_here_and_finish([&] {
        for (int i = 0; i < 100; ++i) {
            channel.push(i);
        }
        channel.close();
    });
    ASSERT_EQ(seen.size(), 100U);
    EXPECT_EQ(seen.back(), 99);
}

TEST(stages, two_that_count_for_each_other_go_hand_in_hand) {
    StageFailure failure;
    StepCount filled(failure), emptied(failure);
    Stages stages(failure);
    int buffer = -1;
    stages.start([&] {
        for (int i = 0; i < 1000; ++i) {
            emptied.wait_for(i);
            buffer = i;
            filled.add();
        }
    });
    stages.run_here_and_finish([&] {
        for (int i = 0; i < 1000; ++i) {
            filled.wait_for(i + 1);
            ASSERT_EQ(buffer, i);
            emptied.add();
        }
    });
    EXPECT_EQ(filled.done(), 1000);
}

TEST(stages, end_without_a_failure_sends_home_who_waits_and_throws_nothing) {
    StageFailure failure;
    StepCount never(failure);
    Channel<int> channel(failure, 1);
    Stages stages(failure);
    stages.start([&] { never.wait_for(1); });
    stages.start([&] { channel.pop(); });
    stages.run_here_and_finish([&] { failure.end(); });
    EXPECT_TRUE(failure.raised());
}

TEST(stages, failure_after_the_end_is_thrown_all_the_same) {
    StageFailure failure;
    Stages stages(failure);
    stages.start([&] {
        while (!failure.raised()) {
            std::this_thread::yield();
        }
        throw std::runtime_error("too late to be harmless");
    });
    EXPECT_THROW(stages.run_here_and_finish([&] { failure.end(); }), std::runtime_error);
}

TEST(stages, failure_wakes_at_once_whoever_waits) {
    for (int round = 0; round < 200; ++round) {  // 20 ms each would be seconds
        StageFailure failure;
        StepCount never(failure);
        Stages stages(failure);
        for (int i = 0; i < 4; ++i) {
            stages.start([&] { never.wait_for(1); });
        }
        const Clock::time_point start = Clock::now();
        EXPECT_THROW(stages.run_here_and_finish([]() -> void { throw std::logic_error("no"); }), std::logic_error);
        EXPECT_LT(seconds_since(start), 5.0);
    }
}

TEST(stages, what_the_look_around_throws_ends_the_run) {
    StageFailure failure;
    StepCount never(failure);
    Stages stages(failure);
    stages.start([&] { never.wait_for(1); });
    EXPECT_THROW(stages.look_around_and_finish([]() -> void { throw std::runtime_error("the user left"); }),
                 std::runtime_error);
}

TEST(stage_trace, seconds_add_up_by_step_and_stage) {
    StageTrace trace(true);
    trace.begin_step("multiply");
    trace.time(Stage::disk_read, [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); });
    trace.time(Stage::disk_read, [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); });
    trace.begin_step("collect");
    trace.time(Stage::disk_read, [] {});
    EXPECT_GE(trace.seconds().at("multiply DR"), 0.004);
    EXPECT_EQ(trace.seconds().count("collect DR"), 1U);
    ASSERT_EQ(trace.intervals().size(), 3U);
    EXPECT_LE(trace.intervals()[0].end_s, trace.intervals()[1].begin_s);
    EXPECT_TRUE(StageTrace(false).intervals().empty());
}

}  // namespace
}  // namespace heptad
