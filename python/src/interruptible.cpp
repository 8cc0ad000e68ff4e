#include "interruptible.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace heptad::python {
namespace {

using Clock = std::chrono::steady_clock;

/// How often the waiting thread looks for signals and tells progress.
constexpr std::chrono::milliseconds kLook{20};
/// How long cancelled work is waited for before it is left. Both together are less than the 0.2 s that Ctrl-C may take.
constexpr std::chrono::milliseconds kPatience{100};

bool is_main_thread() {
    return syscall(SYS_gettid) == getpid();
}

/// Work under way, and what its two threads tell each other. Both own it; the work itself holds objects of Python, so
/// the waiting thread frees that with the GIL, once it is done.
struct Running {
    explicit Running(Work given) : work(std::move(given)) {}

    std::optional<Work> work;
    Place place = work->place;
    pid_t process = getpid();  // a child has no thread that would end it
    std::mutex mutex = {};
    std::condition_variable changed = {};
    bool done = false;
    bool left = false;  // nobody waits any more
    std::exception_ptr failure = {};
    std::optional<std::pair<double, std::string>> news = {};
};

/// Work that was left, until it has ended and the GIL is there to free what it holds. Its mutex is locked before those
/// of the work. Never destroyed: work may end while the process does.
struct LeftWork {
    std::mutex mutex;
    std::vector<std::shared_ptr<Running>> all;
    bool python_ends = false;
};
LeftWork& left_work() {
    static auto* const left = new LeftWork;
    return *left;
}

/// Work on files that was left still holds the lock of its result: the next one waits for it.
void wait_for_left_files(const CancelToken& cancel) {
    std::vector<std::shared_ptr<Running>> others;
    {
        LeftWork& left = left_work();
        const std::lock_guard lock(left.mutex);
        std::copy_if(
            left.all.begin(), left.all.end(), std::back_inserter(others),
            [](const std::shared_ptr<Running>& one) { return one->place == Place::files && one->process == getpid(); });
    }
    for (const std::shared_ptr<Running>& other : others) {
        std::unique_lock lock(other->mutex);
        while (!other->changed.wait_for(lock, kLook, [&] { return other->done; }) && !cancel.cancelled()) {
        }
    }
}

/// With the GIL. Python calls it soon after Py_AddPendingCall.
int free_ended_work(void* /*unused*/) {
    std::vector<std::shared_ptr<Running>> ended;
    {
        LeftWork& left = left_work();
        const std::lock_guard lock(left.mutex);
        std::erase_if(left.all, [&](const std::shared_ptr<Running>& running) {
            const std::lock_guard one(running->mutex);
            if (running->done) {
                ended.push_back(running);
            }
            return running->done;
        });
    }
    for (const std::shared_ptr<Running>& running : ended) {
        running->work.reset();
    }
    return 0;
}

void carry_out(Running& running) noexcept {
    std::exception_ptr failure;
    try {
        if (running.place == Place::files) {
            wait_for_left_files(running.work->cancel);
        }
        running.work->carry_out([&](const Progress& progress) {
            if (running.work->listener) {
                const std::lock_guard lock(running.mutex);
                running.news.emplace(progress.fraction, progress.stage);
            }
        });
    } catch (...) {
        failure = std::current_exception();
    }
    bool was_left = false;
    {
        const std::lock_guard lock(running.mutex);
        running.failure = std::move(failure);
        running.done = true;
        running.changed.notify_all();
        was_left = running.left;
    }
    if (was_left) {
        LeftWork& left = left_work();
        const std::lock_guard lock(left.mutex);
        if (!left.python_ends) {
            Py_AddPendingCall(free_ended_work, nullptr);  // needs no GIL, but an interpreter
        }
    }
}

/// Waits a little; true once the work has ended.
bool wait(Running& running) {
    const nb::gil_scoped_release release;
    std::unique_lock lock(running.mutex);
    return running.changed.wait_for(lock, kLook, [&] { return running.done; });
}

std::optional<std::pair<double, std::string>> take_news(Running& running) {
    const std::lock_guard lock(running.mutex);
    return std::exchange(running.news, std::nullopt);
}

/// True, and the work belongs to left_work(), unless it has ended meanwhile.
bool leave(const std::shared_ptr<Running>& running) {
    LeftWork& left = left_work();
    const std::lock_guard lock(left.mutex);
    const std::lock_guard one(running->mutex);
    if (running->done) {
        return false;
    }
    left.all.push_back(running);
    running->left = true;
    return true;
}

/// Signals and progress, until the work has ended or is left. Returns the exception that one of them raised.
std::exception_ptr attend(const std::shared_ptr<Running>& running) {
    const Work& work = *running->work;
    std::exception_ptr raised;
    Clock::time_point cancelled_at;
    while (!wait(*running)) {
        if (raised) {
            if (work.may_be_left && Clock::now() - cancelled_at > kPatience && leave(running)) {
                break;
            }
            continue;
        }
        try {
            if (PyErr_CheckSignals() != 0) {
                throw nb::python_error();
            }
            if (const auto news = take_news(*running); news && work.listener) {
                work.listener(news->first, news->second);
            }
        } catch (...) {
            raised = std::current_exception();
            cancelled_at = Clock::now();
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

/// False where no thread can be had.
bool started(const std::shared_ptr<Running>& running) {
    try {
        std::thread([running] { carry_out(*running); }).detach();
        return true;
    } catch (const std::system_error&) {
        return false;
    }
}

}  // namespace

void let_go_when_python_ends() {
    nb::module_::import_("atexit").attr("register")(nb::cpp_function([] {
        LeftWork& left = left_work();
        const std::lock_guard lock(left.mutex);
        left.python_ends = true;
    }));
}

void run(Work work) {
    const bool attended = work.listener || (work.may_take_long && is_main_thread());
    if (!attended) {
        try {
            const nb::gil_scoped_release release;
            work.carry_out([](const Progress&) {});
        } catch (const Error& error) {
            set_exception(error, work.place);
            throw nb::python_error();
        }
        return;
    }
    const auto running = std::make_shared<Running>(std::move(work));
    std::exception_ptr raised;
    if (started(running)) {
        raised = attend(running);
    } else {  // better without Ctrl-C than not at all
        const nb::gil_scoped_release release;
        carry_out(*running);
    }
    if (!running->left) {
        running->work.reset();
    }
    if (raised) {
        std::rethrow_exception(raised);
    }
    if (running->failure) {
        rethrow(running->failure, running->place);
    }
}

}  // namespace heptad::python
