#include "place/cluster/pipeline.hpp"

namespace heptad {

void StageFailure::record(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (!raised_) {
        first_ = std::move(failure);
        raised_ = true;
    }
}

void StageFailure::rethrow() const {
    const std::lock_guard lock(mutex_);
    if (first_) {
        std::rethrow_exception(first_);
    }
}

Stages::~Stages() {
    if (!threads_.empty()) {  // left by an exception
        failure_.record(std::make_exception_ptr(StageStopped()));
        join();
    }
}

void Stages::start(std::function<void()> stage) {
    threads_.emplace_back([this, work = std::move(stage)] {
        try {
            work();
        } catch (const StageStopped&) {
            // Another stage has failed and is the one to tell.
        } catch (...) {
            failure_.record(std::current_exception());
        }
    });
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
    for (std::thread& thread : threads_) {
        thread.join();
    }
    threads_.clear();
}

}  // namespace heptad
