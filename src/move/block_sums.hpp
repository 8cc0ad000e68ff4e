// Sums of blocks of a matrix file, made while they are read: what outer levels multiply. Every element that passes is
// looked at, because sums spread a NaN or an infinity, may overflow where the product itself does not, and lose digits
// where rows or columns are uneven.
#pragma once

#include <atomic>
#include <vector>

#include "io/matrix_file.hpp"
#include "kernels/backend.hpp"
#include "plan/search/file_layers.hpp"

namespace heptad {

class BlockSums {
public:
    /// `bounce` has the operand's bounce_bytes; one thread reads at a time.
    BlockSums(const MatrixFile& file, BlockedOperand operand, const PageBuffer& bounce);

    /// A window of a sum, into memory as a file of that layout would fill it; beyond the edge of the matrix are zeros.
    ConstView read(IoQueue& queue, std::int64_t sum, const FileLayout& layout, const FileWindow& window,
                   std::byte* memory);
    std::int64_t moved_bytes(std::int64_t sum, const FileWindow& window) const {
        return operand_.moved_bytes(sum, window);
    }

    /// Everything is read with these powers of two, of the rows and columns of the operand, from now on.
    void scale_by(const LineExponents& lines) { lines_ = lines; }

    /// Of the elements that were read so far, with their powers of two; NaN where one was. From any thread.
    double largest() const { return largest_; }
    /// What an earlier run has seen.
    void note_largest(double value);
    /// Of the operand's rows and columns, of what was read so far: with their powers of two, and without. Sums count
    /// an element once, however often it was read. Those of scan() are never too small: the largest value stands for
    /// every element that was not counted.
    ScanResult scan() const;
    const ScanResult& plain_scan() const { return lines_.rows == nullptr && lines_.cols == nullptr ? scaled_ : plain_; }
    /// Reads all of it once more, for those of what an earlier run has read.
    void read_all(IoQueue& queue);

private:
    /// A window of the file, scaled and looked at.
    ConstView read_piece(IoQueue& queue, const FileWindow& piece);

    const MatrixFile& file_;
    BlockedOperand operand_;
    const PageBuffer& bounce_;
    LineExponents lines_;
    std::atomic<double> largest_{0};
    ScanResult plain_, scaled_;
    /// Of which the lines were added up: some blocks are read for several sums.
    std::vector<FileWindow> counted_;
};

}  // namespace heptad
