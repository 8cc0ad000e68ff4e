#include "io/partial_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include "base/fail_if.hpp"
#include "base/size.hpp"
#include "io/atomic_file.hpp"
#include "io/checksum.hpp"
#include "io/io_watch.hpp"
#include "io/matrix_file.hpp"
#include "io/transfer.hpp"

namespace heptad {

OutputNames output_names(const std::string& path) {
    struct stat old {};
    fail_if(
        open_file_of(path) || (::stat(path.c_str(), &old) == 0 && !S_ISREG(old.st_mode) && !S_ISDIR(old.st_mode)),
        ErrorCode::input,
        "'{}' is not a regular file, and a result that is written piece by piece needs one; give the name of a file",
        path);
    {
        const AtomicFile probe(path, 0);
    }  // refuses folders, bad names and folders that cannot be written; leaves nothing
    const std::unique_ptr<char, void (*)(void*)> resolved(::realpath(path.c_str(), nullptr), std::free);
    OutputNames names{path, resolved ? std::string(resolved.get()) : path, {}};
    const auto slash = names.target.rfind('/');
    fail_if(names.new_journal().size() - (slash == std::string::npos ? 0 : slash + 1) > NAME_MAX, ErrorCode::input,
            "'{}' leaves no room for '.journal.new' in {} bytes of a file name; give a shorter one", path, NAME_MAX);
    return names;
}

PartialFile::PartialFile(OutputNames names, const FileLayout& layout) : names_(std::move(names)), layout_(layout) {}

void PartialFile::open_file(int flags) {
    ask_watch(IoCall::open, names_.partial(), true);
    cached_ = Descriptor(::open(names_.partial().c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0666));
    if (cached_.get() < 0) {
        fail_write(names_.partial(), errno);
    }
}

void PartialFile::take_permissions(unsigned besides) const {
    struct stat old {};
    if (::stat((names_.like.empty() ? names_.target : names_.like).c_str(), &old) == 0) {
        // Where that is refused the new file has the default ones, which is no failure.
        [[maybe_unused]] const int kept = ::fchmod(cached_.get(), (old.st_mode & 07777) | besides);
    }
}

void PartialFile::open_directly() {
    direct_ = Descriptor(::open(names_.partial().c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_DIRECT));
    layout_.block_bytes = direct_.get() >= 0 ? direct_block_bytes(direct_.get()) : 1;
}

PartialFile::PartialFile(const OutputNames& names, const std::string& header, const FileLayout& layout)
    : PartialFile(names, layout) {
    open_file(O_CREAT | O_TRUNC);
    const std::int64_t bytes = layout_.data_offset + layout_.total_bytes();
    ask_watch(IoCall::reserve, names_.partial(), true);
    const int refused = ::posix_fallocate(cached_.get(), 0, static_cast<off_t>(bytes));
    if (refused != 0) {
        fail(write_error_code(refused), "'{}' cannot be written: {} for {} bytes; choose a place with enough room",
             names_.shown, system_error_text(refused), bytes);
    }
    take_permissions(S_IRUSR | S_IWUSR);  // others see no more of it than of the old result; its owner may resume
    ask_watch(IoCall::write, names_.partial(), true);
    write_exactly(write_to(cached_.get()), header.data(), static_cast<std::int64_t>(header.size()), names_.partial());
    open_directly();
}

PartialFile PartialFile::reopen(const OutputNames& names, const std::string& header, const FileLayout& layout) {
    PartialFile file(names, layout);
    file.open_file(0);
    struct stat facts {};
    std::string start(header.size(), '\0');
    fail_if(::fstat(file.cached_.get(), &facts) != 0 || facts.st_size != layout.data_offset + layout.total_bytes(),
            ErrorCode::input,
            "'{}' has {} bytes where the result has {}, so it cannot be resumed; start over without --resume",
            names.partial(), facts.st_size, layout.data_offset + layout.total_bytes());
    read_exactly(read_from(file.cached_.get()), start.data(), static_cast<std::int64_t>(start.size()), 0,
                 names.partial());
    fail_if(start != header, ErrorCode::input,
            "'{}' does not begin like the result, so it cannot be resumed; start over without --resume",
            names.partial());
    // Tiles are judged by what the disk holds: pages that it has not taken yet might still be lost.
    file.sync();
    ::posix_fadvise(file.cached_.get(), 0, 0, POSIX_FADV_DONTNEED);  // refusal costs only that certainty
    file.open_directly();
    return file;
}

IoTarget PartialFile::target_of(const FileLayout& layout) const {
    return {layout.block_bytes > 1 ? direct_.get() : cached_.get(), layout.block_bytes, names_.partial()};
}

void PartialFile::write(IoQueue& queue, const FileLayout& layout, const FileWindow& window, const std::byte* memory,
                        std::int64_t stride_bytes) const {
    // The queue only reads from the memory of a write; its pieces serve both ways.
    queue.write(target_of(layout), window_pieces(layout, window, const_cast<std::byte*>(memory), stride_bytes));
}

void PartialFile::read(IoQueue& queue, const FileLayout& layout, const FileWindow& window, std::byte* memory,
                       std::int64_t stride_bytes) const {
    queue.read(target_of(layout), window_pieces(layout, window, memory, stride_bytes));
}

void PartialFile::sync() const {
    ask_watch(IoCall::sync, names_.partial(), true);
    if (::fdatasync(cached_.get()) != 0) {
        fail_write(names_.partial(), errno);
    }
}

void PartialFile::commit() {
    direct_.close();
    take_permissions(0);
    ask_watch(IoCall::sync, names_.partial(), true);
    if (::fsync(cached_.get()) != 0 || cached_.close() != 0) {
        fail_write(names_.partial(), errno);
    }
    ask_watch(IoCall::rename, names_.shown, true);
    publish_file(names_.partial(), names_.target, names_.shown);
}

void remove_beside(const std::string& path) {
    ask_watch(IoCall::remove, path, true);
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
        fail_write(path, errno);
    }
}

namespace {

constexpr std::int64_t kBounce_bytes = std::int64_t{1} << 20;

}  // namespace

std::uint64_t strip_checksum(const FileLayout& layout, const FileWindow& window, const std::byte* memory,
                             std::int64_t stride_bytes, std::uint64_t before) {
    const LineWindow part = line_window(layout, window);
    for (std::int64_t line = 0; line < part.lines; ++line) {
        before = checksum(memory + line * stride_bytes, layout.bytes_of(part.positions), before);
    }
    return before;
}

std::uint64_t read_tile_checksum(const FileSchedule& schedule, std::int64_t tile, const PartialFile& result,
                                 IoQueue& queue) {
    FileLayout layout = schedule.result_of(tile);
    layout.block_bytes = 1;
    PageBuffer memory(std::max(kBounce_bytes, round_up(layout.pitch_bytes(), 4096)));
    std::uint64_t sum = 0;
    const auto add = [&](const FileWindow& window) {
        const std::int64_t lines = layout.by_columns ? window.cols : window.rows;
        const std::int64_t line_bytes = layout.bytes_of(layout.by_columns ? window.rows : window.cols);
        const std::int64_t at_once = std::max<std::int64_t>(memory.bytes() / line_bytes, 1);
        for (std::int64_t line = 0; line < lines; line += at_once) {
            const std::int64_t count = std::min(at_once, lines - line);
            const FileWindow part = layout.by_columns ? FileWindow{window.row, window.rows, window.col + line, count}
                                                      : FileWindow{window.row + line, count, window.col, window.cols};
            result.read(queue, layout, part, memory.data(), line_bytes);
            sum = strip_checksum(layout, part, memory.data(), line_bytes, sum);
        }
    };
    for (std::int64_t strip = 0; strip < schedule.strips(tile); ++strip) {
        for (const FileWindow& piece : schedule.result_pieces(tile, strip)) {
            add(piece);
        }
    }
    return sum;
}

namespace {

/// So long a run that was killed may hold its lock: the system closes its files after it, once transfers under way are
/// through.
constexpr std::chrono::seconds kLettingGo{2};

std::string watched(const std::string& path) {
    ask_watch(IoCall::lock, path, true);
    return path;
}

}  // namespace

OutputLock::OutputLock(const std::string& output) : lock_(watched(output + ".lock"), kLettingGo) {
    const int why = lock_.error();
    if (why == 0) {
        return;
    }
    const std::string path = output + ".lock";
    if (!lock_.was_opened()) {
        fail(write_error_code(why), "'{}' cannot be written: {}; choose another place for the result", path,
             system_error_text(why));
    }
    fail_if(why == EWOULDBLOCK, ErrorCode::input,
            "another run is writing '{}' (it holds '{}'); wait for it or choose another output", output, path);
    fail(ErrorCode::resource, "'{}' cannot be locked: {}", path, system_error_text(why));
}

}  // namespace heptad
