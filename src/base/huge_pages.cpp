#include "base/huge_pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

namespace heptad {

void* map_huge_pages(std::int64_t bytes) noexcept {
    constexpr std::size_t unit = kHugePage_bytes;
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));  // 64 KiB on some Arm systems
    const std::size_t size = (static_cast<std::size_t>(bytes) + page - 1) / page * page;
    void* const memory = mmap(nullptr, size + unit, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return nullptr;
    }
    // What lies before and after the aligned part goes back.
    const std::size_t before = (unit - reinterpret_cast<std::uintptr_t>(memory) % unit) % unit;
    std::byte* const first = static_cast<std::byte*>(memory) + before;
    if (before > 0) {
        munmap(memory, before);
    }
    munmap(first + size, unit - before);
    madvise(first, size, MADV_HUGEPAGE);
    return first;
}

void unmap_pages(void* memory, std::int64_t bytes) noexcept {
    munmap(memory, static_cast<std::size_t>(bytes));
}

std::unique_ptr<std::byte, FreeMemory> allocate_huge_pages(std::int64_t bytes) noexcept {
    const auto unit = static_cast<std::size_t>(kHugePage_bytes);
    const std::size_t size = (static_cast<std::size_t>(bytes) + unit - 1) / unit * unit;
    std::unique_ptr<std::byte, FreeMemory> memory(static_cast<std::byte*>(std::aligned_alloc(unit, size)));
    if (memory) {
        madvise(memory.get(), size, MADV_HUGEPAGE);
    }
    return memory;
}

}  // namespace heptad
