// The engine by itself: every task passes its stages once and in order, buffers are never shared, and whatever goes
// wrong in whichever stage ends the run with that error.
#include "move/device_pipeline.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "base/splitmix.hpp"

namespace heptad {
namespace {

enum class At : std::uint8_t { prepare_left, prepare_right, upload, solve, download, aggregate };
constexpr At kStages[] = {At::prepare_left, At::prepare_right, At::upload, At::solve, At::download, At::aggregate};

/// Buffers hold the number of the task they were filled for; every stage checks what it finds there.
class Recorder final : public PipelineStages {
public:
    explicit Recorder(const PipelineLayout& layout)
        : layout_(layout),
          buffers_(static_cast<std::size_t>(layout.pipelines())),
          solving_(static_cast<std::size_t>(layout.devices)) {}

    void prepare_left(int p, const PipelineTask& task) override {
        pass(At::prepare_left, task);
        EXPECT_EQ(buffer(p).left.exchange(number(task)), kEmpty) << "T was overwritten";
    }
    void prepare_right(int p, const PipelineTask& task) override {
        pass(At::prepare_right, task);
        EXPECT_EQ(buffer(p).right.exchange(number(task)), kEmpty) << "S was overwritten";
    }
    void upload(int p, const PipelineTask& task) override {
        pass(At::upload, task);
        EXPECT_EQ(buffer(p).left.exchange(kEmpty), number(task));
        EXPECT_EQ(buffer(p).right.exchange(kEmpty), number(task));
        buffer(p).there = number(task);
    }
    void solve(int p, const PipelineTask& task) override {
        std::atomic<int>& solving = solving_[static_cast<std::size_t>(layout_.device_of(p))];
        EXPECT_EQ(solving.fetch_add(1), 0) << "two products on one device";
        const std::shared_ptr<void> leave(nullptr, [&](void*) { solving.fetch_sub(1); });  // by an error too
        pass(At::solve, task);
        EXPECT_EQ(buffer(p).there, number(task));
    }
    void download(int p, const PipelineTask& task) override {
        pass(At::download, task);
        EXPECT_EQ(task.step, layout_.steps - 1);
        EXPECT_EQ(buffer(p).result.exchange(task.group), kEmpty) << "Q was overwritten";
    }
    void aggregate(int p, const PipelineTask& task) override {
        pass(At::aggregate, task);
        EXPECT_EQ(buffer(p).result.exchange(kEmpty), task.group);
        const std::lock_guard lock(mutex_);
        ++finished[task.group];
        any_finished = true;
    }

    /// Fails in this stage of this group.
    void fail_at(At stage, std::int64_t group) {
        failing_ = stage;
        failing_group_ = group;
    }
    void delay(std::uint64_t seed) { seed_ = seed; }

    std::map<std::int64_t, int> finished;
    std::atomic<bool> any_finished{false};

private:
    static constexpr std::int64_t kEmpty = -1;
    struct Buffers {
        std::atomic<std::int64_t> left{kEmpty}, right{kEmpty}, result{kEmpty};
        std::int64_t there = kEmpty;
    };

    void pass(At stage, const PipelineTask& task) {
        if (seed_ != 0) {
            const auto place = static_cast<std::int64_t>(stage) + 8 * number(task);
            std::this_thread::sleep_for(std::chrono::microseconds(splitmix_word(seed_, place) % 400));
        }
        if (stage == failing_ && task.group == failing_group_) {
            throw Error(ErrorCode::internal, "lost in stage " + std::to_string(static_cast<int>(stage)));
        }
    }
    std::int64_t number(const PipelineTask& task) const { return task.group * layout_.steps + task.step; }
    Buffers& buffer(int p) { return buffers_[static_cast<std::size_t>(p)]; }

    PipelineLayout layout_;
    std::vector<Buffers> buffers_;
    std::vector<std::atomic<int>> solving_;
    std::mutex mutex_;
    At failing_ = At::solve;
    std::int64_t failing_group_ = -1;
    std::uint64_t seed_ = 0;
};

TEST(Pipeline, every_group_is_finished_once_for_1_to_8_devices) {
    for (int devices = 1; devices <= 8; ++devices) {
        for (const int pipelines : {1, 2, 3}) {
            for (const int steps : {1, 3}) {
                const PipelineLayout layout{devices, pipelines, 23, steps};
                Recorder stages(layout);
                StageFailure failure;
                run_pipelines(layout, stages, failure, {});
                EXPECT_EQ(stages.finished.size(), 23U) << devices << " " << pipelines << " " << steps;
                for (const auto& [group, times] : stages.finished) {
                    EXPECT_EQ(times, 1) << group;
                }
                EXPECT_FALSE(failure.raised());
            }
        }
    }
}

TEST(Pipeline, delays_in_any_stage_change_nothing) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        const PipelineLayout layout{3, 2, 31, 2};
        Recorder stages(layout);
        StageFailure failure;
        stages.delay(seed);
        run_pipelines(layout, stages, failure, {});
        EXPECT_EQ(stages.finished.size(), 31U);
    }
}

TEST(Pipeline, fewer_groups_than_pipelines_and_none_at_all) {
    for (const std::int64_t groups : {0, 1, 2}) {
        const PipelineLayout layout{4, 2, groups, 1};
        Recorder stages(layout);
        StageFailure failure;
        run_pipelines(layout, stages, failure, {});
        EXPECT_EQ(static_cast<std::int64_t>(stages.finished.size()), groups);
    }
}

TEST(Pipeline, failure_in_any_stage_of_any_group_is_thrown_and_nothing_hangs) {
    for (int devices = 1; devices <= 8; devices += devices < 3 ? 1 : 5) {
        for (const At stage : kStages) {
            for (const std::int64_t group : {0, 7, 15}) {
                const PipelineLayout layout{devices, 2, 16, 2};
                Recorder stages(layout);
                StageFailure failure;
                stages.fail_at(stage, group);
                try {
                    run_pipelines(layout, stages, failure, {});
                    ADD_FAILURE() << "no error from stage " << static_cast<int>(stage);
                } catch (const Error& error) {
                    EXPECT_EQ(error.what(), "lost in stage " + std::to_string(static_cast<int>(stage)));
                }
                EXPECT_TRUE(failure.raised());
                EXPECT_EQ(stages.finished.count(group), 0U);
            }
        }
    }
}

TEST(Pipeline, first_of_several_errors_is_the_one_thrown) {
    class AllFail final : public PipelineStages {
    public:
        void prepare_left(int, const PipelineTask&) override { throw Error(ErrorCode::resource, "one of many"); }
        void prepare_right(int, const PipelineTask&) override { throw Error(ErrorCode::resource, "one of many"); }
        void upload(int, const PipelineTask&) override {}
        void solve(int, const PipelineTask&) override {}
        void download(int, const PipelineTask&) override {}
        void aggregate(int, const PipelineTask&) override {}
    } stages;
    StageFailure failure;
    try {
        run_pipelines({8, 2, 100, 1}, stages, failure, {});
        ADD_FAILURE();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::resource);
        EXPECT_STREQ(error.what(), "one of many");
    }
}

TEST(Pipeline, out_of_memory_in_a_stage_is_an_error_of_resources) {
    class NoMemory final : public PipelineStages {
    public:
        void prepare_left(int, const PipelineTask&) override {}
        void prepare_right(int, const PipelineTask&) override { throw std::bad_alloc(); }
        void upload(int, const PipelineTask&) override {}
        void solve(int, const PipelineTask&) override {}
        void download(int, const PipelineTask&) override {}
        void aggregate(int, const PipelineTask&) override {}
    } stages;
    StageFailure failure;
    try {
        run_pipelines({2, 1, 5, 1}, stages, failure, {});
        ADD_FAILURE();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::resource);
    }
}

TEST(Pipeline, token_set_before_or_during_the_run_ends_it) {
    const PipelineLayout layout{2, 2, 1 << 20, 1};  // far more than could be finished
    for (const bool before : {true, false}) {
        Recorder stages(layout);
        StageFailure failure;
        stages.delay(9);
        CancelToken token;
        RunHooks hooks;
        hooks.cancel = &token;
        if (before) {
            token.cancel();
        }
        std::thread later([&] {
            while (!before && !stages.any_finished) {
                std::this_thread::yield();
            }
            token.cancel();
        });
        try {
            run_pipelines(layout, stages, failure, hooks);
            ADD_FAILURE() << "was not cancelled";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::cancelled);
        }
        later.join();
        EXPECT_EQ(before, stages.finished.empty());
    }
}

TEST(Pipeline, progress_comes_from_the_calling_thread_and_may_end_the_run) {
    const PipelineLayout layout{2, 1, 400, 1};
    Recorder stages(layout);
    StageFailure failure;
    stages.delay(3);
    RunHooks hooks;
    const auto caller = std::this_thread::get_id();
    double last = 0;
    hooks.progress = [&](const Progress& progress) {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        EXPECT_GE(progress.fraction, last);
        last = progress.fraction;
    };
    run_pipelines(layout, stages, failure, hooks);
    EXPECT_EQ(last, 1.0);

    Recorder again({2, 1, 1 << 20, 1});
    StageFailure second;
    again.delay(4);
    hooks.progress = [](const Progress&) { throw std::runtime_error("the user left"); };
    EXPECT_THROW(run_pipelines({2, 1, 1 << 20, 1}, again, second, hooks), std::runtime_error);
}

}  // namespace
}  // namespace heptad
