#include "kernels/cpu/vendor_blas_calls.hpp"

#include <chrono>
#include <cstdlib>
#include <memory>
#include <new>
#include <thread>

#include "base/shared_state.hpp"

namespace heptad::cpu {
namespace {

constinit std::atomic<CallSlot*> all_slots{nullptr};  // never freed: a thread that ends leaves its slot to others

CallSlot* take_slot() {
    for (CallSlot* slot = all_slots.load(std::memory_order_acquire); slot != nullptr; slot = slot->next) {
        if (!slot->taken.exchange(true, std::memory_order_acquire)) {
            return slot;
        }
    }
    auto* const slot = new CallSlot;
    slot->next = all_slots.load(std::memory_order_relaxed);
    while (!all_slots.compare_exchange_weak(slot->next, slot, std::memory_order_release, std::memory_order_relaxed)) {
    }
    return slot;
}

struct SlotOfThread {
    CallSlot* const slot = take_slot();
    ~SlotOfThread() { slot->taken.store(false, std::memory_order_release); }
};

void wait_for_those_inside() {
    for (const Vendor vendor : {Vendor::openblas, Vendor::blis, Vendor::mkl}) {
        bar_vendor(vendor);
    }
    const auto nap = [] { std::this_thread::sleep_for(std::chrono::microseconds(100)); };
    while (loads_under_way.load() > 0) {
        nap();
    }
    for (const CallSlot* slot = all_slots.load(); slot != nullptr; slot = slot->next) {
        // One that nobody has taken is the calling thread's own, left already: a signal handler called exit().
        while (slot->inside.load() != 0 && slot->taken.load()) {
            nap();
        }
    }
}

}  // namespace

constinit std::array<std::atomic<bool>, vendor_count> barred_vendors{};
constinit std::atomic<int> loads_under_way{0};

CallSlot& call_slot() {
    return *per_thread<SlotOfThread, SlotOfThread>().slot;
}

void bar_vendor(Vendor vendor) noexcept {
    barred_vendors[static_cast<std::size_t>(vendor)].store(true);
}

void watch_exit() {
    static constinit std::atomic<bool> watching{false};
    if (!watching.exchange(true)) {
        std::atexit(wait_for_those_inside);
    }
}

void bar_vendors_entered_by_others() noexcept {
    for (CallSlot* slot = all_slots.load(); slot != nullptr; slot = slot->next) {
        if (const int inside = slot->inside.exchange(0); inside != 0) {
            bar_vendor(static_cast<Vendor>(inside - 1));
        }
    }
}

namespace {

/// From here on the last few panels, which are all that suffers, do not show.
constexpr int kSide = 320;

template <class T>
void multiply_zeros(CblasGemm<T> gemm) {
    constexpr int row_major = 101, as_is = 111;
    constexpr std::size_t count = std::size_t{kSide} * kSide;
    const std::unique_ptr<T[]> operands(new (std::nothrow) T[2 * count]());
    if (operands) {  // without, products are slower at first and that is all
        gemm(row_major, as_is, as_is, kSide, kSide, kSide, T(1), operands.get(), kSide, operands.get(), kSide, T(0),
             operands.get() + count, kSide);
    }
}

}  // namespace

void touch_packing_memory(const VendorLibrary& library) noexcept {
    if (library.vendor == Vendor::openblas) {
        multiply_zeros(library.sgemm);
        multiply_zeros(library.dgemm);
    }
}

}  // namespace heptad::cpu
