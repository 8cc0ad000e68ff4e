#include "kernels/bits/word_buffer.hpp"

#include <cstdlib>

#include "base/fail_if.hpp"
#include "base/huge_pages.hpp"
#include "base/size.hpp"

namespace heptad::bits {
namespace {

constexpr std::int64_t kCacheLine = 64;
constexpr std::int64_t kHugeFrom = std::int64_t{1} << 20;

}  // namespace

void* allocate_words(std::int64_t bytes) {
    const bool huge = bytes >= kHugeFrom;
    const std::int64_t rounded = round_up(bytes > 0 ? bytes : 1, huge ? kHugePage_bytes : kCacheLine);
    void* const memory = huge ? allocate_huge_pages(rounded).release()
                              : std::aligned_alloc(kCacheLine, static_cast<std::size_t>(rounded));
    fail_if(memory == nullptr, ErrorCode::resource,
            "{} bytes for bit matrices could not be allocated; use smaller matrices or fewer threads", rounded);
    return memory;
}

void release_words(void* memory) noexcept {
    std::free(memory);
}

WordBuffer::WordBuffer(std::int64_t words) : memory_(checked_mul(words, 8)) {}

}  // namespace heptad::bits
