#include "move/ranks/window_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.hpp"
#include "base/stored_type.hpp"
#include "base/view_copy.hpp"
#include "io/checksum.hpp"
#include "io/matrix_market.hpp"
#include "io/open_file.hpp"
#include "move/ranks/window_writer.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kWidened_elements = std::int64_t{1} << 19;
constexpr int kNewScratch = O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW;

/// Bit matrices hold zeros and ones; another byte would spread through sums.
void require_bits(const void* data, std::int64_t count, const std::string& path) {
    const auto* const bytes = static_cast<const unsigned char*>(data);
    const auto* const wrong = std::find_if(bytes, bytes + count, [](unsigned char byte) { return byte > 1; });
    if (wrong != bytes + count) {
        fail(ErrorCode::input, "'{}' holds {}, and a matrix of bits holds only 0 and 1; save (a != 0)", path, *wrong);
    }
}

struct stat facts_of(const Descriptor& file, const std::string& path) {
    struct stat facts {};
    if (::fstat(file.get(), &facts) != 0) {
        const int why = errno;
        fail(ErrorCode::input, "'{}' cannot be read: {}", path, system_error_text(why));
    }
    return facts;
}

/// As if the elements were a file of their own.
NpyHeader header_of(const Matrix& matrix) {
    NpyHeader header;
    header.type = matrix.type();
    header.rows = matrix.rows();
    header.cols = matrix.cols();
    header.data_bytes = matrix.size_bytes();
    return header;
}

/// Precondition: no byte beyond the last one is asked for.
ReadSome read_from_memory(const Matrix& matrix) {
    return [data = static_cast<const std::byte*>(matrix.data())](void* to, std::size_t bytes, std::int64_t offset) {
        std::memcpy(to, data + offset, bytes);
        return static_cast<ssize_t>(bytes);
    };
}

}  // namespace

Type type_in_memory(Type stored, bool rounds_once) {
    return !rounds_once && (stored == Type::bf16 || stored == Type::f16) ? Type::f32 : stored;
}

void widen(Type stored, const void* from, std::int64_t count, float* to) {
    with_stored_type(stored, [&]<class T>() {
        const T* const elements = static_cast<const T*>(from);
        std::transform(elements, elements + count, to, [](T x) { return static_cast<float>(to_double(x)); });
    });
}

void narrow(Type stored, const float* from, std::int64_t count, void* to) {
    with_stored_type(stored,
                     [&]<class T>() { std::transform(from, from + count, static_cast<T*>(to), from_double<T>); });
}

MatrixWindows::MatrixWindows(const std::string& path, std::optional<Type> as, bool transpose, bool rounds_once)
    : path_(path),
      whole_(is_matrix_market_name(path) ? std::optional(read_market_matrix(path, as)) : std::nullopt),
      header_(whole_ ? header_of(*whole_) : read_npy_header(path, as)),
      transpose_(transpose),
      rounds_once_(rounds_once),
      file_(open_to_read(path, "a .npy or .mtx file").file),
      read_some_(whole_ ? read_from_memory(*whole_) : read_from(file_.get())) {}

FileIdentity MatrixWindows::identity() const {
    const struct stat facts = facts_of(file_, path_);
    return {facts.st_size, static_cast<std::int64_t>(facts.st_mtim.tv_sec) * 1'000'000'000 + facts.st_mtim.tv_nsec,
            sampled_hash(read_from(file_.get()), facts.st_size, path_)};
}

std::uint64_t MatrixWindows::hash_of_all() const {
    return whole_hash(read_from(file_.get()), facts_of(file_, path_).st_size, path_);
}

void MatrixWindows::read(const Window& window, void* to) const {
    if (window.elements() == 0) {
        return;
    }
    if (type() == stored_type()) {
        return read_stored(window, to);
    }
    // Some rows at a time: the plan has counted the window, and nothing beside it.
    const std::int64_t rows = std::clamp<std::int64_t>(kWidened_elements / window.cols, 1, window.rows);
    std::vector<std::byte> stored(static_cast<std::size_t>(rows * window.cols) * element_bytes(stored_type()));
    for (std::int64_t row = 0; row < window.rows; row += rows) {
        const Window slice{window.row + row, window.col, std::min(rows, window.rows - row), window.cols};
        read_stored(slice, stored.data());
        widen(stored_type(), stored.data(), slice.elements(), static_cast<float*>(to) + row * window.cols);
    }
}

void MatrixWindows::read_stored(const Window& window, void* to) const {
    if (header_.fortran_order == transpose_) {  // rows of op(F) lie in one piece
        read_runs(window, cols(), static_cast<std::byte*>(to));
    } else {
        std::vector<std::byte> columns(static_cast<std::size_t>(window.elements()) * element_bytes(stored_type()));
        read_runs({window.col, window.row, window.cols, window.rows}, rows(), columns.data());
        copy_view({columns.data(), stored_type(), window.rows, window.cols, 1, window.rows},
                  {to, stored_type(), window.rows, window.cols, window.cols, 1});
    }
    if (type() == Type::gf2 || type() == Type::boolean) {
        require_bits(to, window.elements(), path_);
    }
}

/// `window.rows` runs of `window.cols` elements; a whole one of the file has `run_length`.
void MatrixWindows::read_runs(const Window& window, std::int64_t run_length, std::byte* to) const {
    const auto element = static_cast<std::int64_t>(element_bytes(stored_type()));
    const bool whole = window.cols == run_length;
    const std::int64_t reads = whole ? 1 : window.rows;
    const std::int64_t bytes = window.cols * element * (whole ? window.rows : 1);
    for (std::int64_t i = 0; i < reads; ++i) {
        const std::int64_t first = (window.row + i) * run_length + window.col;
        read_exactly(read_some_, to + i * bytes, bytes, header_.data_offset + first * element, path_);
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
