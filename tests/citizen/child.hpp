// Something that may crash or hang, done in a process of its own: then it is a failed test and not a stuck suite.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>

#if defined(__SANITIZE_THREAD__)
#define HEPTAD_THREAD_SANITIZER 1
#elif defined(__SANITIZE_ADDRESS__)
#define HEPTAD_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HEPTAD_THREAD_SANITIZER 1
#elif __has_feature(address_sanitizer)
#define HEPTAD_ADDRESS_SANITIZER 1
#endif
#endif

/// The thread sanitizer does not support threads in the child of a process with threads.
#if defined(HEPTAD_THREAD_SANITIZER)
#define HEPTAD_FORKS_WITH_THREADS() GTEST_SKIP() << "not under the thread sanitizer"
#else
#define HEPTAD_FORKS_WITH_THREADS() static_cast<void>(0)
#endif

/// The address sanitizer of g++ 12 holds locks of its allocator and of its list of threads over a fork: where another
/// thread allocates or starts a thread at that moment, the child hangs, whatever the program (three threads that do
/// nothing else are enough). With threads that rest it works.
#if defined(HEPTAD_ADDRESS_SANITIZER)
#define HEPTAD_FORKS_BESIDE_BUSY_THREADS() GTEST_SKIP() << "not under the address sanitizer"
#else
#define HEPTAD_FORKS_BESIDE_BUSY_THREADS() HEPTAD_FORKS_WITH_THREADS()
#endif

namespace heptad::citizen {

/// What only threads of the parent knew of looks lost in a child.
inline bool looks_for_leaks = true;

}  // namespace heptad::citizen

/// Asked by the address sanitizer at the end of a process.
extern "C" __attribute__((weak)) int __lsan_is_turned_off() {
    return heptad::citizen::looks_for_leaks ? 0 : 1;
}

namespace heptad::citizen {

/// Under the sanitizers, where everything takes longer.
#if defined(HEPTAD_REDUCED_TESTS)
inline constexpr bool kReduced = true;
#else
inline constexpr bool kReduced = false;
#endif

inline constexpr int kHangGuard_s = 120;  // generous: the machine may be busy

/// "exit 0", "signal 11", "hang".
inline std::string end_of(pid_t child, int guard_s = kHangGuard_s) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(guard_s);
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (std::chrono::steady_clock::now() > deadline) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            return "hang";
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return WIFEXITED(status) ? "exit " + std::to_string(WEXITSTATUS(status))
                             : "signal " + std::to_string(WTERMSIG(status));
}

/// How a forked process ended that did this and then called exit() with what it returned.
inline std::string in_child(const std::function<int()>& work, int guard_s = kHangGuard_s) {
    std::fflush(nullptr);  // what is not written yet would be written twice
    const pid_t child = fork();
    if (child == 0) {
        looks_for_leaks = false;
        int code = 99;
        try {
            code = work();
        } catch (...) {
            code = 98;
        }
        std::exit(code);
    }
    return end_of(child, guard_s);
}

/// How many threads this process has.
inline int threads_here() {
    int count = 0;
    if (FILE* const file = std::fopen("/proc/self/status", "r")) {
        char line[256];
        while (std::fgets(line, sizeof line, file) != nullptr) {
            if (std::sscanf(line, "Threads: %d", &count) == 1) {
                break;
            }
        }
        std::fclose(file);
    }
    return count;
}

}  // namespace heptad::citizen
