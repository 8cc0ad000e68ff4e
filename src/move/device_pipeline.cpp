#include "move/device_pipeline.hpp"

#include <atomic>
#include <deque>
#include <mutex>
#include <new>
#include <optional>
#include <vector>

#include "base/error.hpp"

namespace heptad {
namespace {

struct DevicePipe {
    explicit DevicePipe(StageFailure& failure)
        : left(failure), right(failure), uploaded(failure), downloaded(failure), aggregated(failure) {}

    std::mutex mutex;
    std::vector<std::int64_t> groups;  // dealt to it, in order
    StepCount left, right, uploaded;   // tasks
    StepCount downloaded, aggregated;  // groups
};

class Run {
public:
    Run(const PipelineLayout& layout, PipelineStages& stages, StageFailure& failure, const RunHooks& hooks)
        : layout_(layout),
          stages_(stages),
          failure_(failure),
          hooks_(hooks),
          devices_(static_cast<std::size_t>(layout.devices)) {
        for (int p = 0; p < layout.pipelines(); ++p) {
            pipelines_.emplace_back(failure);
        }
    }

    void execute() {
        start_product(hooks_);
        Stages threads(failure_);
        start(threads);
        threads.look_around_and_finish([this] {
            if (hooks_.cancel != nullptr && hooks_.cancel->cancelled()) {
                throw Error(ErrorCode::cancelled, "the product was cancelled");
            }
            if (hooks_.progress && layout_.groups > 0) {
                hooks_.progress(
                    {static_cast<double>(groups_done_.load()) / static_cast<double>(layout_.groups), "multiply"});
            }
        });
        finish_product(hooks_);
    }

private:
    void start(Stages& threads) {
        try {
            for (int p = 0; p < layout_.pipelines(); ++p) {
                DevicePipe& pipe = pipelines_[static_cast<std::size_t>(p)];
                threads.start([this, p, &pipe] { prepare(p, pipe, pipe.left, &PipelineStages::prepare_left); });
                threads.start([this, p, &pipe] { prepare(p, pipe, pipe.right, &PipelineStages::prepare_right); });
                threads.start([this, p, &pipe] { solve(p, pipe); });
                threads.start([this, p, &pipe] { aggregate(p, pipe); });
            }
        } catch (const Error&) {
            fail(ErrorCode::resource,
                 "the system allows no more threads after {}; use fewer devices or pipelines, {} threads are needed",
                 threads.started(), 4 * layout_.pipelines());
        }
    }

    /// The `index`-th group of a pipeline: the thread that gets there first takes the next one for all four.
    std::optional<std::int64_t> group_of(DevicePipe& pipe, std::int64_t index) {
        const std::lock_guard lock(pipe.mutex);
        if (static_cast<std::size_t>(index) == pipe.groups.size()) {
            pipe.groups.push_back(next_group_.fetch_add(1));
        }
        const std::int64_t group = pipe.groups[static_cast<std::size_t>(index)];
        return group < layout_.groups ? std::optional(group) : std::nullopt;
    }

    using Stage = void (PipelineStages::*)(int, const PipelineTask&);

    void prepare(int p, DevicePipe& pipe, StepCount& made, Stage stage) {
        std::int64_t tasks = 0;
        for (std::int64_t i = 0; const auto group = group_of(pipe, i); ++i) {
            for (int step = 0; step < layout_.steps; ++step) {
                pipe.uploaded.wait_for(tasks++);
                (stages_.*stage)(p, {*group, step});
                made.add();
            }
        }
    }

    void solve(int p, DevicePipe& pipe) {
        std::mutex& device = devices_[static_cast<std::size_t>(layout_.device_of(p))];
        std::int64_t tasks = 0;
        for (std::int64_t i = 0; const auto group = group_of(pipe, i); ++i) {
            for (int step = 0; step < layout_.steps; ++step) {
                const PipelineTask task{*group, step};
                pipe.left.wait_for(++tasks);
                pipe.right.wait_for(tasks);
                stages_.upload(p, task);
                pipe.uploaded.add();
                const std::lock_guard lock(device);
                failure_.go_on();
                stages_.solve(p, task);
            }
            pipe.aggregated.wait_for(i);
            stages_.download(p, {*group, layout_.steps - 1});
            pipe.downloaded.add();
        }
    }

    void aggregate(int p, DevicePipe& pipe) {
        for (std::int64_t i = 0; const auto group = group_of(pipe, i); ++i) {
            pipe.downloaded.wait_for(i + 1);
            stages_.aggregate(p, {*group, layout_.steps - 1});
            pipe.aggregated.add();
            groups_done_.fetch_add(1);
        }
    }

    const PipelineLayout layout_;
    PipelineStages& stages_;
    StageFailure& failure_;
    const RunHooks& hooks_;
    std::deque<DevicePipe> pipelines_;
    std::vector<std::mutex> devices_;
    std::atomic<std::int64_t> next_group_{0}, groups_done_{0};
};

}  // namespace

void run_pipelines(const PipelineLayout& layout, PipelineStages& stages, StageFailure& failure, const RunHooks& hooks) {
    try {
        Run(layout, stages, failure, hooks).execute();
    } catch (const std::bad_alloc&) {
        fail(ErrorCode::resource, "memory ran out while the pipelines of {} devices were fed; use fewer of them",
             layout.devices);
    }
}

}  // namespace heptad
