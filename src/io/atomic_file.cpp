#include "io/atomic_file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "base/fail_if.hpp"
#include "io/open_file.hpp"

namespace heptad {
namespace {

std::string folder_of(const std::string& path) {
    const auto slash = path.rfind('/');
    return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

std::string name_of(const std::string& path) {
    const auto slash = path.rfind('/');
    return slash == std::string::npos ? path : path.substr(slash + 1);
}

/// Follows links, so that a link keeps pointing and its target is replaced. A dangling link is replaced itself.
std::string follow_links(const std::string& path) {
    const std::unique_ptr<char, void (*)(void*)> resolved(::realpath(path.c_str(), nullptr), std::free);
    return resolved ? std::string(resolved.get()) : path;
}

/// Hidden, unique in this process, and short enough whatever the length of the name.
std::string temporary_for(const std::string& target, int attempt) {
    static std::atomic<unsigned> counter{0};
    return fmt::format("{}/.{}.{}-{}-{}.part", folder_of(target), name_of(target).substr(0, 128), ::getpid(),
                       counter.fetch_add(1), attempt);
}

// A call that blocks begins again after a signal and would never look at the token.
constexpr int kLook_ms = 50;

/// A pipe, once somebody reads it.
int open_pipe(const std::string& path, const FileHooks& waiting) {
    for (;;) {
        const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
        if (file >= 0 || errno != ENXIO) {
            return file;
        }
        stop_if_cancelled(waiting, path);
        ::poll(nullptr, 0, kLook_ms);
    }
}

/// Another description of an open file that is a pipe, so that writes to this one do not block; or else the same.
Descriptor open_again(int number) {
    struct stat facts {};
    const int flags = ::fcntl(number, F_GETFL);  // the end that is read must stay that
    const bool pipe = ::fstat(number, &facts) == 0 && S_ISFIFO(facts.st_mode) && (flags & O_ACCMODE) != O_RDONLY;
    const int again =
        pipe ? ::open(fmt::format("/proc/self/fd/{}", number).c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    return Descriptor(again >= 0 ? again : ::fcntl(number, F_DUPFD_CLOEXEC, 0));
}

/// What a pipe has room for, as soon as it has some.
WriteSome write_when_ready(int descriptor, const FileHooks& waiting, const std::string& path) {
    const bool blocks = (::fcntl(descriptor, F_GETFL) & O_NONBLOCK) == 0;
    return [descriptor, blocks, &waiting, &path](const void* from, std::size_t bytes) -> ssize_t {
        struct pollfd ready {
            descriptor, POLLOUT, 0
        };
        int found = 0;
        do {
            stop_if_cancelled(waiting, path);
            found = ::poll(&ready, 1, kLook_ms);
        } while (found == 0 || (found < 0 && errno == EINTR));
        // It has room for PIPE_BUF bytes, or somebody else took it.
        const ssize_t written = ::write(descriptor, from, blocks ? std::min<std::size_t>(bytes, PIPE_BUF) : bytes);
        if (written < 0 && errno == EAGAIN) {
            errno = EINTR;
        }
        return written;
    };
}

}  // namespace

void fail_write(const std::string& path, int why) {
    const bool no_folder = why == ENOENT || why == ENOTDIR, full = why == ENOSPC || why == EDQUOT;
    fail(write_error_code(why), "'{}' cannot be written: {}; {}choose another path", path, system_error_text(why),
         no_folder ? "create its folder or "
         : full    ? "make room or "
                   : "");
}

std::optional<int> open_file_of(const std::string& path) {
    if (path == "/dev/stdout" || path == "/dev/stderr") {
        return path == "/dev/stdout" ? STDOUT_FILENO : STDERR_FILENO;
    }
    for (const std::string folder : {"/dev/fd/", "/proc/self/fd/"}) {
        int number = 0;
        const char* const end = path.data() + path.size();
        if (path.starts_with(folder)) {
            const auto [at, error] = std::from_chars(path.data() + folder.size(), end, number);
            return error == std::errc() && at == end ? std::optional(number) : std::nullopt;
        }
    }
    return std::nullopt;
}

bool is_pipe(const std::string& path) {
    struct stat facts {};
    return !open_file_of(path) && ::stat(path.c_str(), &facts) == 0 && S_ISFIFO(facts.st_mode);
}

AtomicFile::AtomicFile(const std::string& path, std::int64_t expected_bytes, const CancelToken& cancel)
    : path_(path), target_(path), waiting_{0, nullptr, cancel} {
    fail_if(path.empty() || path.find('\0') != std::string::npos, ErrorCode::input,
            "an empty path or one with a zero byte cannot be written; give a file name");
    const std::optional<int> number = open_file_of(path);
    struct stat old {};
    const bool exists = ::stat(path.c_str(), &old) == 0;
    fail_if(!number && ((exists && S_ISDIR(old.st_mode)) || path.back() == '/'), ErrorCode::input,
            "'{}' is a folder; give the name of a file in it", path);
    direct_ = number || (exists && (S_ISCHR(old.st_mode) || S_ISFIFO(old.st_mode)));
    if (direct_) {
        file_ = number                  ? open_again(*number)
                : S_ISFIFO(old.st_mode) ? Descriptor(open_pipe(path_, waiting_))
                                        : Descriptor(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
        if (file_.get() < 0) {
            fail_write(path_, errno);
        }
        struct stat facts {};
        may_wait_ = ::fstat(file_.get(), &facts) == 0 && !S_ISREG(facts.st_mode);
        return;
    }
    fail_if(exists && !S_ISREG(old.st_mode), ErrorCode::input,
            "'{}' is neither a file nor a character device; give another name", path);
    if (exists) {
        target_ = follow_links(path);
    }
    if (name_of(target_).size() > NAME_MAX) {
        fail_write(path_, ENAMETOOLONG);
    }
    for (int attempt = 0; attempt < 100 && file_.get() < 0; ++attempt) {  // a leftover of another run may have the name
        temporary_ = temporary_for(target_, attempt);
        file_ = Descriptor(::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
        if (file_.get() < 0 && errno != EEXIST) {
            break;
        }
    }
    if (file_.get() < 0) {
        const int why = errno;
        temporary_.clear();
        fail_write(path_, why);
    }
    if (exists) {
        // Keep the permissions; where that is refused the new file has the default ones, which is no failure.
        [[maybe_unused]] const int refused = ::fchmod(file_.get(), old.st_mode & 07777);
    }
    if (expected_bytes > 0 && ::fallocate(file_.get(), 0, 0, static_cast<off_t>(expected_bytes)) != 0) {
        const int why = errno;
        if (why == ENOSPC || why == EDQUOT || why == EFBIG) {  // other errors: not supported here, which is fine
            ::unlink(temporary_.c_str());
            fail(ErrorCode::resource, "'{}' cannot be written: {} for {} bytes; choose a place with enough room", path_,
                 system_error_text(why), expected_bytes);
        }
    }
}

AtomicFile::~AtomicFile() {
    if (!temporary_.empty()) {
        ::unlink(temporary_.c_str());
    }
}

void AtomicFile::write(const void* from, std::int64_t bytes) {
    write_exactly(may_wait_ ? write_when_ready(file_.get(), waiting_, path_) : write_to(file_.get()), from, bytes,
                  path_);
}

void AtomicFile::seek(std::int64_t offset) {
    if (::lseek(file_.get(), static_cast<off_t>(offset), SEEK_SET) < 0) {
        fail_write(path_, errno);
    }
}

void AtomicFile::commit() {
    if (direct_) {
        if (file_.close() != 0) {
            fail_write(path_, errno);
        }
        return;
    }
    if (::fsync(file_.get()) != 0 || file_.close() != 0) {
        fail_write(path_, errno);
    }
    publish_file(temporary_, target_, path_);
    temporary_.clear();
}

void write_text_file(const std::string& path, const std::string& text) {
    const auto bytes = static_cast<std::int64_t>(text.size());
    AtomicFile file(path, bytes);
    file.write(text.data(), bytes);
    file.commit();
}

void publish_file(const std::string& temporary, const std::string& target, const std::string& shown) {
    if (::rename(temporary.c_str(), target.c_str()) != 0) {
        fail_write(shown, errno);
    }
    const Descriptor folder(::open(folder_of(target).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    // Some file systems cannot sync a folder; then the rename itself is all there is.
    if (folder.get() >= 0 && ::fsync(folder.get()) != 0 && errno != EINVAL && errno != EROFS && errno != ENOTSUP) {
        fail_write(shown, errno);
    }
}

}  // namespace heptad
