#include "io/checksum.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "base/splitmix.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kSample_bytes = 4096;
constexpr std::int64_t kSamples = 64;
constexpr std::int64_t kPiece_bytes = std::int64_t{4} << 20;

}  // namespace

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

std::uint64_t sampled_hash(const ReadSome& read_some, std::int64_t file_bytes, const std::string& name) {
    std::uint64_t hash = 0;
    std::vector<std::byte> sample(static_cast<std::size_t>(kSample_bytes));
    const std::int64_t last = std::max<std::int64_t>(file_bytes - kSample_bytes, 0);
    for (std::int64_t i = 0; i < kSamples; ++i) {
        const std::int64_t offset = last / (kSamples - 1) * i + last % (kSamples - 1) * i / (kSamples - 1);
        const std::int64_t bytes = std::min(kSample_bytes, file_bytes - offset);
        read_exactly(read_some, sample.data(), bytes, offset, name);
        hash = checksum(sample.data(), bytes, hash);
    }
    return hash;
}

std::uint64_t whole_hash(const ReadSome& read_some, std::int64_t file_bytes, const std::string& name) {
    std::uint64_t hash = 0;
    std::vector<std::byte> piece(static_cast<std::size_t>(std::min(kPiece_bytes, file_bytes)));
    for (std::int64_t offset = 0; offset < file_bytes; offset += kPiece_bytes) {
        const std::int64_t bytes = std::min(kPiece_bytes, file_bytes - offset);
        read_exactly(read_some, piece.data(), bytes, offset, name);
        hash = checksum(piece.data(), bytes, hash);
    }
    return hash;
}

}  // namespace heptad
