// Where a rank gets the windows of an operand that it holds (plan/search/cluster_plan.hpp): from a matrix file that
// every node sees, or from a scratch file of its own in which they lie one after the other.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/matrix_file.hpp"
#include "io/npy.hpp"
#include "io/transfer.hpp"
#include "plan/search/cluster_plan.hpp"

namespace heptad {

/// What the elements of a file are in memory. The 16-bit floats, bf16 and f16, are f32 there, which holds each of them
/// exactly: ranks multiply, send and add them so. Partial results of 16 bits would be rounded one by one, and so every
/// element of C is rounded once, when it is written. Not where products round once by themselves: a second rounding
/// would be one too many.
Type type_in_memory(Type stored, bool rounds_once = false);
/// `count` elements of bf16 or f16 as f32.
void widen(Type stored, const void* from, std::int64_t count, float* to);
/// The other way, each rounded to the nearest.
void narrow(Type stored, const float* from, std::int64_t count, void* to);

/// op(F) of a file F, in windows: a .npy file, or a Matrix Market file, which is read whole at the start. Elements come
/// as type_in_memory() says. Any thread may read.
class MatrixWindows {
public:
    /// Throws Error(input) as read_npy_header() and read_market_matrix() do, Error(resource) without memory.
    MatrixWindows(const std::string& path, std::optional<Type> as, bool transpose, bool rounds_once = false);

    const std::string& path() const { return path_; }
    Type type() const { return type_in_memory(header_.type, rounds_once_); }
    Type stored_type() const { return header_.type; }
    std::int64_t rows() const { return transpose_ ? header_.cols : header_.rows; }
    std::int64_t cols() const { return transpose_ ? header_.rows : header_.cols; }
    /// The elements row by row, without gaps. Throws Error(input).
    void read(const Window& window, void* to) const;

    /// Of the file as it is now. Throws Error(input) where it cannot be read any more.
    FileIdentity identity() const;
    /// A checksum of every byte of the file.
    std::uint64_t hash_of_all() const;

private:
    void read_stored(const Window& window, void* to) const;
    void read_runs(const Window& window, std::int64_t run_length, std::byte* to) const;

    std::string path_;
    std::optional<Matrix> whole_;  // of a Matrix Market file
    NpyHeader header_;             // of such a file, that of the matrix in memory
    bool transpose_, rounds_once_;
    Descriptor file_;
    ReadSome read_some_;  // the bytes that the header speaks of
};

/// The held windows of one operand, by their place in the order of use.
class WindowSource {
public:
    virtual ~WindowSource() = default;
    virtual void read(std::size_t index, void* to) const = 0;
};

class FileSource : public WindowSource {
public:
    FileSource(const MatrixWindows& file, std::vector<Window> windows) : file_(file), windows_(std::move(windows)) {}
    void read(std::size_t index, void* to) const override { file_.read(windows_.at(index), to); }

private:
    const MatrixWindows& file_;
    std::vector<Window> windows_;
};

/// A scratch file.
class ScratchSource : public WindowSource {
public:
    /// Creates the file, over a leftover of an earlier run. Throws Error(input) or Error(resource) that names it.
    ScratchSource(const std::string& path, const std::vector<Window>& windows, Type type);
    /// The one of an earlier run; nothing where there is none of that length.
    static std::unique_ptr<ScratchSource> reopen(const std::string& path, const std::vector<Window>& windows,
                                                 Type type);
    /// Removes the file, unless keep() was called.
    ~ScratchSource() override;
    ScratchSource(const ScratchSource&) = delete;
    ScratchSource& operator=(const ScratchSource&) = delete;

    std::size_t count() const { return starts_.size() - 1; }
    std::int64_t bytes(std::size_t index) const { return starts_.at(index + 1) - starts_.at(index); }
    void write(std::size_t index, const void* from) const;
    void read(std::size_t index, void* to) const override;
    /// Checksum of the windows, each following the one before.
    std::uint64_t sum() const;
    /// A later job may go on with it.
    void keep(bool keeps = true) { removes_ = !keeps; }

private:
    ScratchSource(const std::string& path, const std::vector<Window>& windows, Type type, Descriptor file);
    std::string path_;
    std::vector<std::int64_t> starts_;  // in bytes; one more than there are windows
    Descriptor file_;
    bool removes_ = true;
};

}  // namespace heptad
