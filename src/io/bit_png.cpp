// PNG, grey with one bit per pixel, not interlaced; a one is black, as M4RI has it. Chunks and their checksums are read
// and written here; zlib packs the rows. Without zlib these files are refused.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include "base/bit_bytes.hpp"
#include "base/fail_if.hpp"
#include "io/bit_formats.hpp"

#if defined(HEPTAD_HAS_ZLIB)
#include <zlib.h>

namespace heptad {
namespace {

constexpr std::array<std::uint8_t, 8> kSignature = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
constexpr std::int64_t kMostChunkBytes = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
/// zlib packs no better than 1032 : 1.
constexpr std::int64_t kMostExpansion = 1040;

std::uint32_t big_endian(const std::uint8_t* bytes) {
    return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 | bytes[3];
}
void put_big_endian(std::uint8_t* bytes, std::uint32_t value) {
    for (int i = 0; i < 4; ++i) {
        bytes[i] = static_cast<std::uint8_t>(value >> (24 - 8 * i));
    }
}

struct Chunk {
    std::array<char, 5> name{};
    std::int64_t offset = 0;  // of its contents
    std::int64_t bytes = 0;
    bool is(const char* other) const { return std::strcmp(name.data(), other) == 0; }
};

class PngFile {
public:
    explicit PngFile(const std::string& path) : path_(path), open_(open_to_read(path, "a file")) {
        std::array<std::uint8_t, 8> start{};
        refuse_if(open_.bytes < 8, "is too short for a PNG file");
        read(start.data(), 8, 0);
        refuse_if(start != kSignature, "is not a PNG file");
        const Chunk chunk = next_chunk();
        std::array<std::uint8_t, 13> facts{};
        refuse_if(!chunk.is("IHDR") || chunk.bytes != 13, "does not start with a header chunk");
        read(facts.data(), 13, chunk.offset);
        require_checksum(chunk);
        header_.format = BitFormat::png;
        header_.cols = big_endian(facts.data());
        header_.rows = big_endian(facts.data() + 4);
        refuse_if(facts[8] != 1 || facts[9] != 0 || facts[10] != 0 || facts[11] != 0 || facts[12] != 0,
                  "is not grey with one bit per pixel and without interlacing; convert it to 1-bit greyscale");
        refuse_if(
            header_.rows == 0 || header_.cols == 0 || header_.rows > kMostChunkBytes || header_.cols > kMostChunkBytes,
            "has a width or height that no PNG file may have");
        header_.data_offset = position_;
        header_.data_bytes = header_.rows * (packed_row_bytes(header_.cols) + 1);
        if (header_.data_bytes / kMostExpansion > open_.bytes) {
            refuse(fmt::format("claims {} x {} pixels, which cannot be packed into {} bytes", header_.cols,
                               header_.rows, open_.bytes));
        }
    }

    const BitFileHeader& header() const { return header_; }
    std::int64_t bytes() const { return open_.bytes; }

    Chunk next_chunk() {
        refuse_if(open_.bytes - position_ < 12, "is truncated");
        std::array<std::uint8_t, 8> start{};
        read(start.data(), 8, position_);
        Chunk chunk;
        chunk.bytes = big_endian(start.data());
        std::memcpy(chunk.name.data(), start.data() + 4, 4);
        chunk.offset = position_ + 8;
        refuse_if(chunk.bytes > kMostChunkBytes || chunk.bytes > open_.bytes - position_ - 12, "is truncated");
        position_ = chunk.offset + chunk.bytes + 4;
        return chunk;
    }

    void read(void* to, std::int64_t count, std::int64_t offset) const {
        read_exactly(read_from(open_.file.get()), to, count, offset, path_);
    }
    void require_checksum(const Chunk& chunk) const {
        std::vector<std::uint8_t> buffer(kBufferBytes);
        uLong sum = ::crc32(0, reinterpret_cast<const Bytef*>(chunk.name.data()), 4);
        for (std::int64_t done = 0; done < chunk.bytes;) {
            const std::int64_t count = std::min(static_cast<std::int64_t>(buffer.size()), chunk.bytes - done);
            read(buffer.data(), count, chunk.offset + done);
            sum = ::crc32(sum, buffer.data(), static_cast<uInt>(count));
            done += count;
        }
        std::array<std::uint8_t, 4> told{};
        read(told.data(), 4, chunk.offset + chunk.bytes);
        refuse_if(big_endian(told.data()) != sum, "is damaged: a checksum is wrong");
    }
    [[noreturn]] void refuse(const std::string& why) const { fail(ErrorCode::input, "'{}' {}", path_, why); }
    void refuse_if(bool wrong, const char* why) const { fail_if(wrong, ErrorCode::input, "'{}' {}", path_, why); }

private:
    std::string path_;
    OpenFile open_;
    BitFileHeader header_;
    std::int64_t position_ = 8;
};

/// The pixels of a PNG file: the contents of its IDAT chunks, one stream.
class Pixels {
public:
    explicit Pixels(PngFile& png) : png_(png), input_(kBufferBytes) {
        fail_if(::inflateInit(&stream_) != Z_OK, ErrorCode::resource,
                "memory for unpacking a PNG file ran out; use smaller matrices");
    }
    ~Pixels() { ::inflateEnd(&stream_); }
    Pixels(const Pixels&) = delete;
    Pixels& operator=(const Pixels&) = delete;

    void read(std::uint8_t* to, std::int64_t bytes) {
        stream_.next_out = to;
        stream_.avail_out = static_cast<uInt>(bytes);
        while (stream_.avail_out > 0) {
            if (stream_.avail_in == 0) {
                fill();
            }
            const int result = ::inflate(&stream_, Z_NO_FLUSH);
            png_.refuse_if(result == Z_STREAM_END && stream_.avail_out > 0, "holds fewer pixels than its header says");
            png_.refuse_if(result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR,
                           "is damaged: its pixels cannot be unpacked");
        }
    }

private:
    void fill() {
        while (left_ == 0) {
            const Chunk chunk = png_.next_chunk();
            png_.refuse_if(chunk.is("IEND"), "holds fewer pixels than its header says");
            png_.require_checksum(chunk);
            if (chunk.is("IDAT")) {
                left_ = chunk.bytes;
                offset_ = chunk.offset;
            } else if (chunk.name[0] >= 'A' && chunk.name[0] <= 'Z') {
                png_.refuse("has a chunk that must be understood and is not known here");
            }
        }
        const std::int64_t count = std::min(static_cast<std::int64_t>(input_.size()), left_);
        png_.read(input_.data(), count, offset_);
        offset_ += count;
        left_ -= count;
        stream_.next_in = input_.data();
        stream_.avail_in = static_cast<uInt>(count);
    }

    PngFile& png_;
    z_stream stream_{};
    std::vector<std::uint8_t> input_;
    std::int64_t left_ = 0, offset_ = 0;
};

/// What is nearest to left + above - corner.
int paeth(int left, int above, int corner) {
    const int guess = left + above - corner;
    const int to_left = std::abs(guess - left), to_above = std::abs(guess - above),
              to_corner = std::abs(guess - corner);
    return to_left <= to_above && to_left <= to_corner ? left : to_above <= to_corner ? above : corner;
}

/// Undoes the filter of a row, in place; `above` is the row before.
bool unfilter(int filter, std::uint8_t* row, const std::uint8_t* above, std::int64_t bytes) {
    if (filter < 0 || filter > 4) {
        return false;
    }
    for (std::int64_t i = 0; filter > 0 && i < bytes; ++i) {
        const int left = i > 0 ? row[i - 1] : 0, up = above[i], corner = i > 0 ? above[i - 1] : 0;
        const int guess = filter == 1   ? left
                          : filter == 2 ? up
                          : filter == 3 ? (left + up) / 2
                                        : paeth(left, up, corner);
        row[i] = static_cast<std::uint8_t>(row[i] + guess);
    }
    return true;
}

void write_chunk(AtomicFile& file, const char* name, const std::uint8_t* bytes, std::size_t count) {
    std::array<std::uint8_t, 8> start{};
    put_big_endian(start.data(), static_cast<std::uint32_t>(count));
    std::memcpy(start.data() + 4, name, 4);
    file.write(start.data(), 8);
    uLong sum = ::crc32(0, start.data() + 4, 4);
    if (count > 0) {
        file.write(bytes, static_cast<std::int64_t>(count));
        sum = ::crc32(sum, bytes, static_cast<uInt>(count));
    }
    std::array<std::uint8_t, 4> end{};
    put_big_endian(end.data(), static_cast<std::uint32_t>(sum));
    file.write(end.data(), 4);
}

}  // namespace

BitFileHeader read_png_header(const std::string& path) {
    return PngFile(path).header();
}

BitMatrix read_png(const std::string& path, const FileHooks& hooks) {
    PngFile png(path);
    const BitFileHeader header = png.header();
    BitMatrix matrix(header.rows, header.cols);
    const std::int64_t row_bytes = packed_row_bytes(header.cols);
    std::vector<std::uint8_t> row(static_cast<std::size_t>(row_bytes + 1)), above(row.size()), inverted(row.size());
    Pixels pixels(png);
    for (std::int64_t i = 0; i < header.rows; ++i) {
        pixels.read(row.data(), row_bytes + 1);
        if (!unfilter(row[0], row.data() + 1, above.data() + 1, row_bytes)) {
            png.refuse("is damaged: a row has an unknown filter");
        }
        std::transform(row.begin() + 1, row.end(), inverted.begin(),
                       [](std::uint8_t byte) { return static_cast<std::uint8_t>(~byte); });
        load_packed_row(inverted.data(), matrix.view(), i);
        std::swap(row, above);
        if (i % 1024 == 0) {
            stop_if_cancelled(hooks, path);
            report(hooks, i, header.rows, "read");
        }
    }
    return matrix;
}

void write_png(const std::string& path, const ConstBitView& matrix, const FileHooks& hooks) {
    fail_if(matrix.rows == 0 || matrix.cols == 0 || matrix.rows > kMostChunkBytes || matrix.cols > kMostChunkBytes,
            ErrorCode::input, "'{}': a PNG file has 1 to {} rows and columns, and the matrix is {} x {}; write .pbm",
            path, kMostChunkBytes, matrix.rows, matrix.cols);
    AtomicFile file(path, 0, hooks.cancel);
    file.write(kSignature.data(), 8);
    std::array<std::uint8_t, 13> facts{};
    put_big_endian(facts.data(), static_cast<std::uint32_t>(matrix.cols));
    put_big_endian(facts.data() + 4, static_cast<std::uint32_t>(matrix.rows));
    facts[8] = 1;  // bit per pixel; grey, deflate, no interlacing are zeros
    write_chunk(file, "IHDR", facts.data(), facts.size());
    z_stream stream{};
    fail_if(::deflateInit(&stream, 1) != Z_OK, ErrorCode::resource,
            "memory for packing a PNG file ran out; use smaller matrices");
    try {
        std::vector<std::uint8_t> row(static_cast<std::size_t>(packed_row_bytes(matrix.cols) + 1)),
            packed(kBufferBytes);
        for (std::int64_t i = 0; i <= matrix.rows; ++i) {
            if (i < matrix.rows) {
                row[0] = 0;  // no filter
                store_packed_row(matrix, i, row.data() + 1, true);
                stream.next_in = row.data();
                stream.avail_in = static_cast<uInt>(row.size());
            }
            const int flush = i < matrix.rows ? Z_NO_FLUSH : Z_FINISH;
            do {
                stream.next_out = packed.data();
                stream.avail_out = static_cast<uInt>(packed.size());
                ::deflate(&stream, flush);
                const std::size_t count = packed.size() - stream.avail_out;
                if (count > 0) {
                    write_chunk(file, "IDAT", packed.data(), count);
                }
            } while (stream.avail_out == 0);
            if (i % 1024 == 0) {
                stop_if_cancelled(hooks, path);
                report(hooks, i, matrix.rows, "write");
            }
        }
    } catch (...) {
        ::deflateEnd(&stream);
        throw;
    }
    ::deflateEnd(&stream);
    write_chunk(file, "IEND", nullptr, 0);
    file.commit();
}

}  // namespace heptad

#else

namespace heptad {
namespace {

[[noreturn]] void refuse(const std::string& path) {
    fail(ErrorCode::input, "'{}': this build has no zlib, which PNG files need; use .pbm, or build with zlib", path);
}

}  // namespace

BitFileHeader read_png_header(const std::string& path) {
    refuse(path);
}
BitMatrix read_png(const std::string& path, const FileHooks& /*hooks*/) {
    refuse(path);
}
void write_png(const std::string& path, const ConstBitView& /*matrix*/, const FileHooks& /*hooks*/) {
    refuse(path);
}

}  // namespace heptad

#endif
