#include "io/sealed_journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <utility>

#include "base/fail_if.hpp"
#include "io/checksum.hpp"
#include "io/io_watch.hpp"
#include "io/matrix_file.hpp"

namespace heptad {

std::string sealed(const std::string& text) {
    return fmt::format("{} #{:016x}\n", text, checksum(text.data(), static_cast<std::int64_t>(text.size())));
}

std::optional<std::string> unsealed(const std::string& line) {
    constexpr std::size_t kSeal = 18;  // " #" and 16 digits
    if (line.size() < kSeal) {
        return std::nullopt;
    }
    std::string text = line.substr(0, line.size() - kSeal);
    return sealed(text) == line + "\n" ? std::optional(text) : std::nullopt;
}

std::optional<SealedLines> read_sealed_lines(const std::string& path, const TakeSealedLine& take) {
    if (::access(path.c_str(), F_OK) != 0 && errno == ENOENT) {
        return std::nullopt;
    }
    std::ifstream file(path, std::ios::binary);
    const bool is_open = file.is_open();
    SealedLines read;
    for (std::string line; std::getline(file, line) && !file.eof(); ++read.count) {
        if (!take(read.count + 1, unsealed(line))) {
            return read;
        }
        read.believed_bytes += static_cast<std::int64_t>(line.size()) + 1;
    }
    fail_if(!is_open || file.bad(), ErrorCode::input,
            "'{}' cannot be read; make it readable, or start over without --resume", path);
    return read;
}

SealedJournal::SealedJournal(std::string path, const std::string& made_as, const char* way_out)
    : path_(std::move(path)), way_out_(way_out) {
    open(made_as, O_CREAT | O_TRUNC);
}

SealedJournal::SealedJournal(std::string path, std::int64_t believed_bytes, const char* way_out)
    : path_(std::move(path)), way_out_(way_out) {
    open(path_, 0);
    if (::ftruncate(file_.get(), believed_bytes) != 0) {
        fail_to_write(errno);
    }
}

void SealedJournal::open(const std::string& name, int how) {
    ask_watch(IoCall::open, path_, true);
    file_ = Descriptor(::open(name.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | how, 0666));
    if (file_.get() < 0) {
        fail_to_write(errno);
    }
}

void SealedJournal::append(const std::string& sealed_lines) const {
    ask_watch(IoCall::write, path_, true);
    write_exactly(write_to(file_.get()), sealed_lines.data(), static_cast<std::int64_t>(sealed_lines.size()), path_);
}

void SealedJournal::sync() const {
    ask_watch(IoCall::sync, path_, true);
    if (::fdatasync(file_.get()) != 0) {
        fail_to_write(errno);
    }
}

void SealedJournal::publish(const std::string& made_as) const {
    ask_watch(IoCall::rename, path_, true);
    if (::rename(made_as.c_str(), path_.c_str()) != 0) {
        fail_to_write(errno);
    }
}

void SealedJournal::remove() const {
    ::unlink(path_.c_str());
}

void SealedJournal::fail_to_write(int why) const {
    fail(write_error_code(why), "'{}' cannot be written: {}; {}", path_, system_error_text(why), way_out_);
}

}  // namespace heptad
