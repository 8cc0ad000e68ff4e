#include "bits/word_buffer.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <mutex>
#include <vector>

#include "base/error.hpp"
#include "base/size.hpp"

namespace heptad::bits {
namespace {

constexpr std::int64_t kCacheLine = 64;
constexpr std::int64_t kHugePage = std::int64_t{2} << 20;
constexpr std::int64_t kHugeFrom = std::int64_t{1} << 20;
/// Two of a product (packed operands, sums), and of one that runs beside it.
constexpr std::size_t kMostKept = 4;

struct Kept {
    void* memory;
    std::int64_t bytes;
};
struct Store {
    std::mutex mutex;
    std::vector<Kept> kept;
};
Store& store() {
    static auto* const the_store = new Store;  // never destroyed: products may still run in other threads at exit
    return *the_store;
}

/// A kept buffer of at least `bytes`, and not one that is wasted on them.
Kept take_kept(std::int64_t bytes) {
    Store& s = store();
    const std::lock_guard lock(s.mutex);
    for (auto it = s.kept.begin(); it != s.kept.end(); ++it) {
        if (it->bytes >= bytes && it->bytes / 2 <= bytes) {
            const Kept found = *it;
            s.kept.erase(it);
            return found;
        }
    }
    return {nullptr, 0};
}

}  // namespace

void* allocate_words(std::int64_t bytes) {
    const bool huge = bytes >= kHugeFrom;
    const std::int64_t alignment = huge ? kHugePage : kCacheLine;
    const std::int64_t rounded = round_up(bytes > 0 ? bytes : 1, alignment);
    void* memory = std::aligned_alloc(static_cast<std::size_t>(alignment), static_cast<std::size_t>(rounded));
    if (memory == nullptr) {
        fail(ErrorCode::resource, "{} bytes for bit matrices could not be had; use smaller matrices or fewer threads",
             rounded);
    }
    if (huge) {
        madvise(memory, static_cast<std::size_t>(rounded), MADV_HUGEPAGE);  // advice: without it all works as well
    }
    return memory;
}

void release_words(void* memory) noexcept {
    std::free(memory);
}

WordBuffer::WordBuffer(std::int64_t words) {
    const std::int64_t bytes = checked_mul(words, 8);
    Kept found = take_kept(bytes);
    if (found.memory == nullptr) {
        found = {allocate_words(bytes), bytes};
    }
    data_ = static_cast<std::uint64_t*>(found.memory);
    bytes_ = found.bytes;
}

WordBuffer::~WordBuffer() {
    if (data_ == nullptr) {
        return;
    }
    Store& s = store();
    const std::lock_guard lock(s.mutex);
    try {
        s.kept.push_back({data_, bytes_});
    } catch (const std::bad_alloc&) {
        release_words(data_);
        return;
    }
    if (s.kept.size() > kMostKept) {
        release_words(s.kept.front().memory);
        s.kept.erase(s.kept.begin());
    }
}

}  // namespace heptad::bits
