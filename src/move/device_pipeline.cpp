#include "move/device_pipeline.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "base/error.hpp"

namespace heptad {
namespace {

/// How often the calling thread looks at the cancel token and tells progress.
constexpr auto kLookAround = std::chrono::milliseconds(20);

/// The run was ended by somebody else: leaves a stage's thread without being an error of its own.
struct Ended {};

/// Tasks of one pipeline that passed each hand-over so far.
struct Pipeline {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::int64_t> groups;                // dealt to it, in order
    std::int64_t left = 0, right = 0, uploaded = 0;  // tasks
    std::int64_t downloaded = 0, aggregated = 0;     // groups
};

class Run {
public:
    Run(const PipelineLayout& layout, PipelineStages& stages, const RunHooks& hooks)
        : layout_(layout),
          stages_(stages),
          hooks_(hooks),
          pipelines_(static_cast<std::size_t>(layout.pipelines())),
          devices_(static_cast<std::size_t>(layout.devices)) {}

    void execute() {
        start_product(hooks_);
        start_threads();
        try {
            watch();
        } catch (...) {
            end(std::current_exception());
        }
        for (std::thread& thread : threads_) {
            thread.join();
        }
        if (error_) {
            std::rethrow_exception(error_);
        }
        finish_product(hooks_);
    }

private:
    void start_threads() {
        threads_.reserve(4 * pipelines_.size());
        try {
            for (int p = 0; p < layout_.pipelines(); ++p) {
                start([this, p] { prepare(p, &Pipeline::left, &PipelineStages::prepare_left); });
                start([this, p] { prepare(p, &Pipeline::right, &PipelineStages::prepare_right); });
                start([this, p] { solve(p); });
                start([this, p] { aggregate(p); });
            }
        } catch (const std::system_error&) {
            end(std::make_exception_ptr(Error(
                ErrorCode::resource,
                fmt::format("the system gives no more threads after {}; use fewer devices or pipelines, {} threads "
                            "are needed",
                            threads_.size(), 4 * pipelines_.size()))));
        } catch (...) {
            end(std::current_exception());
        }
    }

    template <class Body>
    void start(Body body) {
        {
            const std::lock_guard lock(mutex_);
            ++running_;
        }
        try {
            threads_.emplace_back([this, body] {
                try {
                    body();
                } catch (const Ended&) {
                } catch (...) {
                    end(std::current_exception());
                }
                leave();
            });
        } catch (...) {
            leave();
            throw;
        }
    }

    void leave() {
        const std::lock_guard lock(mutex_);
        --running_;
        finished_.notify_all();
    }

    /// Keeps the first error and wakes everybody.
    void end(const std::exception_ptr& error) {
        {
            const std::lock_guard lock(mutex_);
            if (error_) {
                return;
            }
            error_ = error;
        }
        ended_.store(true);
        stages_.stop();
        for (Pipeline& pipeline : pipelines_) {
            const std::lock_guard lock(pipeline.mutex);  // nobody is between looking at ended_ and falling asleep
            pipeline.changed.notify_all();
        }
    }

    /// The calling thread, until all others have left.
    void watch() {
        std::unique_lock lock(mutex_);
        while (!finished_.wait_for(lock, kLookAround, [&] { return running_ == 0; })) {
            lock.unlock();
            if (!ended_.load() && hooks_.cancel != nullptr && hooks_.cancel->cancelled()) {
                throw Error(ErrorCode::cancelled, "the product was cancelled");
            }
            if (!ended_.load() && hooks_.progress && layout_.groups > 0) {
                hooks_.progress(
                    {static_cast<double>(groups_done_.load()) / static_cast<double>(layout_.groups), "multiply"});
            }
            lock.lock();
        }
    }

    Pipeline& pipeline(int p) { return pipelines_[static_cast<std::size_t>(p)]; }

    void go_on() const {
        if (ended_.load()) {
            throw Ended{};
        }
    }

    template <class Condition>
    void wait(Pipeline& pipe, Condition condition) {
        std::unique_lock lock(pipe.mutex);
        pipe.changed.wait(lock, [&] { return ended_.load() || condition(); });
        go_on();
    }

    void advance(Pipeline& pipe, std::int64_t Pipeline::*count) {
        const std::lock_guard lock(pipe.mutex);
        ++(pipe.*count);
        pipe.changed.notify_all();
    }

    /// The `index`-th group of a pipeline: the thread that gets there first takes the next one for all four.
    std::optional<std::int64_t> group_of(Pipeline& pipe, std::size_t index) {
        const std::lock_guard lock(pipe.mutex);
        if (index == pipe.groups.size()) {
            pipe.groups.push_back(next_group_.fetch_add(1));
        }
        const std::int64_t group = pipe.groups[index];
        return group < layout_.groups ? std::optional(group) : std::nullopt;
    }

    using Stage = void (PipelineStages::*)(int, const PipelineTask&);

    void prepare(int p, std::int64_t Pipeline::*made, Stage stage) {
        Pipeline& pipe = pipeline(p);
        for (std::size_t i = 0; const auto group = group_of(pipe, i); ++i) {
            for (int step = 0; step < layout_.steps; ++step) {
                wait(pipe, [&] { return pipe.*made == pipe.uploaded; });
                (stages_.*stage)(p, {*group, step});
                advance(pipe, made);
            }
        }
    }

    void solve(int p) {
        Pipeline& pipe = pipeline(p);
        std::mutex& device = devices_[static_cast<std::size_t>(layout_.device_of(p))];
        for (std::size_t i = 0; const auto group = group_of(pipe, i); ++i) {
            for (int step = 0; step < layout_.steps; ++step) {
                const PipelineTask task{*group, step};
                wait(pipe, [&] { return pipe.left > pipe.uploaded && pipe.right > pipe.uploaded; });
                stages_.upload(p, task);
                advance(pipe, &Pipeline::uploaded);
                const std::lock_guard lock(device);
                go_on();
                stages_.solve(p, task);
            }
            wait(pipe, [&] { return pipe.downloaded == pipe.aggregated; });
            stages_.download(p, {*group, layout_.steps - 1});
            advance(pipe, &Pipeline::downloaded);
        }
    }

    void aggregate(int p) {
        Pipeline& pipe = pipeline(p);
        for (std::size_t i = 0; const auto group = group_of(pipe, i); ++i) {
            wait(pipe, [&] { return pipe.downloaded > pipe.aggregated; });
            stages_.aggregate(p, {*group, layout_.steps - 1});
            advance(pipe, &Pipeline::aggregated);
            groups_done_.fetch_add(1);
        }
    }

    const PipelineLayout layout_;
    PipelineStages& stages_;
    const RunHooks& hooks_;
    std::vector<Pipeline> pipelines_;
    std::vector<std::mutex> devices_;
    std::atomic<std::int64_t> next_group_{0}, groups_done_{0};
    std::atomic<bool> ended_{false};
    std::vector<std::thread> threads_;

    std::mutex mutex_;
    std::condition_variable finished_;
    int running_ = 0;
    std::exception_ptr error_;
};

}  // namespace

void run_pipelines(const PipelineLayout& layout, PipelineStages& stages, const RunHooks& hooks) {
    try {
        Run(layout, stages, hooks).execute();
    } catch (const std::bad_alloc&) {
        fail(ErrorCode::resource, "memory ran out while the pipelines of {} devices were fed; use fewer of them",
             layout.devices);
    }
}

}  // namespace heptad
