// Who is inside a library's product right now, and whether it may be entered at all.
//
// Two moments end badly inside a library. When the process exits, OpenBLAS frees its memory below products that still
// run in other threads. And a fork that comes while another thread holds one of a library's locks leaves that lock
// taken for ever in the child. So every call is marked in a slot of the calling thread, which costs some nanoseconds
// and touches nothing that threads share: exit() waits for those inside and lets nobody in any more, and the child of a
// fork never enters a library that a thread of the parent was in. Our own kernel takes over in both cases.
#pragma once

#include <array>
#include <atomic>

#include "kernels/cpu/vendor_blas.hpp"

namespace heptad::cpu {

struct alignas(64) CallSlot {
    std::atomic<unsigned char> inside{0};  // 1 + the vendor
    std::atomic<bool> taken{true};
    CallSlot* next = nullptr;
};

/// The calling thread's.
CallSlot& call_slot();

/// By vendor; only ever set.
extern constinit std::array<std::atomic<bool>, vendor_count> barred_vendors;

/// Libraries that are being loaded now; see LibraryLoad.
extern constinit std::atomic<int> loads_under_way;

/// To be held around every call of a library's product that is not made while it is loaded.
class VendorCall {
public:
    explicit VendorCall(Vendor vendor) : slot_(call_slot()) {
        slot_.inside.store(static_cast<unsigned char>(1 + static_cast<int>(vendor)));
        is_allowed_ = !barred_vendors[static_cast<std::size_t>(vendor)].load();
    }
    ~VendorCall() { slot_.inside.store(0, std::memory_order_release); }
    VendorCall(const VendorCall&) = delete;
    VendorCall& operator=(const VendorCall&) = delete;

    /// False: the library must not be called.
    explicit operator bool() const { return is_allowed_; }

private:
    CallSlot& slot_;
    bool is_allowed_;
};

/// To be held by every thread that calls the library for one task, inside somebody's VendorThreads: libraries that keep
/// the setting per thread need to be told there too.
class VendorThreadsHere {
public:
    VendorThreadsHere(const VendorLibrary& library, int threads) : library_(library) {
        if (library_.set_threads_local != nullptr) {
            const VendorCall call(library_.vendor);
            previous_ = call ? library_.set_threads_local(threads) : 0;
        } else if (library_.tell_every_thread) {
            const VendorCall call(library_.vendor);
            call ? library_.set_threads(threads) : void();
        }
    }
    ~VendorThreadsHere() {
        if (library_.set_threads_local != nullptr) {
            const VendorCall call(library_.vendor);
            call ? static_cast<void>(library_.set_threads_local(previous_)) : void();
        }
    }
    VendorThreadsHere(const VendorThreadsHere&) = delete;
    VendorThreadsHere& operator=(const VendorThreadsHere&) = delete;

private:
    const VendorLibrary& library_;
    int previous_ = 0;
};

/// No call of the library is allowed in this process from now on.
void bar_vendor(Vendor vendor) noexcept;

/// Makes exit() wait for those inside and for libraries that are being loaded. To be called before the first is.
void watch_exit();

/// In the child of a fork, where of all threads only the calling one is left.
void bar_vendors_entered_by_others() noexcept;

// OpenBLAS packs operands into memory of its own and prefetches beyond what it has packed. In pages that nobody has
// touched yet that fails anew with every panel: on a Neoverse V1 a f32 product of 32 x 32 x 32 takes 7.0 us and one of
// 64 x 64 x 64 takes 22, and 1.4 and 9.3 once a larger product has been there. What a product takes must not depend on
// what was multiplied before it.

/// Touches the packing memory of all threads that the library is set to use now, by a product of each type; some
/// milliseconds. Nothing for the other libraries.
void touch_packing_memory(const VendorLibrary& library) noexcept;

}  // namespace heptad::cpu
