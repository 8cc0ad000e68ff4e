#include "io/sampled_hash.hpp"

#include <algorithm>
#include <vector>

#include "io/checksum.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kSample_bytes = 4096;
constexpr std::int64_t kSamples = 64;
constexpr std::int64_t kPiece_bytes = std::int64_t{4} << 20;

}  // namespace

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
