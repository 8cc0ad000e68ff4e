// Memory that a thread needs for its products, made on first use and kept until the thread ends.
#pragma once

#include <memory>

#include "base/error.hpp"
#include "base/huge_pages.hpp"
#include "base/shared_state.hpp"

namespace heptad::cpu {

/// At least so many bytes. Each Tag has its own. Throws Error(resource).
template <class Tag>
std::byte* thread_scratch(std::int64_t bytes) {
    struct Scratch {
        std::unique_ptr<std::byte, FreeMemory> memory;
        std::int64_t held_bytes = 0;
    };
    auto& [memory, held_bytes] = per_thread<Tag, Scratch>();
    if (held_bytes < bytes) {
        memory.reset();
        held_bytes = 0;
        memory = allocate_huge_pages(bytes);
        if (!memory) {
            fail(ErrorCode::resource,
                 "a product needs {} bytes of packing memory per thread, and they cannot be allocated; free "
                 "memory or use fewer threads",
                 bytes);
        }
        held_bytes = bytes;
    }
    return memory.get();
}

}  // namespace heptad::cpu
