#include "move/ranks/rank_pipeline.hpp"

#include "base/thread_pool.hpp"

namespace heptad {

void StageFailure::record(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (!raised_) {
        first_ = std::move(failure);
        raised_ = true;
        cancel_.cancel();
    }
}

void StageFailure::rethrow() const {
    const std::lock_guard lock(mutex_);
    if (first_) {
        std::rethrow_exception(first_);
    }
}

void StageFailure::give_up() const {
    std::exception_ptr failure;
    {
        const std::lock_guard lock(mutex_);
        failure = first_;
    }
    if (give_up_) {
        give_up_(failure);
    }
}

Stages::~Stages() {
    if (!threads_.empty()) {  // left by an exception
        failure_.record(std::make_exception_ptr(StageStopped()));
        join();
    }
}

void Stages::start(std::function<void()> stage) {
    threads_.reserve(threads_.size() + 1);  // before there is a thread that would have to be joined
    {
        const std::lock_guard lock(mutex_);
        ++running_;
    }
    const auto leave = [this] {
        const std::lock_guard lock(mutex_);
        --running_;
        ended_.notify_all();
    };
    try {
        threads_.push_back(start_thread([this, leave, work = std::move(stage)] {
            try {
                work();
            } catch (const StageStopped&) {
                // Another stage has failed and is the one to tell.
            } catch (...) {
                failure_.record(std::current_exception());
            }
            leave();
        }));
    } catch (...) {  // no thread: nobody is to wait for it
        leave();
        throw;
    }
}

void Stages::run_here_and_finish(const std::function<void()>& stage) {
    try {
        stage();
    } catch (const StageStopped&) {
        // As above.
    } catch (...) {
        failure_.record(std::current_exception());
    }
    join();
    failure_.rethrow();
}

void Stages::join() {
    {
        constexpr std::chrono::milliseconds kLook{20};  // failures are told by nobody's notification
        std::unique_lock lock(mutex_);
        const auto all_ended = [&] { return running_ == 0; };
        while (!ended_.wait_for(lock, kLook, all_ended)) {
            if (failure_.raised() && !ended_.wait_for(lock, failure_.grace(), all_ended)) {
                failure_.give_up();
                break;
            }
        }
    }
    for (std::thread& thread : threads_) {
        thread.join();
    }
    threads_.clear();
}

}  // namespace heptad
