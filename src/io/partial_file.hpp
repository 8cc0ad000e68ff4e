// The result while it is made: NAME.partial, its whole length reserved at the start, filled window by window, and given
// its name when it is complete and synced.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file_lock.hpp"
#include "io/io_queue.hpp"
#include "io/matrix_file.hpp"
#include "plan/search/file_schedule.hpp"

namespace heptad {

/// Where a result goes: its own name with links followed, and the names beside it.
struct OutputNames {
    std::string shown;   ///< as the caller wrote it
    std::string target;  ///< with links followed
    std::string like;    ///< whose permissions it takes; empty: those of an old target
    std::string partial() const { return target + ".partial"; }
    std::string journal() const { return target + ".journal"; }
    std::string new_journal() const { return journal() + ".new"; }  ///< before its header is whole
    std::string lock() const { return target + ".lock"; }
    /// The products of outer levels, made like a result.
    OutputNames products() const { return {shown, target + ".products", target}; }
    /// All names that a run uses for itself.
    std::vector<std::string> beside() const {
        return {partial(), journal(), new_journal(), lock(), products().partial()};
    }
};
/// Throws Error(input) for a folder, a device, a pipe, an impossible name or a folder that cannot be written.
OutputNames output_names(const std::string& path);

class PartialFile {
public:
    /// Creates it (or starts it over) with `header` in front and the whole length reserved: a full disk shows now.
    PartialFile(const OutputNames& names, const std::string& header, const FileLayout& layout);
    /// Opens the one of an earlier run. Throws Error(input) unless it has its whole length and that header.
    static PartialFile reopen(const OutputNames& names, const std::string& header, const FileLayout& layout);

    /// With block_bytes as direct I/O needs it; 1 where it cannot be had.
    const FileLayout& layout() const { return layout_; }
    /// Writes a window whose lines lie `stride_bytes` apart in memory. `layout` is that of this file, possibly
    /// transposed, with block_bytes 1 for writing through the cache.
    void write(IoQueue& queue, const FileLayout& layout, const FileWindow& window, const std::byte* memory,
               std::int64_t stride_bytes) const;
    void read(IoQueue& queue, const FileLayout& layout, const FileWindow& window, std::byte* memory,
              std::int64_t stride_bytes) const;
    /// What was written until now outlives a crash.
    void sync() const;
    /// Syncs, gives it its name, syncs the folder.
    void commit();

private:
    PartialFile(OutputNames names, const FileLayout& layout);
    void open_file(int flags);
    void open_directly();
    /// Those of an old result, where there is one, and these besides.
    void take_permissions(unsigned besides) const;
    IoTarget target_of(const FileLayout& layout) const;
    OutputNames names_;
    FileLayout layout_;
    Descriptor cached_, direct_;
};

/// Removes a file beside the result; that it is not there is no failure.
void remove_beside(const std::string& path);

/// Of a strip in memory whose lines lie `stride_bytes` apart, after one whose checksum is `before`.
std::uint64_t strip_checksum(const FileLayout& layout, const FileWindow& window, const std::byte* memory,
                             std::int64_t stride_bytes, std::uint64_t before);

/// Checksum of a tile of the result as it lies in the file, strip by strip.
std::uint64_t read_tile_checksum(const FileSchedule& schedule, std::int64_t tile, const PartialFile& result,
                                 IoQueue& queue);

class OutputLock {
public:
    /// Throws Error(input) where another run holds it and does not let go within two seconds.
    explicit OutputLock(const std::string& output);

private:
    FileLock lock_;
};

}  // namespace heptad
