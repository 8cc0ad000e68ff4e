// VendorThreads: one number of vendor threads at a time, and one threaded product at a time, first come first served.
#include <array>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "backend/cpu/vendor_blas.hpp"

namespace heptad::cpu {
namespace {

struct Switch {
    std::mutex mutex;
    std::condition_variable changed;
    std::int64_t next_ticket = 0;
    std::int64_t serving = 0;  // tickets below this one have been let in
    int holders = 0;
    int threads = 0;         // what the present holders agreed on
    int setting_before = 0;  // of the library, when the first of them came
};

Switch& switch_of(Vendor vendor) {
    // Never destroyed: products may still run in other threads while the process ends.
    static auto& switches = *new std::array<Switch, vendor_count>;
    return switches[static_cast<std::size_t>(vendor)];
}

}  // namespace

VendorThreads::VendorThreads(const VendorLibrary& library, int threads) : library_(library) {
    if (library_.set_threads == nullptr) {
        return;  // a serial build, or one whose setting is per thread (VendorThreadsHere)
    }
    Switch& s = switch_of(library_.vendor);
    std::unique_lock lock(s.mutex);
    const std::int64_t ticket = s.next_ticket++;
    s.changed.wait(lock, [&] { return s.serving == ticket && (s.holders == 0 || (threads == 1 && s.threads == 1)); });
    ++s.serving;
    if (s.holders++ == 0) {
        s.threads = threads;
        s.setting_before = library_.get_threads();
        if (s.setting_before != threads) {
            library_.set_threads(threads);
        }
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
    const std::lock_guard lock(s.mutex);
    if (--s.holders == 0) {
        if (s.setting_before != s.threads) {
            library_.set_threads(s.setting_before);
        }
        s.changed.notify_all();
    }
}

}  // namespace heptad::cpu
