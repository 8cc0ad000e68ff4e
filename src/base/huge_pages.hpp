// Large memory in huge pages where the system grants them, which spares misses of the page tables. A refusal costs only
// speed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace heptad {

inline constexpr std::int64_t kHugePage_bytes = std::int64_t{2} << 20;

/// Mapped memory that begins at a huge page; null where there is none.
void* map_huge_pages(std::int64_t bytes) noexcept;
void unmap_pages(void* memory, std::int64_t bytes) noexcept;

struct FreeMemory {
    void operator()(void* memory) const noexcept { std::free(memory); }
};
/// Memory of the allocator, rounded up to whole huge pages; null where there is none.
std::unique_ptr<std::byte, FreeMemory> allocate_huge_pages(std::int64_t bytes) noexcept;

}  // namespace heptad
