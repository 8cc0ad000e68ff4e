// Memory for words, aligned to a cache line; from 4 MiB on in huge pages where the system gives them. Buffers that a
// product gave back are kept for the next one: fresh pages cost more than the sums made in them.
#pragma once

#include <cstdint>
#include <utility>

namespace heptad::bits {

class WordBuffer {
public:
    WordBuffer() = default;
    /// Contents are undefined. Throws Error(resource), naming the bytes, where the memory cannot be had.
    explicit WordBuffer(std::int64_t words);
    ~WordBuffer();
    WordBuffer(WordBuffer&& other) noexcept { swap(other); }
    WordBuffer& operator=(WordBuffer&& other) noexcept {
        WordBuffer(std::move(other)).swap(*this);
        return *this;
    }

    std::uint64_t* data() const { return data_; }

private:
    void swap(WordBuffer& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
    }

    std::uint64_t* data_ = nullptr;
    std::int64_t bytes_ = 0;
};

/// Memory of `bytes` bytes as described above, without the keeping. Throws Error(resource).
void* allocate_words(std::int64_t bytes);
void release_words(void* memory) noexcept;

}  // namespace heptad::bits
