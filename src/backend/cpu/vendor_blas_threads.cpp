// VendorThreads: one number of vendor threads at a time, and one threaded product at a time, first come first served.
//
// A threaded product that finds nobody else takes a way without locks, because its library may be done in a few
// microseconds: one atomic step in, one out. All others, and whoever comes while it is held, stand in line.
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "backend/cpu/vendor_blas.hpp"
#include "backend/cpu/vendor_blas_memory.hpp"

namespace heptad::cpu {
namespace {

/// Who decides about the library's setting.
enum class Owner : std::uint8_t {
    nobody,
    lone,          // a threaded holder who met nobody
    lone_awaited,  // and for whose end the line waits
    line,          // those who go through the mutex
};

struct Switch {
    std::atomic<Owner> owner{Owner::nobody};
    int touched = 1;  // threads whose packing memory was touched; for who has the library to himself

    std::mutex mutex;  // of the line: all below
    std::condition_variable changed;
    std::int64_t next_ticket = 0;
    std::int64_t serving = 0;  // tickets below this one have been let in
    int holders = 0;
    int threads = 0;         // what the present holders agreed on
    int setting_before = 0;  // of the library, when the first of them came

    bool enter_alone() {
        Owner nobody = Owner::nobody;
        return owner.compare_exchange_strong(nobody, Owner::lone, std::memory_order_acquire, std::memory_order_relaxed);
    }
    void leave_alone() {
        Owner lone = Owner::lone;
        if (!owner.compare_exchange_strong(lone, Owner::nobody, std::memory_order_release, std::memory_order_relaxed)) {
            const std::lock_guard lock(mutex);
            owner.store(Owner::line, std::memory_order_release);
            changed.notify_all();
        }
    }
    /// For the first in line while the line has no holders: true if it is the line's turn. Otherwise whoever is inside
    /// will know that he is waited for.
    bool claim_for_line() {
        for (Owner seen = owner.load(std::memory_order_acquire);;) {
            if (seen == Owner::line) {
                return true;
            }
            if (seen == Owner::lone_awaited) {
                return false;
            }
            const Owner next = seen == Owner::nobody ? Owner::line : Owner::lone_awaited;
            if (owner.compare_exchange_weak(seen, next, std::memory_order_acquire, std::memory_order_acquire)) {
                return next == Owner::line;
            }
        }
    }
};

Switch& switch_of(Vendor vendor) {
    // Never destroyed: products may still run in other threads while the process ends.
    static auto& switches = *new std::array<Switch, vendor_count>;
    return switches[static_cast<std::size_t>(vendor)];
}

/// For who has the library to himself. Returns the setting before.
int set_threads(Switch& s, const VendorLibrary& library, int threads) {
    const int before = library.get_threads();
    if (before != threads) {
        library.set_threads(threads);
    }
    if (threads > s.touched) {
        touch_packing_memory(library);
        s.touched = threads;
    }
    return before;
}

}  // namespace

VendorThreads::VendorThreads(const VendorLibrary& library, int threads) : library_(library), threads_(threads) {
    if (library_.set_threads == nullptr) {
        return;  // a serial build, or one whose setting is per thread (VendorThreadsHere)
    }
    Switch& s = switch_of(library_.vendor);
    is_alone_ = threads != 1 && s.enter_alone();
    if (is_alone_) {
        setting_before_ = set_threads(s, library_, threads);
        return;
    }
    std::unique_lock lock(s.mutex);
    const std::int64_t ticket = s.next_ticket++;
    s.changed.wait(lock, [&] {
        return s.serving == ticket && (s.holders == 0 ? s.claim_for_line() : threads == 1 && s.threads == 1);
    });
    ++s.serving;
    if (s.holders++ == 0) {
        s.threads = threads;
        s.setting_before = set_threads(s, library_, threads);
    }
    if (s.serving < s.next_ticket) {
        s.changed.notify_all();  // the next one in line may want the same number
    }
}

VendorThreads::~VendorThreads() {
    if (library_.set_threads == nullptr) {
        return;
    }
    Switch& s = switch_of(library_.vendor);
    if (is_alone_) {
        if (setting_before_ != threads_) {
            library_.set_threads(setting_before_);
        }
        s.leave_alone();
        return;
    }
    const std::lock_guard lock(s.mutex);
    if (--s.holders == 0) {
        if (s.setting_before != s.threads) {
            library_.set_threads(s.setting_before);
        }
        if (s.serving == s.next_ticket) {  // nobody is left
            s.owner.store(Owner::nobody, std::memory_order_release);
        } else {
            s.changed.notify_all();
        }
    }
}

}  // namespace heptad::cpu
