// Host memory whose pages stay locked while this lives, so that transfers reach the speed of the link and run beside
// other work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heptad {

/// Writes nothing new to any page, and yet makes the system give them all, by all cores: locking would have to bring
/// them one after another. What other threads write there meanwhile stays.
void touch_pages(std::byte* memory, std::int64_t bytes);

class LockedPages {
public:
    LockedPages() = default;
    ~LockedPages() { unlock(); }
    LockedPages(const LockedPages&) = delete;
    LockedPages& operator=(const LockedPages&) = delete;

    /// Whole pages only: others may hold a neighbour's memory too, which may be locked by itself. Refusal costs only
    /// speed.
    void lock(const void* memory, std::int64_t bytes);
    void unlock();

private:
    std::vector<void*> locked_;
};

}  // namespace heptad
