// Keeps two processes, or two threads, off one file: a lock on a file beside it that the kernel drops when its holder
// ends, however that ends.
#pragma once

#include <chrono>
#include <string>

namespace heptad {

class FileLock {
public:
    /// Tries for so long. Does not throw: error() tells what came of it.
    FileLock(std::string path, std::chrono::milliseconds patience);
    /// Removes the lock file where it is held.
    ~FileLock();
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;

    /// 0: it is held; EWOULDBLOCK: somebody else holds it; or the system's error.
    int error() const { return error_; }
    /// Could the lock file be opened at all?
    bool was_opened() const { return was_opened_; }

private:
    std::string path_;
    int file_ = -1, error_ = 0;
    bool was_opened_ = false;
};

}  // namespace heptad
