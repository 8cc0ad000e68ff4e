// operator new of this library alone: where the system has no memory, small things come from a reserve. A product that
// has written a part of C cannot go back, and from there on it asks for nothing larger, but for packing memory
// (cpu_backend.cpp).
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <new>

namespace {

constexpr std::size_t kReserve = std::size_t{1} << 20, kLargest = kReserve / 16, kUnit = alignof(std::max_align_t);

struct Reserve {
    alignas(kUnit) std::byte memory[kReserve];  // of zeros: no page of it exists before it is used
    std::mutex mutex;
    std::size_t taken = 0, blocks = 0;  // all is free again when the last block is

    void* take(std::size_t bytes) {
        const std::lock_guard lock(mutex);
        bytes = (bytes + kUnit - 1) / kUnit * kUnit;
        if (bytes > kLargest || bytes > kReserve - taken) {
            return nullptr;
        }
        void* const block = memory + taken;
        taken += bytes;
        ++blocks;
        return block;
    }
    bool give_back(void* block) {
        const std::less<const void*> before;
        if (before(block, memory) || !before(block, memory + kReserve)) {
            return false;
        }
        const std::lock_guard lock(mutex);
        taken = --blocks == 0 ? 0 : taken;
        return true;
    }
};
constinit Reserve reserve{};

}  // namespace

void* operator new(std::size_t bytes) {
    bytes = bytes == 0 ? 1 : bytes;
    void* memory = std::malloc(bytes);
    memory = memory != nullptr ? memory : reserve.take(bytes);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}

void operator delete(void* memory) noexcept {
    if (!reserve.give_back(memory)) {
        std::free(memory);
    }
}

void operator delete(void* memory, std::size_t) noexcept {
    operator delete(memory);
}
