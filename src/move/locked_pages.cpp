#include "move/locked_pages.hpp"

#include <algorithm>
#include <atomic>

#include "base/size.hpp"
#include "base/thread_pool.hpp"
#include "kernels/cuda/device/device.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kPage_bytes = 4096;

}  // namespace

void touch_pages(std::byte* memory, std::int64_t bytes) {
    constexpr std::int64_t kPagesPerTask = 4096;
    const std::int64_t pages = ceil_div(bytes, kPage_bytes);
    shared_pool(threads_or_default()).run(ceil_div(pages, kPagesPerTask), [&](std::int64_t task) {
        for (std::int64_t page = task * kPagesPerTask; page < std::min(pages, (task + 1) * kPagesPerTask); ++page) {
            std::atomic_ref(*reinterpret_cast<std::uint8_t*>(memory + page * kPage_bytes)).fetch_or(0);
        }
    });
}

void LockedPages::lock(const void* memory, std::int64_t bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    if (bytes <= 0 || address % kPage_bytes != 0 || bytes % kPage_bytes != 0) {
        return;
    }
    void* const pages = const_cast<void*>(memory);  // locking changes nothing in them
    locked_.push_back(pages);  // before they are locked: without memory for that, they would stay so
    if (!cuda::lock_pages(pages, bytes)) {
        locked_.pop_back();
    }
}

void LockedPages::unlock() {
    for (void* const pages : locked_) {
        cuda::unlock_pages(pages);
    }
    locked_.clear();
}

}  // namespace heptad
