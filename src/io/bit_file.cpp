#include "io/bit_file.hpp"

#include <algorithm>
#include <vector>

#include "base/bit_bytes.hpp"
#include "base/fail_if.hpp"
#include "base/names.hpp"
#include "base/size.hpp"
#include "io/bit_formats.hpp"
#include "io/matrix_market.hpp"
#include "io/matrix_source.hpp"
#include "io/whole_matrix.hpp"

namespace heptad {
namespace {

/// The format that the suffix names.
BitFormat format_of(const std::string& path, bool packed) {
    if (suffix_of(path) == ".pbm") {
        return BitFormat::pbm;
    }
    if (suffix_of(path) == ".png") {
        return BitFormat::png;
    }
    if (is_matrix_market_name(path)) {
        return BitFormat::matrix_market;
    }
    return packed ? BitFormat::npy_packed : BitFormat::npy_bool;
}

/// use(first row, how many, memory for them) for a few megabytes of rows after another.
template <class Use>
void over_chunks(const RowsOfBytes& lie, const std::string& path, const FileHooks& hooks, const Use& use) {
    constexpr std::int64_t kChunkBytes = std::int64_t{4} << 20;
    if (lie.rows == 0 || lie.bytes == 0) {
        return;
    }
    const std::int64_t together = std::clamp<std::int64_t>(kChunkBytes / lie.bytes, 1, lie.rows);
    std::vector<std::uint8_t> chunk(static_cast<std::size_t>(together * lie.bytes));
    for (std::int64_t first = 0; first < lie.rows; first += together) {
        stop_if_cancelled(hooks, path);
        const std::int64_t count = std::min(together, lie.rows - first);
        use(first, count, chunk.data());
        report(hooks, first + count, lie.rows, lie.stage);
    }
}

}  // namespace

const char* bit_format_name(BitFormat format) {
    static constexpr Names<BitFormat, 5> names{{"PBM P4", "1-bit PNG", "Matrix Market", "npy", "npy, packed bits"}};
    return names.of(format);
}

bool is_bit_file_name(const std::string& path) {
    const BitFormat format = format_of(path, false);
    return format == BitFormat::pbm || format == BitFormat::png;
}

BitFileHeader read_bit_header(const std::string& path, std::optional<std::int64_t> packed_columns) {
    switch (format_of(path, packed_columns.has_value())) {
        case BitFormat::pbm:
            return read_pbm_header(path);
        case BitFormat::png:
            return read_png_header(path);
        case BitFormat::matrix_market:
            return read_matrix_market_header(path);
        default:
            return read_npy_bits_header(path, packed_columns);
    }
}

BitMatrix read_bits(const std::string& path, std::optional<std::int64_t> packed_columns, const FileHooks& hooks) {
    switch (format_of(path, packed_columns.has_value())) {
        case BitFormat::png:
            return read_png(path, hooks);
        case BitFormat::matrix_market:
            return read_matrix_market(path, hooks);
        case BitFormat::npy_bool:
            return read_npy_bits(path, hooks);
        default:
            break;
    }
    const BitFileHeader header = read_bit_header(path, packed_columns);
    BitMatrix matrix(header.rows, header.cols);
    read_rows(path, header.data_offset, {header.rows, packed_row_bytes(header.cols)}, hooks,
              [&](std::int64_t row, const std::uint8_t* bytes) { load_packed_row(bytes, matrix.view(), row); });
    return matrix;
}

void require_writable_format(const std::string& path) {
    fail_if(format_of(path, false) == BitFormat::matrix_market, ErrorCode::input,
            "'{}': Matrix Market files can only be read; write .pbm, .png or .npy", path);
    fail_if(promises_foreign_format(path) || is_hdf5_name(path), ErrorCode::input,
            "'{}' has the suffix of a format in which Heptad does not write bits; write .pbm, .png or .npy", path);
}

void write_bits(const std::string& path, const ConstBitView& matrix, bool packed, const FileHooks& hooks) {
    require_writable_format(path);
    switch (format_of(path, packed)) {
        case BitFormat::png:
            return write_png(path, matrix, hooks);
        case BitFormat::npy_bool:
            return write_npy_bits(path, matrix, hooks);
        default:
            return write_rows(path, packed_header_text(path, matrix.rows, matrix.cols),
                              {matrix.rows, packed_row_bytes(matrix.cols)}, hooks,
                              [&](std::int64_t row, std::uint8_t* bytes) { store_packed_row(matrix, row, bytes); });
    }
}

bool is_written_in_pieces(const std::string& path, bool packed) {
    const BitFormat format = format_of(path, packed);
    return format == BitFormat::pbm || format == BitFormat::npy_packed;
}

std::string packed_header_text(const std::string& path, std::int64_t rows, std::int64_t cols) {
    switch (format_of(path, true)) {
        case BitFormat::pbm:
            return pbm_header_text(rows, cols);
        case BitFormat::npy_packed:
            return packed_npy_header_text(rows, cols);
        default:
            fail(ErrorCode::input, "'{}' cannot be written piece by piece; write .pbm or .npy, or give more memory",
                 path);
    }
}

void read_rows(const std::string& path, std::int64_t data_offset, const RowsOfBytes& lie, const FileHooks& hooks,
               const std::function<void(std::int64_t row, const std::uint8_t* bytes)>& take) {
    const OpenFile open = open_to_read(path, "a file");
    over_chunks(lie, path, hooks, [&](std::int64_t first, std::int64_t count, std::uint8_t* chunk) {
        read_exactly(read_from(open.file.get()), chunk, count * lie.bytes, data_offset + first * lie.bytes, path);
        for (std::int64_t i = 0; i < count; ++i) {
            take(first + i, chunk + i * lie.bytes);
        }
    });
}

void write_rows(const std::string& path, const std::string& header, const RowsOfBytes& lie, const FileHooks& hooks,
                const std::function<void(std::int64_t row, std::uint8_t* bytes)>& make) {
    const auto header_bytes = static_cast<std::int64_t>(header.size());
    AtomicFile file(path, checked_add(header_bytes, checked_mul(lie.rows, lie.bytes)), hooks.cancel);
    file.write(header.data(), header_bytes);
    over_chunks(lie, path, hooks, [&](std::int64_t first, std::int64_t count, std::uint8_t* chunk) {
        for (std::int64_t i = 0; i < count; ++i) {
            make(first + i, chunk + i * lie.bytes);
        }
        file.write(chunk, count * lie.bytes);
    });
    stop_if_cancelled(hooks, path);
    file.commit();
}

}  // namespace heptad
