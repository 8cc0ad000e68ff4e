// Stages in threads: items arrive in order, and the first failure ends all of them.
#include "move/ranks/rank_pipeline.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "move/ranks/communicator.hpp"
#include "move/ranks/stage_clock.hpp"

namespace heptad {
namespace {

TEST(pipeline, items_arrive_in_order_through_one_place) {
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

TEST(pipeline, failure_of_a_stage_ends_those_that_wait_for_it_and_is_thrown_by_the_main_thread) {
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

TEST(pipeline, failure_of_the_main_stage_ends_the_others) {
    StageFailure failure;
    Channel<int> channel(failure, 1);
    Stages stages(failure);
    stages.start([&] { channel.pop(); });
    EXPECT_THROW(stages.run_here_and_finish([]() -> void { throw std::logic_error("no"); }), std::logic_error);
}

TEST(pipeline, scope_that_is_left_early_does_not_hang) {
    StageFailure failure;
    Channel<int> channel(failure, 1);
    {
        Stages stages(failure);
        stages.start([&] { channel.pop(); });
    }
    EXPECT_TRUE(failure.raised());
}

TEST(pipeline, failure_cancels_a_product_that_is_under_way) {
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

TEST(pipeline, stage_that_heeds_nothing_is_given_up_after_the_grace) {
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

TEST(pipeline, stages_that_end_in_time_are_not_given_up) {
    bool given_up = false;
    StageFailure failure([&](const std::exception_ptr&) { given_up = true; }, std::chrono::seconds(60));
    Stages stages(failure);
    Channel<int> channel(failure, 1);
    stages.start([&] { channel.pop(); });
    EXPECT_THROW(stages.run_here_and_finish([]() -> void { throw std::logic_error("no"); }), std::logic_error);
    EXPECT_FALSE(given_up);
}

TEST(stage_clock, seconds_add_up_by_step_and_stage) {
    StageClock clock(true);
    clock.begin_step("multiply");
    clock.time("DR", [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); });
    clock.time("DR", [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); });
    clock.begin_step("collect");
    clock.time("DR", [] {});
    EXPECT_GE(clock.seconds().at("multiply DR"), 0.004);
    EXPECT_EQ(clock.seconds().count("collect DR"), 1U);
    ASSERT_EQ(clock.intervals().size(), 3U);
    EXPECT_LE(clock.intervals()[0].end_s, clock.intervals()[1].begin_s);
    EXPECT_TRUE(StageClock(false).intervals().empty());
}

TEST(communicator, first_text_that_differs_is_found) {
    EXPECT_EQ(first_difference({"a", "a", "a"}), -1);
    EXPECT_EQ(first_difference({"a"}), -1);
    EXPECT_EQ(first_difference({"version 1, words", "version 1, words", "version 2, words"}), 2);
}

}  // namespace
}  // namespace heptad
