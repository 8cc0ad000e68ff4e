// A made-up limit on threads, because root has none: pthread_create fails beyond it, for Heptad's threads and for those
// of the libraries it loads. For one source file of a program; the program must export its symbols.
#pragma once

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>

#include "citizen/child.hpp"

namespace heptad::citizen {
inline constinit std::atomic<int> allowed{1 << 20};
inline constinit std::atomic<int> running{0};
inline constinit std::atomic<int> refused{0};

struct Start {
    void* (*routine)(void*);
    void* argument;
};

inline void* run_counted(void* given) {
    const Start start = *static_cast<Start*>(given);
    delete static_cast<Start*>(given);
    struct Leaving {
        ~Leaving() { --running; }
    } const leaving;
    return start.routine(start.argument);
}

}  // namespace heptad::citizen

/// Stands in for the C library's, for Heptad's threads and those of the libraries it loads.
extern "C" __attribute__((visibility("default"))) int pthread_create(pthread_t* thread,
                                                                     const pthread_attr_t* attributes,
                                                                     void* (*routine)(void*), void* argument) {
    using namespace heptad::citizen;
    using Function = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
    static const auto create = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "pthread_create"));
    if (++running > allowed) {
        --running;
        ++refused;
        return EAGAIN;
    }
    auto* const start = new Start{routine, argument};
    const int error = create(thread, attributes, run_counted, start);
    if (error != 0) {
        delete start;
        --running;
    }
    return error;
}

namespace heptad::citizen {

/// Multiplies in a new process that may have so many threads more than one.
inline std::string with_threads(int count, const std::function<int()>& work) {
    return in_child([&] {
        running = 0;
        allowed = count;
        return work();
    });
}

}  // namespace heptad::citizen
