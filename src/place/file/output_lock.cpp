#include "place/file/output_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "base/error.hpp"
#include "place/file/matrix_file.hpp"

namespace heptad {
namespace {

/// So long a run that was killed may hold its lock: the system closes its files after it, once transfers under way are
/// through.
constexpr std::chrono::seconds kLettingGo{2};
constexpr std::chrono::milliseconds kBetweenTries{10};

/// Is the locked file still the one of that name? Its holder removes it just before it lets go.
bool is_still_named(int descriptor, const std::string& path) {
    struct stat held {
    }, named{};
    return ::fstat(descriptor, &held) == 0 && ::stat(path.c_str(), &named) == 0 && held.st_ino == named.st_ino &&
           held.st_dev == named.st_dev;
}

}  // namespace

OutputLock::OutputLock(const std::string& output, const IoWatch& watch) : path_(output + ".lock") {
    ask_watch(watch, IoCall::lock, path_, true);
    const auto last_try = std::chrono::steady_clock::now() + kLettingGo;
    for (bool held = false; !held;) {
        file_ = Descriptor(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
        if (file_.get() < 0) {
            const int why = errno;
            fail(write_error_code(why), "'{}' cannot be written: {}; choose another place for the result", path_,
                 system_error_text(why));
        }
        if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
            const int why = errno;
            if (why == EINTR) {
                continue;
            }
            if (why == EWOULDBLOCK && std::chrono::steady_clock::now() < last_try) {
                std::this_thread::sleep_for(kBetweenTries);
                continue;
            }
            if (why == EWOULDBLOCK) {
                fail(ErrorCode::input,
                     "another run is writing '{}' (it holds '{}'); wait for it or choose another output", output,
                     path_);
            }
            fail(ErrorCode::resource, "'{}' cannot be locked: {}", path_, system_error_text(why));
        }
        held = is_still_named(file_.get(), path_);
    }
}

OutputLock::~OutputLock() {
    ::unlink(path_.c_str());  // before the lock is dropped: whoever takes it then sees that it has no name any more
}

}  // namespace heptad
