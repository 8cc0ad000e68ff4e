#include "io/matrix_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/fail_if.hpp"
#include "base/huge_pages.hpp"
#include "io/checksum.hpp"
#include "io/io_watch.hpp"
#include "plan/search/file_schedule.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kLongestPiece_bytes = std::int64_t{1}
                                             << 20;  // long spans are cut, so that several are under way

std::int64_t nanoseconds(const struct timespec& time) {
    return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

void add_pieces(std::vector<IoPiece>& pieces, const FileSpan& span, std::int64_t needed_bytes, std::byte* memory) {
    for (std::int64_t done = 0; done < span.bytes; done += kLongestPiece_bytes) {
        const std::int64_t bytes = std::min(kLongestPiece_bytes, span.bytes - done);
        pieces.push_back({memory + done, span.offset + done, bytes, std::min(bytes, needed_bytes - done)});
    }
}

}  // namespace

PageBuffer::PageBuffer(std::int64_t bytes) : bytes_(bytes) {
    if (bytes == 0) {
        return;
    }
    data_ = static_cast<std::byte*>(map_huge_pages(bytes));
    fail_if(data_ == nullptr, ErrorCode::resource,
            "no memory for a buffer of {} bytes; free memory or give a smaller --memory", bytes);
}

PageBuffer::~PageBuffer() {
    if (data_ != nullptr) {
        unmap_pages(data_, bytes_);
    }
}

void PageBuffer::swap(PageBuffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
}

std::int64_t direct_block_bytes(int descriptor) {
    const PageBuffer probe(8192);
    for (const std::int64_t block : {512, 4096}) {
        // Memory that is aligned no better than the file offset: what the pieces of a window will have.
        if (::pread(descriptor, probe.data() + block, static_cast<std::size_t>(block), 0) >= 0) {
            return block;
        }
    }
    return 1;
}

void ask_watch(IoCall call, const std::string& name, bool writing, std::int64_t bytes) {
    const int why = io_watch != nullptr ? (*io_watch)(call, bytes).error : 0;
    if (why != 0) {
        fail(writing ? write_error_code(why) : ErrorCode::input, "'{}' cannot be {}: {}", name,
             writing ? "written" : "read", system_error_text(why));
    }
}

MatrixFile::MatrixFile(MatrixSource source) : source_(std::move(source)) {
    ask_watch(IoCall::open, source_.name, false);
    cached_ = Descriptor(::open(source_.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (cached_.get() < 0) {
        const int why = errno;
        fail(ErrorCode::input, "'{}' cannot be opened: {}", source_.name, system_error_text(why));
    }
    struct stat facts {};
    fail_if(::fstat(cached_.get(), &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size != source_.file_bytes,
            ErrorCode::input, "'{}' changed while it was opened; try again once nothing writes to it", source_.name);
    // Opened without waiting lest a pipe stops us; for a regular file io_uring would take that for "try again" for
    // ever.
    if (::fcntl(cached_.get(), F_SETFL, 0) != 0) {
        const int why = errno;
        fail(ErrorCode::input, "'{}' cannot be opened: {}", source_.name, system_error_text(why));
    }
    changed_ns_ = nanoseconds(facts.st_mtim);
    touched_ns_ = nanoseconds(facts.st_ctim);
    if (source_.by_library) {
        dataset_ = std::make_unique<Hdf5Reader>(source_.name);
        return;
    }
    direct_ = Descriptor(::open(source_.path.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT));
    source_.layout.block_bytes = direct_.get() >= 0 ? direct_block_bytes(direct_.get()) : 1;
}

std::vector<IoPiece> window_pieces(const FileLayout& layout, const FileWindow& window, std::byte* memory,
                                   std::int64_t stride_bytes) {
    std::vector<IoPiece> pieces;
    const LineWindow part = line_window(layout, window);
    if (part.lines == 0 || part.positions == 0) {
        return pieces;
    }
    if (part.whole_lines && stride_bytes == layout.pitch_bytes()) {
        const std::int64_t bytes = part.lines * layout.pitch_bytes();
        const FileSpan span = widened_span(file_offset(layout, part.line, 0), bytes, layout.block_bytes);
        add_pieces(pieces, span, span.head_bytes + bytes, memory);
        return pieces;
    }
    const std::int64_t bytes = layout.bytes_of(part.positions);
    for (std::int64_t line = 0; line < part.lines; ++line) {
        const FileSpan span =
            widened_span(file_offset(layout, part.line + line, part.position), bytes, layout.block_bytes);
        add_pieces(pieces, span, span.head_bytes + bytes, memory + line * stride_bytes);
    }
    return pieces;
}

ConstView MatrixFile::read(IoQueue& queue, const FileLayout& layout, const FileWindow& window,
                           std::byte* memory) const {
    const LineWindow part = line_window(layout, window);
    const std::int64_t element = layout.element_bytes;
    const FileSpan first = widened_span(file_offset(layout, part.line, part.position), layout.bytes_of(part.positions),
                                        layout.block_bytes);
    const std::int64_t stride =
        part.whole_lines ? layout.pitch_bytes() : line_stride_bytes(layout, part.positions, first.bytes);
    if (dataset_) {
        ask_watch(IoCall::read, source_.name, false, part.lines * layout.bytes_of(part.positions));
        dataset_->read(part.line, part.lines, part.position, part.positions, memory, stride / element);
    } else {
        const bool direct = layout.block_bytes > 1;
        queue.read({direct ? direct_.get() : cached_.get(), layout.block_bytes, source_.name},
                   window_pieces(layout, window, memory, stride));
    }
    const void* const data = memory + first.head_bytes;
    const std::int64_t cols = layout.packed ? layout.bytes_of(window.cols) : window.cols;
    return layout.by_columns ? ConstView(data, source_.type, window.rows, cols, 1, stride / element)
                             : ConstView(data, source_.type, window.rows, cols, stride / element, 1);
}

FileIdentity MatrixFile::identity() const {
    const ReadSome read_some = read_from(cached_.get());
    const ReadSome watched = [&](void* to, std::size_t bytes, std::int64_t offset) {
        ask_watch(IoCall::read, source_.name, false);
        return read_some(to, bytes, offset);
    };
    return {source_.file_bytes, changed_ns_, sampled_hash(watched, source_.file_bytes, source_.name)};
}

void MatrixFile::require_unchanged() const {
    struct stat facts {};
    if (::fstat(cached_.get(), &facts) != 0 || facts.st_size != source_.file_bytes ||
        nanoseconds(facts.st_mtim) != changed_ns_) {
        throw InputChanged(source_.name);
    }
}

InputChanged::InputChanged(const std::string& name)
    : Error(ErrorCode::input, fmt::format("'{}' was changed while it was multiplied, so the result would match neither "
                                          "version; start over without --resume once it no longer changes",
                                          name)) {}

}  // namespace heptad
