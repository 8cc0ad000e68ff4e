// An open matrix file: windows of it into memory, and whether it is still the file it was.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/view.hpp"
#include "io/hdf5_dataset.hpp"
#include "io/io_queue.hpp"
#include "io/matrix_source.hpp"
#include "io/transfer.hpp"

namespace heptad {

/// What makes a file the one it was: length, time of the last change, and a checksum of samples spread over it.
struct FileIdentity {
    std::int64_t bytes = 0, changed_ns = 0;
    std::uint64_t samples = 0;
    bool operator==(const FileIdentity&) const = default;
};

/// A file is not what it was when it was read before: what was made of it cannot go on.
class InputChanged : public Error {
public:
    explicit InputChanged(const std::string& name);
};

/// Memory for direct I/O: whole pages, gone when the scope is left.
class PageBuffer {
public:
    PageBuffer() = default;
    /// Throws Error(resource) that names the bytes.
    explicit PageBuffer(std::int64_t bytes);
    PageBuffer(PageBuffer&& other) noexcept { swap(other); }
    PageBuffer& operator=(PageBuffer&& other) noexcept {
        swap(other);
        return *this;
    }
    ~PageBuffer();
    std::byte* data() const { return data_; }
    std::int64_t bytes() const { return bytes_; }

private:
    void swap(PageBuffer& other) noexcept;
    std::byte* data_ = nullptr;
    std::int64_t bytes_ = 0;
};

class MatrixFile {
public:
    /// Opens what find_matrix() found. Throws Error(input).
    explicit MatrixFile(MatrixSource source);

    const std::string& name() const { return source_.name; }
    Type type() const { return source_.type; }
    /// With block_bytes as direct I/O on this file system needs it; 1 where it cannot be had.
    const FileLayout& layout() const { return source_.layout; }

    /// Reads a window into memory of window_bytes() and returns where it lies. `layout` is that of this file, possibly
    /// transposed, with block_bytes 1 for reading through the cache. Packed bits come as a view of their bytes.
    ConstView read(IoQueue& queue, const FileLayout& layout, const FileWindow& window, std::byte* memory) const;

    FileIdentity identity() const;
    /// When the file, or what the system notes of it, was last changed. Unlike the time of the last change, nobody can
    /// set it; renaming, linking and new permissions move it too.
    std::int64_t touched_ns() const { return touched_ns_; }
    /// Throws Error(input) if the file was changed since it was opened.
    void require_unchanged() const;

private:
    MatrixSource source_;
    Descriptor cached_, direct_;
    std::unique_ptr<Hdf5Reader> dataset_;  // where only the library can read it
    std::int64_t changed_ns_ = 0, touched_ns_ = 0;
};

/// Blocks that direct I/O through this descriptor needs (512 or 4096); 1 where it does not work at all.
std::int64_t direct_block_bytes(int descriptor);

/// The pieces of a window whose lines lie `stride_bytes` apart in memory (whole lines: one after another).
std::vector<IoPiece> window_pieces(const FileLayout& layout, const FileWindow& window, std::byte* memory,
                                   std::int64_t stride_bytes);

}  // namespace heptad
