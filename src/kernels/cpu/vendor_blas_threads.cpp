// VendorThreads: one number of vendor threads at a time, and one threaded product at a time, first come first served.
//
// A threaded product that finds nobody else takes a way without locks, because its library may be done in a few
// microseconds: one atomic step in, one out. All others, and whoever comes while it is held, stand in line.
//
// A fork waits until nobody uses OpenBLAS's threads, because OpenBLAS then ends them, and that never returns if one of
// them is at work. In the child the switches are new: holders that are not there would hold them for ever.
#include <pthread.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>

#include "base/shared_state.hpp"
#include "base/thread_pool.hpp"
#include "kernels/cpu/vendor_blas.hpp"
#include "kernels/cpu/vendor_blas_calls.hpp"

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
    int to_restore = 0;      // in the child of a fork: what the parent's holders would have put back; 0: nothing

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

using Switches = std::array<Switch, vendor_count>;
constinit std::atomic<Switches*> switches{nullptr};

Switch& switch_of(Vendor vendor) {
    Switches* all = switches.load(std::memory_order_acquire);
    if (all == nullptr) {
        auto* const fresh = new Switches;
        if (switches.compare_exchange_strong(all, fresh, std::memory_order_acq_rel)) {
            all = fresh;
        } else {
            delete fresh;
        }
    }
    return (*all)[static_cast<std::size_t>(vendor)];
}

/// For who has the library to himself. Returns the setting before.
int set_threads(Switch& s, const VendorLibrary& library, int threads) {
    const VendorCall call(library.vendor);
    if (!call) {
        return threads;  // then nothing is put back
    }
    const int now = library.get_threads();
    const int before = s.to_restore > 0 ? std::exchange(s.to_restore, 0) : now;
    if (now != threads) {
        library.set_threads(threads);
    }
    if (threads > s.touched) {
        touch_packing_memory(library);
        s.touched = threads;
    }
    return before;
}

void put_back(const VendorLibrary& library, int before, int now) {
    const VendorCall call(library.vendor);
    if (call && before != now) {
        library.set_threads(before);
    }
}

// ---------------------------------------------------------------- fork

constinit std::atomic<std::uint32_t> forks_made{0};  // by this process, of which each ends OpenBLAS's threads

/// Until nobody uses OpenBLAS's threads; nobody new comes in until after the fork.
void before_fork() {
    Switch& s = switch_of(Vendor::openblas);
    std::unique_lock lock(s.mutex);
    const std::int64_t ticket = s.next_ticket++;
    s.changed.wait(lock, [&] { return s.serving == ticket && (s.holders == 0 ? s.claim_for_line() : s.threads == 1); });
    ++s.serving;
    lock.release();  // NOLINT(bugprone-unused-return-value): unlocked after the fork
}

void after_fork_in_parent() {
    forks_made.fetch_add(1, std::memory_order_relaxed);
    Switch& s = switch_of(Vendor::openblas);
    const std::unique_lock lock(s.mutex, std::adopt_lock);
    if (s.holders == 0 && s.serving == s.next_ticket) {
        s.owner.store(Owner::nobody, std::memory_order_release);
    }
    s.changed.notify_all();
}

void after_fork_in_child() {
    if (loads_under_way.load() > 0) {
        // The dynamic linker is in the middle of something here, and stays there.
        for (const Vendor vendor : {Vendor::openblas, Vendor::blis, Vendor::mkl}) {
            bar_vendor(vendor);
        }
        loads_under_way.store(0);
    }
    bar_vendors_entered_by_others();
    const Switches* const before = switches.load();
    switches.store(nullptr);
    for (std::size_t i = 0; before != nullptr && i < before->size(); ++i) {
        const Switch& held = (*before)[i];
        const Owner owner = held.owner.load();
        if (held.holders > 0 || owner == Owner::lone || owner == Owner::lone_awaited) {
            switch_of(static_cast<Vendor>(i)).to_restore = held.setting_before;
        }
    }
}

/// How many threads a library is known to have got from the system.
struct KnownTeam {
    std::uint32_t generation = 0, forks = 0;
    int threads = 1;

    bool has(int wanted) {
        const std::uint32_t here = process_generation(), made = forks_made.load(std::memory_order_relaxed);
        if (generation != here || forks != made) {
            *this = {here, made, 1};
        }
        if (threads < wanted && startable_threads(wanted - 1) == wanted - 1) {
            threads = wanted;
        }
        return threads >= wanted;
    }
};

}  // namespace

LibraryLoad::LibraryLoad() {
    static constinit std::atomic<bool> registered{false};
    if (!registered.exchange(true)) {
        pthread_atfork(nullptr, nullptr, after_fork_in_child);
        watch_exit();
    }
    loads_under_way.fetch_add(1);
}

LibraryLoad::~LibraryLoad() {
    // After OpenBLAS's own handler, which it registers when it is loaded: before a fork the last registered comes
    // first.
    static constinit std::atomic<bool> registered{false};
    if (!registered.exchange(true)) {
        pthread_atfork(before_fork, after_fork_in_parent, nullptr);
    }
    loads_under_way.fetch_sub(1);
}

bool may_use_vendor(const VendorLibrary& library) {
    if (barred_vendors[static_cast<std::size_t>(library.vendor)].load(std::memory_order_relaxed)) {
        return false;
    }
    const bool was_forked = process_generation() != 0 || forks_made.load(std::memory_order_relaxed) != 0;
    if (library.vendor != Vendor::openblas || library.started_threads <= 1 || !was_forked) {
        return true;
    }
    // After a fork its threads are started anew when it is next told a number, in the parent too.
    static constinit Guarded<KnownTeam> team;
    return team.lock()->has(library.started_threads);
}

bool may_use_vendor_threads(const VendorLibrary& library, int threads) {
    if (process_generation() != 0 && !library.threads_survive_fork) {
        return false;
    }
    if (library.vendor == Vendor::openblas && threads <= library.started_threads) {
        return true;  // may_use_vendor has looked
    }
    return per_thread<std::array<KnownTeam, vendor_count>,
                      std::array<KnownTeam, vendor_count>>()[static_cast<std::size_t>(library.vendor)]
        .has(threads);  // OpenMP has a team for each thread that calls
}

VendorThreads::VendorThreads(const VendorLibrary& library, int threads) : library_(library), threads_(threads) {
    if (library_.set_threads == nullptr) {
        return;  // a serial build, or one whose setting is per thread (VendorThreadsHere)
    }
    Switch& s = switch_of(library_.vendor);
    is_alone_ = threads != 1 && s.enter_alone();
    if (is_alone_) {
        s.setting_before = setting_before_ = set_threads(s, library_, threads);
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
        put_back(library_, setting_before_, threads_);
        s.leave_alone();
        return;
    }
    const std::lock_guard lock(s.mutex);
    if (--s.holders == 0) {
        put_back(library_, s.setting_before, s.threads);
        if (s.serving == s.next_ticket) {  // nobody is left
            s.owner.store(Owner::nobody, std::memory_order_release);
        } else {
            s.changed.notify_all();
        }
    }
}

}  // namespace heptad::cpu
