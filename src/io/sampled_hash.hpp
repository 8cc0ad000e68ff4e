// Checksums that tell files apart: of samples spread evenly over a file, which costs little however long it is, and of
// every byte. The samples include the first bytes, and so the header, and the last ones. Two files that differ in a
// stretch of more than a sixtieth of their length differ in a sample.
#pragma once

#include <cstdint>
#include <string>

#include "io/transfer.hpp"

namespace heptad {

/// 64 samples of 4096 bytes. Throws Error(input) as read_exactly() does.
std::uint64_t sampled_hash(const ReadSome& read_some, std::int64_t file_bytes, const std::string& name);

/// Of all bytes, in their order.
std::uint64_t whole_hash(const ReadSome& read_some, std::int64_t file_bytes, const std::string& name);

}  // namespace heptad
