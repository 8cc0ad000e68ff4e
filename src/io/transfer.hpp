// Moving exactly so many bytes through calls that may move fewer: short counts and interruptions are retried, an early
// end and every error become an Error. The calls are parameters so that tests can inject faults.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "base/error.hpp"

namespace heptad {

/// Like pread(2): at most `bytes` bytes at `offset`; 0 at the end; -1 and errno on failure.
using ReadSome = std::function<ssize_t(void* to, std::size_t bytes, std::int64_t offset)>;
/// Like write(2): -1 and errno on failure.
using WriteSome = std::function<ssize_t(const void* from, std::size_t bytes)>;

ReadSome read_from(int descriptor);
WriteSome write_to(int descriptor);

/// Throws Error(input) at an early end, naming `name`, and for an unreadable file.
void read_exactly(const ReadSome& read_some, void* to, std::int64_t bytes, std::int64_t offset,
                  const std::string& name);
/// Throws Error(resource) for a full disk or quota and a pipe that nobody reads any more, Error(input) for other
/// refusals.
void write_exactly(const WriteSome& write_some, const void* from, std::int64_t bytes, const std::string& name);

/// The code for a system error while writing: a full disk, quota or file limit and a pipe
/// without a reader are a resource, the rest a bad path.
ErrorCode write_error_code(int system_error);
/// "No space left on device"
std::string system_error_text(int system_error);

/// An open file that closes itself.
class Descriptor {
public:
    explicit Descriptor(int value = -1) : value_(value) {}
    Descriptor(Descriptor&& other) noexcept : value_(other.release()) {}
    Descriptor& operator=(Descriptor&& other) noexcept;
    ~Descriptor();
    int get() const { return value_; }
    int release();
    /// Closes now; the result of close(2).
    int close();

private:
    int value_;
};

}  // namespace heptad
