#include "place/cluster/window_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.hpp"
#include "place/cluster/window_writer.hpp"
#include "place/file/checksum.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kTile = 32;
constexpr int kNewScratch = O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW;

/// `from` holds the window column by column; `to` gets it row by row.
template <class Word>
void turn(const Word* from, const Window& window, Word* to) {
    for (std::int64_t i0 = 0; i0 < window.rows; i0 += kTile) {
        for (std::int64_t j0 = 0; j0 < window.cols; j0 += kTile) {
            for (std::int64_t i = i0; i < std::min(i0 + kTile, window.rows); ++i) {
                for (std::int64_t j = j0; j < std::min(j0 + kTile, window.cols); ++j) {
                    to[i * window.cols + j] = from[j * window.rows + i];
                }
            }
        }
    }
}

void turn(const std::byte* from, const Window& window, std::size_t element, void* to) {
    switch (element) {
        case 8:
            return turn(reinterpret_cast<const std::uint64_t*>(from), window, static_cast<std::uint64_t*>(to));
        case 4:
            return turn(reinterpret_cast<const std::uint32_t*>(from), window, static_cast<std::uint32_t*>(to));
        case 2:
            return turn(reinterpret_cast<const std::uint16_t*>(from), window, static_cast<std::uint16_t*>(to));
        default:
            return turn(reinterpret_cast<const std::uint8_t*>(from), window, static_cast<std::uint8_t*>(to));
    }
}

/// Bit matrices hold zeros and ones; another byte would spread through sums.
void require_bits(const void* data, std::int64_t count, const std::string& path) {
    const auto* const bytes = static_cast<const unsigned char*>(data);
    const auto* const wrong = std::find_if(bytes, bytes + count, [](unsigned char byte) { return byte > 1; });
    if (wrong != bytes + count) {
        fail(ErrorCode::input, "'{}' holds {}, and a matrix of bits holds only 0 and 1; save (a != 0)", path, *wrong);
    }
}

Descriptor open_to_read(const std::string& path) {
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) {
        fail(ErrorCode::input, "'{}' cannot be opened: {}", path, system_error_text(errno));
    }
    return file;
}

}  // namespace

NpyWindows::NpyWindows(const std::string& path, std::optional<Type> as, bool transpose)
    : path_(path), header_(read_npy_header(path, as)), transpose_(transpose), file_(open_to_read(path)) {}

void NpyWindows::read(const Window& window, void* to) const {
    if (window.elements() == 0) {
        return;
    }
    if (header_.fortran_order == transpose_) {  // rows of op(F) lie in one piece
        read_runs(window, cols(), static_cast<std::byte*>(to));
    } else {
        const std::size_t element = element_bytes(type());
        std::vector<std::byte> columns(static_cast<std::size_t>(window.elements()) * element);
        read_runs({window.col, window.row, window.cols, window.rows}, rows(), columns.data());
        turn(columns.data(), window, element, to);
    }
    if (type() == Type::gf2 || type() == Type::boolean) {
        require_bits(to, window.elements(), path_);
    }
}

/// `window.rows` runs of `window.cols` elements; a whole one of the file has `run_length`.
void NpyWindows::read_runs(const Window& window, std::int64_t run_length, std::byte* to) const {
    const auto element = static_cast<std::int64_t>(element_bytes(type()));
    const ReadSome read_some = read_from(file_.get());
    const bool whole = window.cols == run_length;
    const std::int64_t reads = whole ? 1 : window.rows;
    const std::int64_t bytes = window.cols * element * (whole ? window.rows : 1);
    for (std::int64_t i = 0; i < reads; ++i) {
        const std::int64_t first = (window.row + i) * run_length + window.col;
        read_exactly(read_some, to + i * bytes, bytes, header_.data_offset + first * element, path_);
    }
}

ScratchSource::ScratchSource(const std::string& path, const std::vector<Window>& windows, Type type, Descriptor file)
    : path_(path), file_(std::move(file)) {
    starts_.push_back(0);
    for (const Window& window : windows) {
        starts_.push_back(starts_.back() + window.elements() * static_cast<std::int64_t>(element_bytes(type)));
    }
}

ScratchSource::ScratchSource(const std::string& path, const std::vector<Window>& windows, Type type)
    : ScratchSource(path, windows, type, Descriptor(::open(path.c_str(), kNewScratch, 0600))) {
    if (file_.get() < 0) {
        removes_ = false;  // it is not ours
        fail(write_error_code(errno), "scratch file '{}' cannot be made: {}; give another --scratch folder", path,
             system_error_text(errno));
    }
}

std::unique_ptr<ScratchSource> ScratchSource::reopen(const std::string& path, const std::vector<Window>& windows,
                                                     Type type) {
    std::unique_ptr<ScratchSource> source(
        new ScratchSource(path, windows, type, Descriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW))));
    source->keep();
    struct stat facts {};
    if (source->file_.get() < 0 || ::fstat(source->file_.get(), &facts) != 0 ||
        facts.st_size != source->starts_.back()) {
        return nullptr;
    }
    return source;
}

ScratchSource::~ScratchSource() {
    if (removes_) {
        ::unlink(path_.c_str());
    }
}

std::uint64_t ScratchSource::sum() const {
    std::uint64_t all = 0;
    std::vector<std::byte> window;
    for (std::size_t index = 0; index < count(); ++index) {
        window.resize(static_cast<std::size_t>(bytes(index)));
        read(index, window.data());
        all = checksum(window.data(), bytes(index), all);
    }
    return all;
}

void ScratchSource::write(std::size_t index, const void* from) const {
    write_at(file_.get(), from, bytes(index), starts_.at(index), path_);
}

void ScratchSource::read(std::size_t index, void* to) const {
    read_exactly(read_from(file_.get()), to, bytes(index), starts_.at(index), path_);
}

}  // namespace heptad
