// Scratch memory of products, kept between calls: fresh pages cost more to touch than a product's sums cost to make.
//
// Nobody else shall miss it. It is taken only where the system really has it (free_memory.hpp), so that a product which
// fits without it is not killed for it; what is kept is bounded, is given back when no product used it for a while, and
// large blocks are the system's to take as soon as it runs short.
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

#include "base/view.hpp"

namespace heptad {

/// Of so many free bytes those that workspace may take: half of what is left beside a reserve, rounded down to a power
/// of two, so that a little more or less that is free does not make another plan; 0 where that is less than 1 MiB.
std::int64_t workspace_share(std::int64_t free_bytes);

/// Borrowed scratch memory, aligned to a page, given back to the store at the end of the scope.
class Workspace {
public:
    Workspace() = default;
    /// Asks for no one's leave. Throws Error(resource) with the bytes asked for when memory runs out. Zero bytes: a
    /// null pointer.
    explicit Workspace(std::int64_t bytes);
    ~Workspace();
    Workspace(Workspace&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
    Workspace& operator=(Workspace&& other) noexcept {
        Workspace(std::move(other)).swap(*this);
        return *this;
    }

    /// Takes the bytes where they are kept or within the share of what is free, less what the product has yet to touch
    /// of its result. Otherwise false, and `limit_bytes` becomes less than `bytes`: what could be had instead.
    bool try_take(std::int64_t bytes, const ByteRange& result, std::int64_t& limit_bytes);

    void* data() const { return data_; }

private:
    void swap(Workspace& other) noexcept { std::swap(data_, other.data_); }

    void* data_ = nullptr;
};

/// `bytes` where try_take() would get them now, or what it would make of the limit.
std::int64_t room_for_workspace(std::int64_t bytes, const ByteRange& result);

/// The scratch memory of a caller from its first cache line on.
struct LentMemory {
    void* data = nullptr;
    std::int64_t bytes = 0;
};
LentMemory lent_memory(void* memory, std::int64_t bytes);
/// Throws Error(input) where such memory meets that of a matrix; gaps between its rows count.
void require_workspace_apart(const void* memory, std::int64_t bytes, const ByteRange& a, const ByteRange& b,
                             const ByteRange& c);

/// Frees what is kept and was not borrowed for so long. Every product does so, with ten seconds.
void release_idle_workspace(std::chrono::nanoseconds longest_idle);
/// Frees what is kept and not borrowed now.
void release_kept_workspace() noexcept;
/// Bytes that are kept and not borrowed now.
std::int64_t kept_workspace_bytes();

}  // namespace heptad
