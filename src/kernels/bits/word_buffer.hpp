// Memory for words, aligned to a cache line; large ones in huge pages where the system gives them. Buffers that a
// product gave back are kept for the next one (base/workspace.hpp): fresh pages cost more than the sums made in them.
#pragma once

#include <cstdint>

#include "base/workspace.hpp"

namespace heptad::bits {

class WordBuffer {
public:
    WordBuffer() = default;
    /// Contents are undefined. Throws Error(resource), naming the bytes, where the memory cannot be had.
    explicit WordBuffer(std::int64_t words);

    std::uint64_t* data() const { return static_cast<std::uint64_t*>(memory_.data()); }

private:
    Workspace memory_;
};

/// Memory of `bytes` bytes as described above, without the keeping. Throws Error(resource).
void* allocate_words(std::int64_t bytes);
void release_words(void* memory) noexcept;

}  // namespace heptad::bits
