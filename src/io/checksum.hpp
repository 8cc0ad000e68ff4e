// 64-bit checksums for finding damage, not malice: four words at a time, mixed by multiplication.
#pragma once

#include <cstdint>
#include <string>

#include "io/transfer.hpp"

namespace heptad {

/// Checksum of `bytes` bytes that follow others whose checksum is `before`.
std::uint64_t checksum(const void* data, std::int64_t bytes, std::uint64_t before = 0);

/// Of 64 samples of 4096 bytes spread evenly over a file, which costs little however long it is, to tell files apart.
/// They include the first bytes, and so the header, and the last ones. Two files that differ in a stretch of more than
/// a sixtieth of their length differ in a sample. Throws Error(input) as read_exactly() does.
std::uint64_t sampled_hash(const ReadSome& read_some, std::int64_t file_bytes, const std::string& name);

/// Of all bytes of a file, in their order.
std::uint64_t whole_hash(const ReadSome& read_some, std::int64_t file_bytes, const std::string& name);

}  // namespace heptad
