// Threads that may not be had, and that leave the process's signals alone. Declared in thread_pool.hpp.
#include <pthread.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <new>
#include <system_error>
#include <vector>

#include "base/error.hpp"
#include "base/thread_pool.hpp"

namespace heptad {

std::thread start_thread(std::function<void()> work) {
    struct Blocked {
        sigset_t before;
        Blocked() {
            sigset_t all;
            sigfillset(&all);
            for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF}) {
                sigdelset(&all, number);
            }
            pthread_sigmask(SIG_SETMASK, &all, &before);
        }
        ~Blocked() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
    } const blocked;  // a new thread inherits this
    try {
        return std::thread(std::move(work));
    } catch (const std::system_error& error) {
        fail(ErrorCode::resource, "the system allows this process no more threads ({}); raise the limit (ulimit -u)",
             error.code().message());
    }
}

int startable_threads(int threads) {
    const auto tasks = [] {
        struct stat folder {};
        return stat("/proc/self/task", &folder) == 0 ? folder.st_nlink : 0;
    };
    const auto before = tasks();
    std::mutex mutex;
    std::condition_variable changed;
    bool over = false;
    std::vector<std::thread> started;
    try {
        started.reserve(static_cast<std::size_t>(std::max(0, threads)));
        while (static_cast<int>(started.size()) < threads) {
            started.push_back(start_thread([&] {
                std::unique_lock lock(mutex);
                changed.wait(lock, [&] { return over; });
            }));
        }
    } catch (const Error&) {
    } catch (const std::bad_alloc&) {
    }
    {
        const std::lock_guard lock(mutex);
        over = true;
        changed.notify_all();
    }
    for (std::thread& thread : started) {
        thread.join();
    }
    // A thread still counts for a moment after it was joined.
    for (int look = 0; look < 50 && tasks() > before; ++look) {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return static_cast<int>(started.size());
}

}  // namespace heptad
