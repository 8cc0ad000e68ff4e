// Windows of the transpose of a file of packed bits. Bits lie by rows in the file and in memory, so a window is read in
// bands of the file's rows and turned on the way.
#pragma once

#include "io/matrix_file.hpp"
#include "plan/search/file_schedule.hpp"

namespace heptad {

/// Which bit of a byte holds the first of its eight columns.
enum class BitOrder : std::uint8_t { lowest_first, highest_first };

class TurnedBits {
public:
    /// Memory for a band, as file_buffers() counts it for all that is read here; 0: nothing will be.
    explicit TurnedBits(std::int64_t band_bytes) : band_(band_bytes) {}

    /// Reads a window of op(A), whose `layout` is_turned(), into memory for it by rows, each on a boundary of 64 bytes.
    /// It begins at a row that is a multiple of 8. The view is of its bytes.
    ConstView read(const MatrixFile& file, IoQueue& queue, const FileLayout& layout, const FileWindow& window,
                   BitOrder order, std::byte* memory);

private:
    PageBuffer band_;  // of the file as it is
};

}  // namespace heptad
