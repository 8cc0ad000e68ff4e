#include "base/shared_state.hpp"

#include <pthread.h>

namespace heptad {
namespace {

constexpr std::uint32_t kState = 3, kFree = 0, kHeld = 1, kAwaited = 2;

constinit std::atomic<std::uint32_t> generation{0};

/// Handlers of a child run in the order of their registration, so this one, from before main, is before the library's
/// others.
[[maybe_unused]] const int registered =
    pthread_atfork(nullptr, nullptr, [] { generation.fetch_add(1, std::memory_order_relaxed); });

std::uint32_t this_process() noexcept {
    return process_generation() * (kState + 1);
}

}  // namespace

std::uint32_t process_generation() noexcept {
    return generation.load(std::memory_order_relaxed);
}

bool ForkLock::lock() noexcept {
    const std::uint32_t here = this_process();
    std::uint32_t taken = kHeld;
    std::uint32_t seen = word_.load(std::memory_order_relaxed);
    for (;;) {
        const bool from_elsewhere = (seen & ~kState) != here;
        const std::uint32_t state = seen & kState;
        if (from_elsewhere || state == kFree) {
            if (word_.compare_exchange_weak(seen, here | taken, std::memory_order_acquire, std::memory_order_relaxed)) {
                return from_elsewhere && state != kFree;
            }
            continue;
        }
        if (state == kHeld &&
            !word_.compare_exchange_weak(seen, here | kAwaited, std::memory_order_relaxed, std::memory_order_relaxed)) {
            continue;
        }
        word_.wait(here | kAwaited, std::memory_order_relaxed);
        taken = kAwaited;  // others may still wait behind this one
        seen = word_.load(std::memory_order_relaxed);
    }
}

void ForkLock::unlock() noexcept {
    const std::uint32_t before = word_.exchange(this_process() | kFree, std::memory_order_release);
    if ((before & kState) == kAwaited) {
        word_.notify_one();
    }
}

}  // namespace heptad
