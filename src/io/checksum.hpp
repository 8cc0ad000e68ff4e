// A 64-bit checksum of bytes, for finding damage, not malice: four words at a time, mixed by multiplication.
#pragma once

#include <cstdint>

namespace heptad {

/// Checksum of `bytes` bytes that follow others whose checksum is `before`.
std::uint64_t checksum(const void* data, std::int64_t bytes, std::uint64_t before = 0);

}  // namespace heptad
