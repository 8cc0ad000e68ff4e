#include "base/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <thread>
#include <utility>

namespace heptad {
namespace {

constexpr std::chrono::milliseconds kBetweenTries{10};

/// Is the locked file still the one of that name? Its holder removes it just before it lets go.
bool is_still_named(int descriptor, const std::string& path) {
    struct stat held {
    }, named{};
    return ::fstat(descriptor, &held) == 0 && ::stat(path.c_str(), &named) == 0 && held.st_ino == named.st_ino &&
           held.st_dev == named.st_dev;
}

}  // namespace

FileLock::FileLock(std::string path, std::chrono::milliseconds patience) : path_(std::move(path)) {
    const auto last_try = std::chrono::steady_clock::now() + patience;
    for (;;) {
        const int file = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (file < 0) {
            error_ = errno;
            return;
        }
        was_opened_ = true;
        const int why = ::flock(file, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
        if (why == 0 && is_still_named(file, path_)) {
            file_ = file;
            return;
        }
        ::close(file);
        if (why == EWOULDBLOCK && std::chrono::steady_clock::now() < last_try) {
            std::this_thread::sleep_for(kBetweenTries);
        } else if (why != 0 && why != EINTR) {
            error_ = why;
            return;
        }
    }
}

FileLock::~FileLock() {
    if (file_ >= 0) {
        ::unlink(path_.c_str());  // before the lock is dropped: whoever takes it then sees that it has no name any more
        ::close(file_);
    }
}

}  // namespace heptad
