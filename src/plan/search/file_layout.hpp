// How a matrix lies in its file, and what reading or writing a window of it moves.
//
// A line is what lies side by side: a row, or a column of a matrix stored by columns. A window of whole lines is one
// span of the file; any other is one span per line. Direct I/O widens a span to whole blocks of the file. Packed bits
// lie eight to a byte, by rows, and are cut only between bytes; in memory their lines begin on words.
#pragma once

#include <cstdint>

#include <heptad/heptad.hpp>

namespace heptad {

struct FileLayout {
    std::int64_t rows = 0, cols = 0;
    std::int64_t element_bytes = 4;
    bool by_columns = false;
    std::int64_t data_offset = 0;  ///< of the first element in the file
    std::int64_t block_bytes = 1;  ///< spans are widened to multiples of this; 1: nothing is widened
    bool packed = false;           ///< bits, eight to a byte; element_bytes is 1 then

    std::int64_t lines() const { return by_columns ? cols : rows; }
    std::int64_t line_elements() const { return by_columns ? rows : cols; }
    /// Of so many elements side by side.
    std::int64_t bytes_of(std::int64_t elements) const {
        return packed ? elements / 8 + (elements % 8 != 0 ? 1 : 0) : elements * element_bytes;
    }
    std::int64_t elements_of(std::int64_t bytes) const { return packed ? bytes * 8 : bytes / element_bytes; }
    std::int64_t pitch_bytes() const { return bytes_of(line_elements()); }
    std::int64_t total_bytes() const { return lines() * pitch_bytes(); }
    bool operator==(const FileLayout&) const = default;
};

/// The same file seen as the transpose of its matrix.
FileLayout transposed(FileLayout layout);

struct FileWindow {
    std::int64_t row = 0, rows = 0, col = 0, cols = 0;
    bool operator==(const FileWindow&) const = default;
};

/// A window as lines and positions within them.
struct LineWindow {
    std::int64_t line = 0, lines = 0, position = 0, positions = 0;
    bool whole_lines = false;  ///< then it is one span
};
LineWindow line_window(const FileLayout& layout, const FileWindow& window);

/// Bytes from `offset` on that hold what is wanted, after `head_bytes` of something else.
struct FileSpan {
    std::int64_t offset = 0, bytes = 0, head_bytes = 0;
};
/// The span of `count` bytes at `offset` of the file, widened to blocks.
FileSpan widened_span(std::int64_t offset, std::int64_t count, std::int64_t block_bytes);
/// First byte in the file of the element at a position of a line.
std::int64_t file_offset(const FileLayout& layout, std::int64_t line, std::int64_t position);

/// Bytes that reading (or writing) the window moves, widening included.
std::int64_t moved_bytes(const FileLayout& layout, const FileWindow& window);

}  // namespace heptad
