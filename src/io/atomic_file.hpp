// A file that appears under its name all at once: written under a temporary name in the same folder, synced, renamed,
// and the folder synced. Unless commit() is reached the temporary is removed and the old file stays.
//
// A path that names a device or a pipe (/dev/null, /dev/full) is written to directly: replacing it would destroy it.
// So is one that names an open file of this process (/dev/stdout), whatever that is: it goes on where that stands.
// Whoever waits there, for a reader or for room, looks at the cancel token.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "io/hooks.hpp"
#include "io/transfer.hpp"

namespace heptad {

/// The number of the open file that a path names: /dev/stdout, /dev/fd/3. Nothing: it names none.
std::optional<int> open_file_of(const std::string& path);

class AtomicFile {
public:
    /// Creates the temporary. `expected_bytes` are reserved on the disk where the file system can, so that a full disk
    /// shows now. Throws Error(input) for a bad path and Error(resource) for a full disk.
    AtomicFile(const std::string& path, std::int64_t expected_bytes, const CancelToken& cancel = {});
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    void write(const void* from, std::int64_t bytes);
    /// Where the next write goes.
    void seek(std::int64_t offset);
    /// The file while it is being made, for libraries that take names; empty for a device or a pipe.
    const std::string& temporary() const { return temporary_; }
    /// Syncs, renames, syncs the folder. Nothing may be written afterwards.
    void commit();

private:
    std::string path_;    // as the caller named it, for error sentences
    std::string target_;  // with links followed
    std::string temporary_;
    Descriptor file_;
    FileHooks waiting_;  // the token alone
    bool direct_ = false, may_wait_ = false;
};

/// Does the path name a pipe? To open one is to wait for its reader, and to close it again ends what it reads.
bool is_pipe(const std::string& path);

/// A file of text that appears under its name when it is complete. Throws Error(input) and Error(resource).
void write_text_file(const std::string& path, const std::string& text);

/// Throws what a system error while writing to `path` amounts to.
[[noreturn]] void fail_write(const std::string& path, int why);

/// Gives a complete and synced file its final name, and syncs the folder. Errors name it `shown`.
void publish_file(const std::string& temporary, const std::string& target, const std::string& shown);

}  // namespace heptad
