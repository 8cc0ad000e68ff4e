#include "io/checksum.hpp"

#include <array>
#include <bit>
#include <cstring>

#include "base/splitmix.hpp"

namespace heptad {

std::uint64_t checksum(const void* data, std::int64_t bytes, std::uint64_t before) {
    constexpr std::uint64_t kOdd = 0x9fb21c651e98df25U;
    std::array<std::uint64_t, 4> sums{before ^ kSplitmixStep, before + kOdd, ~before, splitmix(before)};
    const auto* at = static_cast<const std::byte*>(data);
    std::array<std::uint64_t, 4> words{};
    std::int64_t left = bytes;
    const auto mix = [&] {
        for (std::size_t i = 0; i < 4; ++i) {
            sums[i] = std::rotl((sums[i] ^ words[i]) * kOdd, 29);
        }
    };
    for (; left >= 32; left -= 32, at += 32) {
        std::memcpy(words.data(), at, 32);
        mix();
    }
    words = {};
    if (left > 0) {
        std::memcpy(words.data(), at, static_cast<std::size_t>(left));
        mix();
    }
    std::uint64_t all = splitmix(static_cast<std::uint64_t>(bytes) + before);
    for (const std::uint64_t sum : sums) {
        all = splitmix(all ^ sum);
    }
    return all;
}

}  // namespace heptad
