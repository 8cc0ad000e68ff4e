#include "interruptible.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>

#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace heptad::python {
namespace {

/// How often the waiting thread looks for signals and tells progress. Cancelling takes this long at most, and then as
/// long as the library takes to notice.
constexpr std::chrono::milliseconds kLook{20};

bool is_main_thread() {
    return syscall(SYS_gettid) == getpid();
}

/// What the two threads tell each other.
struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    std::exception_ptr failure;
    std::optional<std::pair<double, std::string>> news;
};

void carry_out(const Work& work, Shared& shared) noexcept {
    std::exception_ptr failure;
    try {
        work.carry_out([&](const Progress& progress) {
            if (work.listener) {
                const std::lock_guard lock(shared.mutex);
                shared.news.emplace(progress.fraction, progress.stage);
            }
        });
    } catch (...) {
        failure = std::current_exception();
    }
    const std::lock_guard lock(shared.mutex);
    shared.failure = failure;
    shared.done = true;
    shared.changed.notify_all();
}

/// Waits a little; true once the work has ended.
bool wait(Shared& shared) {
    const nb::gil_scoped_release release;
    std::unique_lock lock(shared.mutex);
    return shared.changed.wait_for(lock, kLook, [&] { return shared.done; });
}

std::optional<std::pair<double, std::string>> take_news(Shared& shared) {
    const std::lock_guard lock(shared.mutex);
    return std::exchange(shared.news, std::nullopt);
}

/// Signals and progress, until the work has ended; an exception that one of them raised.
std::exception_ptr attend(const Work& work, Shared& shared) {
    std::exception_ptr raised;
    for (bool done = false; !done;) {
        done = wait(shared);
        if (raised) {
            continue;
        }
        try {
            if (PyErr_CheckSignals() != 0) {
                throw nb::python_error();
            }
            if (const auto news = take_news(shared); news && work.listener) {
                work.listener(news->first, news->second);
            }
        } catch (...) {
            raised = std::current_exception();
            work.cancel.cancel();
        }
    }
    return raised;
}

void rethrow(const std::exception_ptr& failure, Place place) {
    try {
        std::rethrow_exception(failure);
    } catch (const Error& error) {
        set_exception(error, place);
        throw nb::python_error();
    }
}

void run_here(const Work& work, Shared& shared) {
    const nb::gil_scoped_release release;
    carry_out(work, shared);
}

}  // namespace

void run(const Work& work) {
    Shared shared;
    std::exception_ptr raised;
    if (work.listener || (work.may_take_long && is_main_thread())) {
        std::optional<std::thread> worker;
        try {
            worker.emplace([&] { carry_out(work, shared); });
        } catch (const std::system_error&) {  // no more threads: better without Ctrl-C than not at all
            run_here(work, shared);
        }
        if (worker) {
            raised = attend(work, shared);
            worker->join();
        }
    } else {
        run_here(work, shared);
    }
    if (raised) {
        std::rethrow_exception(raised);
    }
    if (shared.failure) {
        rethrow(shared.failure, work.place);
    }
}

}  // namespace heptad::python
