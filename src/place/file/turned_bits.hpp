// Windows of the transpose of a file of packed bits. Bits lie by rows in the file and in memory, so a window is read in
// bands of the file's rows and turned on the way.
#pragma once

#include "place/file/matrix_file.hpp"

namespace heptad {

/// Is this the layout of such a transpose?
inline bool is_turned(const FileLayout& layout) {
    return layout.packed && layout.by_columns;
}

/// Which bit of a byte holds the first of its eight columns.
enum class BitOrder : std::uint8_t { lowest_first, highest_first };

class TurnedBits {
public:
    /// Reads a window of op(A), whose `layout` is_turned(), into memory for it by rows, each on a boundary of 64 bytes.
    /// It begins at a row that is a multiple of 8. The view is of its bytes.
    ConstView read(const MatrixFile& file, IoQueue& queue, const FileLayout& layout, const FileWindow& window,
                   BitOrder order, std::byte* memory);

private:
    PageBuffer band_;  // of the file as it is; taken when first needed
};

}  // namespace heptad
