#include "move/ranks/window_writer.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/fail_if.hpp"
#include "base/size.hpp"
#include "io/atomic_file.hpp"
#include "io/npy.hpp"

namespace heptad {

void write_at(int descriptor, const void* from, std::int64_t bytes, std::int64_t offset, const std::string& name) {
    std::int64_t at = offset;
    const WriteSome write_some = [&](const void* data, std::size_t count) {
        const ssize_t written = ::pwrite(descriptor, data, count, static_cast<off_t>(at));
        at += written > 0 ? written : 0;
        return written;
    };
    write_exactly(write_some, from, bytes, name);
}

std::vector<Window> slices(const Window& part, Type type) {
    constexpr std::int64_t kSlice_bytes = std::int64_t{16} << 20;
    const std::int64_t row_bytes =
        std::max<std::int64_t>(1, part.cols * static_cast<std::int64_t>(element_bytes(type)));
    const std::int64_t height = std::max<std::int64_t>(1, kSlice_bytes / row_bytes);
    std::vector<Window> result;
    for (std::int64_t row = 0; row < part.rows && part.cols > 0; row += height) {
        result.push_back({part.row + row, part.col, std::min(height, part.rows - row), part.cols});
    }
    return result;
}

WindowWriter::WindowWriter(const std::string& path, const Shape& shape, int flags)
    : path_(path),
      temporary_(path + ".partial"),
      shape_(shape),
      header_bytes_(static_cast<std::int64_t>(npy_header_text(shape.type, shape.held.rows, shape.held.cols).size())),
      file_(::open(temporary_.c_str(), flags | O_RDWR | O_CLOEXEC, 0666)) {
    if (file_.get() < 0) {
        const int why = errno;
        temporary_.clear();  // not ours
        fail_write(path, why);
    }
}

WindowWriter WindowWriter::create(const std::string& path, const Shape& shape) {
    struct stat old {};
    const bool folder = ::stat(path.c_str(), &old) == 0 && !S_ISREG(old.st_mode);
    fail_if(path.empty() || path.back() == '/' || folder, ErrorCode::input,
            "'{}' is not a regular file; give the name of a .npy file", path);
    WindowWriter file(path, shape, O_CREAT | O_TRUNC);
    const std::string header = npy_header_text(shape.type, shape.held.rows, shape.held.cols);
    write_at(file.file_.get(), header.data(), file.header_bytes_, 0, path);
    const std::int64_t bytes =
        checked_add(file.header_bytes_, checked_mul(checked_mul(shape.held.rows, shape.held.cols),
                                                    static_cast<std::int64_t>(element_bytes(shape.type))));
    if (::fallocate(file.file_.get(), 0, 0, static_cast<off_t>(bytes)) != 0) {
        if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG || ::ftruncate(file.file_.get(), bytes) != 0) {
            fail_write(path, errno);
        }
    }
    return file;
}

WindowWriter WindowWriter::open(const std::string& path, const Shape& shape) {
    return {path, shape, 0};
}

bool WindowWriter::can_go_on(const std::string& path, const Shape& shape) {
    const Descriptor file(::open((path + ".partial").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    const std::string header = npy_header_text(shape.type, shape.held.rows, shape.held.cols);
    const auto header_bytes = static_cast<std::int64_t>(header.size());
    struct stat facts {};
    if (file.get() < 0 || ::fstat(file.get(), &facts) != 0 ||
        facts.st_size != header_bytes + shape.held.elements() * static_cast<std::int64_t>(element_bytes(shape.type))) {
        return false;
    }
    std::string start(header.size(), '\0');
    read_exactly(read_from(file.get()), start.data(), header_bytes, 0, path);
    return start == header;
}

WindowWriter::WindowWriter(WindowWriter&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      shape_(other.shape_),
      header_bytes_(other.header_bytes_),
      file_(std::move(other.file_)),
      removes_(other.removes_) {}

WindowWriter::~WindowWriter() {
    if (!temporary_.empty() && removes_) {
        ::unlink(temporary_.c_str());
    }
}

std::int64_t WindowWriter::row_offset(const Window& window, std::int64_t i) const {
    const std::int64_t element = (window.row + i - shape_.held.row) * shape_.held.cols + window.col - shape_.held.col;
    return header_bytes_ + element * static_cast<std::int64_t>(element_bytes(shape_.type));
}

bool WindowWriter::is_in_one_piece(const Window& window) const {
    return window.cols == shape_.held.cols;
}

void WindowWriter::round(void* elements, std::int64_t count) const {
    if (!converts()) {
        return;
    }
    constexpr std::int64_t kAtOnce = 4096;
    std::array<std::uint16_t, kAtOnce> stored{};
    for (std::int64_t first = 0; first < count; first += kAtOnce) {
        float* const part = static_cast<float*>(elements) + first;
        narrow(shape_.type, part, std::min(kAtOnce, count - first), stored.data());
        widen(shape_.type, stored.data(), std::min(kAtOnce, count - first), part);
    }
}

void WindowWriter::write(const Window& window, const void* from) const {
    const std::int64_t row_bytes = window.cols * static_cast<std::int64_t>(element_bytes(shape_.type));
    const bool whole = is_in_one_piece(window) && !converts();
    const std::int64_t pieces = whole ? 1 : window.rows;
    const std::int64_t piece_bytes = whole ? row_bytes * window.rows : row_bytes;
    std::vector<std::byte> stored(static_cast<std::size_t>(converts() ? row_bytes : 0));
    for (std::int64_t i = 0; i < pieces && row_bytes > 0; ++i) {
        const std::byte* piece = static_cast<const std::byte*>(from) + i * piece_bytes;
        if (converts()) {
            narrow(shape_.type, static_cast<const float*>(from) + i * window.cols, window.cols, stored.data());
            piece = stored.data();
        }
        write_at(file_.get(), piece, piece_bytes, row_offset(window, i), path_);
    }
}

void WindowWriter::read(const Window& window, void* to) const {
    const std::int64_t row_bytes = window.cols * static_cast<std::int64_t>(element_bytes(shape_.type));
    std::vector<std::byte> stored(static_cast<std::size_t>(converts() ? row_bytes : 0));
    for (std::int64_t i = 0; i < window.rows && row_bytes > 0; ++i) {
        std::byte* const row = converts() ? stored.data() : static_cast<std::byte*>(to) + i * row_bytes;
        read_exactly(read_from(file_.get()), row, row_bytes, row_offset(window, i), path_);
        if (converts()) {
            widen(shape_.type, row, window.cols, static_cast<float*>(to) + i * window.cols);
        }
    }
}

void WindowWriter::sync() const {
    if (::fsync(file_.get()) != 0) {
        fail_write(path_, errno);
    }
}

void WindowWriter::publish() {
    publish_file(temporary_, path_, path_);
    temporary_.clear();
}

}  // namespace heptad
