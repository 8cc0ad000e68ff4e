#include "io/npy.hpp"

#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/fail_if.hpp"
#include "base/size.hpp"
#include "base/thread_pool.hpp"
#include "base/view_copy.hpp"
#include "io/open_file.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kChunk_bytes = std::int64_t{4} << 20;
constexpr std::int64_t kChunksPerStep = 16;  // between two looks at the cancel token
constexpr std::int64_t kTile = 32;           // rows and columns turned around at a time

struct OpenNpy {
    Descriptor file;
    NpyHeader header;
};

/// Opens, parses, and compares the length of the file with the header.
OpenNpy open_npy(const std::string& path, std::optional<Type> as) {
    OpenFile open = open_to_read(path, "a .npy file");
    OpenNpy npy{std::move(open.file), {}};
    const std::int64_t file_bytes = open.bytes;
    // The longest header allowed and the 12 bytes before it.
    std::vector<std::byte> start(static_cast<std::size_t>(std::min<std::int64_t>(file_bytes, 65536 + 12)));
    read_exactly(read_from(npy.file.get()), start.data(), static_cast<std::int64_t>(start.size()), 0, path);
    npy.header = parse_npy_header(start, path, as);
    const std::int64_t expected = npy.header.data_offset + npy.header.data_bytes;
    fail_if(file_bytes != expected, ErrorCode::input,
            "'{}' is {}: its header says {} x {} of '{}', which makes {} bytes, and the file has {}; {}", path,
            file_bytes < expected ? "truncated" : "too long", npy.header.rows, npy.header.cols, npy.header.dtype,
            expected, file_bytes,
            file_bytes < expected ? "copy or save it again" : "save each array in a file of its own");
    return npy;
}

int thread_count(const FileHooks& hooks) {
    return threads_or_default(hooks.threads);
}

void write_contiguous(AtomicFile& file, const ConstView& v, std::int64_t bytes, const std::string& path,
                      const FileHooks& hooks) {
    const auto* const from = static_cast<const std::byte*>(v.data);
    for (std::int64_t done = 0; done < bytes;) {
        stop_if_cancelled(hooks, path);
        const std::int64_t step = std::min(bytes - done, kChunk_bytes * kChunksPerStep);
        file.write(from + done, step);
        done += step;
        report(hooks, done, bytes, "write");
    }
}

/// Through a buffer of some rows. A row wider than the buffer is written in windows of columns.
void write_through_buffer(AtomicFile& file, const ConstView& v, std::int64_t bytes, const std::string& path,
                          const FileHooks& hooks) {
    const auto size = static_cast<std::int64_t>(element_bytes(v.type));
    const std::int64_t width = std::min(v.cols, kChunk_bytes / size);
    const std::int64_t height = std::clamp<std::int64_t>(kChunk_bytes * 4 / (v.cols * size), 1, v.rows);
    std::vector<std::byte> buffer(static_cast<std::size_t>(width < v.cols ? width * size : height * v.cols * size));
    ThreadPool& pool = shared_pool(thread_count(hooks));
    std::int64_t done = 0;
    for (std::int64_t row = 0; row < v.rows; row += height) {
        const std::int64_t rows = std::min(height, v.rows - row);
        const std::int64_t step = width < v.cols ? width : v.cols;
        for (std::int64_t col = 0; col < v.cols; col += step) {
            stop_if_cancelled(hooks, path);
            const ConstView window = block(v, row, col, rows, std::min(step, v.cols - col));
            pool.run(ceil_div(rows, kTile), [&](std::int64_t tile) {
                const std::int64_t first = tile * kTile;
                const std::int64_t count = std::min(kTile, rows - first);
                copy_view(block(window, first, 0, count, window.cols),
                          {buffer.data() + first * window.cols * size, v.type, count, window.cols, window.cols, 1});
            });
            file.write(buffer.data(), rows * window.cols * size);
            done += rows * window.cols * size;
            report(hooks, done, bytes, "write");
        }
    }
}

}  // namespace

NpyHeader read_npy_header(const std::string& path, std::optional<Type> as) {
    return open_npy(path, as).header;
}

Matrix read_npy(const std::string& path, std::optional<Type> as, const FileHooks& hooks) {
    const OpenNpy npy = open_npy(path, as);
    const NpyHeader& header = npy.header;
    Matrix matrix(header.type, header.rows, header.cols, header.fortran_order ? Order::column_major : Order::row_major);
    auto* const to = static_cast<std::byte*>(matrix.data());
    const bool bits = header.type == Type::gf2 || header.type == Type::boolean;
    const ReadSome read_some = read_from(npy.file.get());
    const std::int64_t chunks = ceil_div(header.data_bytes, kChunk_bytes);
    ThreadPool& pool = shared_pool(thread_count(hooks));
    for (std::int64_t first = 0; first < chunks; first += kChunksPerStep) {
        stop_if_cancelled(hooks, path);
        pool.run(std::min(kChunksPerStep, chunks - first), [&](std::int64_t i) {
            const std::int64_t at = (first + i) * kChunk_bytes;
            const std::int64_t bytes = std::min(kChunk_bytes, header.data_bytes - at);
            read_exactly(read_some, to + at, bytes, header.data_offset + at, path);
            if (bits) {
                require_bits(to + at, bytes, at, path);
            }
        });
        report(hooks, std::min(header.data_bytes, (first + kChunksPerStep) * kChunk_bytes), header.data_bytes, "read");
    }
    return matrix;
}

void write_elements(AtomicFile& file, const ConstView& matrix, const std::string& name, const FileHooks& hooks) {
    const std::int64_t bytes = matrix_bytes(matrix.type, matrix.rows, matrix.cols);
    const bool contiguous = is_row_contiguous(matrix) && (matrix.rows <= 1 || matrix.row_stride == matrix.cols);
    if (bytes > 0) {
        (contiguous ? write_contiguous : write_through_buffer)(file, matrix, bytes, name, hooks);
    }
    stop_if_cancelled(hooks, name);
}

void write_npy(const std::string& path, const ConstView& matrix, const FileHooks& hooks) {
    const std::int64_t bytes = matrix_bytes(matrix.type, matrix.rows, matrix.cols);
    fail_if(bytes > 0 && matrix.data == nullptr, ErrorCode::usage,
            "a matrix of {} x {} at a null address cannot be written to '{}'", matrix.rows, matrix.cols, path);
    const std::string header = npy_header_text(matrix.type, matrix.rows, matrix.cols);
    AtomicFile file(path, checked_add(bytes, static_cast<std::int64_t>(header.size())), hooks.cancel);
    file.write(header.data(), static_cast<std::int64_t>(header.size()));
    write_elements(file, matrix, path, hooks);
    file.commit();
}

void check_writable(const std::string& path) {
    if (is_pipe(path)) {
        fail_if(::access(path.c_str(), W_OK) != 0, ErrorCode::input,
                "'{}' is a pipe that this process may not write to; choose another path", path);
        return;
    }
    const AtomicFile probe(path, 0);
}

}  // namespace heptad
