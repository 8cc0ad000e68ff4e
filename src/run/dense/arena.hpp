// Scratch memory of one product: blocks are taken and given back in the order of the recursion.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/error.hpp"
#include "base/size.hpp"
#include "plan/search/level_layout.hpp"

namespace heptad {

class Arena {
public:
    /// `memory` is aligned to kWorkspaceAlignment and holds `bytes`.
    Arena(void* memory, std::int64_t bytes) : memory_(static_cast<std::byte*>(memory)), bytes_(bytes) {}

    void* take(std::int64_t bytes) {
        const std::int64_t next = used_ + round_up(bytes, kWorkspaceAlignment);
        if (next > bytes_) {
            fail(ErrorCode::internal, "a product wanted {} bytes of workspace where its plan states {}", next, bytes_);
        }
        void* block = memory_ + used_;
        used_ = next;
        if (used_ > most_used_) {
            most_used_ = used_;
        }
        return block;
    }

    std::int64_t used_bytes() const { return used_; }
    std::int64_t most_used_bytes() const { return most_used_; }
    /// Gives back all that was taken since used_bytes() was `mark`.
    void release_to(std::int64_t mark) { used_ = mark; }

private:
    std::byte* memory_;
    std::int64_t bytes_;
    std::int64_t used_ = 0;
    std::int64_t most_used_ = 0;
};

/// Gives back at the end of a scope.
class ArenaScope {
public:
    explicit ArenaScope(Arena& arena) : arena_(arena), mark_(arena.used_bytes()) {}
    ~ArenaScope() { arena_.release_to(mark_); }
    ArenaScope(const ArenaScope&) = delete;
    ArenaScope& operator=(const ArenaScope&) = delete;

private:
    Arena& arena_;
    std::int64_t mark_;
};

}  // namespace heptad
