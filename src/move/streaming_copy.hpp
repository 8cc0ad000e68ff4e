// A copy whose result is not read again soon: on x86 it is stored past the caches, which saves reading what is
// overwritten. Elsewhere it is an ordinary copy.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace heptad {

/// Any alignment. The memories do not overlap; other threads may read the copy once they have met this one.
inline void copy_past_caches(std::byte* to, const std::byte* from, std::int64_t bytes) {
    std::int64_t done = 0;
#if defined(__x86_64__)
    constexpr std::int64_t kVectorBytes = sizeof(__m128i);
    const auto past_boundary = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) % kVectorBytes);
    done = past_boundary == 0 ? 0 : std::min(bytes, kVectorBytes - past_boundary);
    std::memcpy(to, from, static_cast<std::size_t>(done));
    for (; done + kVectorBytes <= bytes; done += kVectorBytes) {
        _mm_stream_si128(reinterpret_cast<__m128i*>(to + done),
                         _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + done)));
    }
    _mm_sfence();
#endif
    std::memcpy(to + done, from + done, static_cast<std::size_t>(bytes - done));
}

}  // namespace heptad
