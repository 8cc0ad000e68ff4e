// Checksums of the tiles of a result, by which a run that goes on knows what is really finished.
#pragma once

#include <cstdint>

#include "io/io_queue.hpp"
#include "io/partial_file.hpp"
#include "plan/search/file_schedule.hpp"

namespace heptad {

/// Of a strip in memory whose lines lie `stride_bytes` apart, after one whose checksum is `before`.
std::uint64_t strip_checksum(const FileLayout& layout, const FileWindow& window, const std::byte* memory,
                             std::int64_t stride_bytes, std::uint64_t before);

/// Checksum of a tile of the result as it lies in the file, strip by strip.
std::uint64_t read_tile_checksum(const FileSchedule& schedule, std::int64_t tile, const PartialFile& result,
                                 IoQueue& queue);

}  // namespace heptad
