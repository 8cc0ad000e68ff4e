#include "io/transfer.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/fail_if.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kMostPerCall_bytes = std::int64_t{1} << 30;  // Linux moves at most 2 GiB - 4 KiB per call

}  // namespace

ReadSome read_from(int descriptor) {
    return [descriptor](void* to, std::size_t bytes, std::int64_t offset) {
        return ::pread(descriptor, to, bytes, static_cast<off_t>(offset));
    };
}

WriteSome write_to(int descriptor) {
    return [descriptor](const void* from, std::size_t bytes) { return ::write(descriptor, from, bytes); };
}

ErrorCode write_error_code(int system_error) {
    switch (system_error) {
        case ENOSPC:
        case EDQUOT:
        case EFBIG:
        case ENOMEM:
        case EMFILE:
        case ENFILE:
        case EIO:
        case EPIPE:
            return ErrorCode::resource;
        default:
            return ErrorCode::input;
    }
}

std::string system_error_text(int system_error) {
    return std::generic_category().message(system_error);
}

void read_exactly(const ReadSome& read_some, void* to, std::int64_t bytes, std::int64_t offset,
                  const std::string& name) {
    std::int64_t done = 0;
    while (done < bytes) {
        const auto wanted = static_cast<std::size_t>(std::min(bytes - done, kMostPerCall_bytes));
        const ssize_t got = read_some(static_cast<std::byte*>(to) + done, wanted, offset + done);
        if (got > 0) {
            done += got;
        } else if (got == 0) {
            fail(ErrorCode::input,
                 "'{}' ended at byte {} where {} bytes were expected; the file is truncated or shrank "
                 "while it was read",
                 name, offset + done, offset + bytes);
        } else if (errno != EINTR) {
            const int why = errno;
            fail(ErrorCode::input, "'{}' cannot be read at byte {}: {}", name, offset + done, system_error_text(why));
        }
    }
}

void write_exactly(const WriteSome& write_some, const void* from, std::int64_t bytes, const std::string& name) {
    std::int64_t done = 0;
    while (done < bytes) {
        const auto wanted = static_cast<std::size_t>(std::min(bytes - done, kMostPerCall_bytes));
        const ssize_t got = write_some(static_cast<const std::byte*>(from) + done, wanted);
        if (got > 0) {
            done += got;
        } else if (got == 0 || errno != EINTR) {
            const int why = got == 0 ? ENOSPC : errno;  // a device that takes nothing and does not say why is full
            fail_if(why == EPIPE, ErrorCode::resource, "{} cannot be written: {}; the program that reads it has ended",
                    name == "/dev/stdout" ? "standard output" : "'" + name + "'", system_error_text(why));
            fail(write_error_code(why), "'{}' cannot be written: {}; choose a place with enough room", name,
                 system_error_text(why));
        }
    }
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
    if (this != &other) {
        close();
        value_ = other.release();
    }
    return *this;
}

Descriptor::~Descriptor() {
    close();
}

int Descriptor::release() {
    const int value = value_;
    value_ = -1;
    return value;
}

int Descriptor::close() {
    const int value = release();
    return value >= 0 ? ::close(value) : 0;
}

}  // namespace heptad
