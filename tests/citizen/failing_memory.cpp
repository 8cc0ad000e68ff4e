#include "citizen/failing_memory.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>

namespace {

std::atomic<bool> counts{false};
std::atomic<bool> fails_for_good{false};
std::atomic<std::int64_t> seen{0};
std::atomic<std::int64_t> failing_number{0};

bool next_fails() noexcept {
    if (!counts.load(std::memory_order_relaxed)) {
        return false;
    }
    const std::int64_t number = seen.fetch_add(1) + 1;
    return fails_for_good ? number >= failing_number : number == failing_number;
}

}  // namespace

namespace heptad::citizen {

void let_allocation_fail(std::int64_t number, Shortage shortage) {
    seen = 0;
    failing_number = number;
    fails_for_good = shortage == Shortage::for_good;
    counts = true;
}

std::int64_t serve_allocations() {
    counts = false;
    return seen;
}

}  // namespace heptad::citizen

// The linker sends what the program and the libraries in it call here (--wrap), and leaves the C library alone.
extern "C" {
void* __real_aligned_alloc(std::size_t alignment, std::size_t bytes);
void* __real_mmap(void* address, std::size_t bytes, int protection, int flags, int file, off_t offset);

void* __wrap_aligned_alloc(std::size_t alignment, std::size_t bytes) {
    if (next_fails()) {
        errno = ENOMEM;
        return nullptr;
    }
    return __real_aligned_alloc(alignment, bytes);
}

void* __wrap_mmap(void* address, std::size_t bytes, int protection, int flags, int file, off_t offset) {
    if (next_fails()) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return __real_mmap(address, bytes, protection, flags, file, offset);
}
}

namespace {

void* allocate(std::size_t bytes) noexcept {
    return next_fails() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
}

void* allocate(std::size_t bytes, std::align_val_t alignment) noexcept {
    const auto unit = static_cast<std::size_t>(alignment);
    return next_fails() ? nullptr : __real_aligned_alloc(unit, (bytes / unit + 1) * unit);
}

void* or_throw(void* memory) {
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}

}  // namespace

void* operator new(std::size_t bytes) {
    return or_throw(allocate(bytes));
}
void* operator new[](std::size_t bytes) {
    return or_throw(allocate(bytes));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return or_throw(allocate(bytes, alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
    return or_throw(allocate(bytes, alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    return allocate(bytes);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
    return allocate(bytes);
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return allocate(bytes, alignment);
}
void* operator new[](std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return allocate(bytes, alignment);
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete[](void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
    std::free(memory);
}
