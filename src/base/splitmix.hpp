// Random words by counting: the finaliser of splitmix64 (Steele, Lea and Flood, 2014), a bijection of 64-bit words that
// mixes every bit. Word number i of a stream needs nothing but the stream's key and i, so any thread can make it.
#pragma once

#include <cstdint>

namespace heptad {

inline constexpr std::uint64_t kSplitmixStep = 0x9e3779b97f4a7c15U;  // 2^64 / golden ratio, odd

constexpr std::uint64_t splitmix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

/// Word number `index` of the stream with this key.
constexpr std::uint64_t splitmix_word(std::uint64_t key, std::int64_t index) {
    return splitmix(key + kSplitmixStep * (static_cast<std::uint64_t>(index) + 1));
}

}  // namespace heptad
