// PBM P4: "P4", width, height, one blank, then rows. '#' starts a comment that ends with the line. What is written here
// has one that makes the header 4096 bytes long, so that rows can be read past the system's cache.
#include <algorithm>
#include <vector>

#include "base/bit_bytes.hpp"
#include "base/fail_if.hpp"
#include "base/size.hpp"
#include "io/bit_formats.hpp"

namespace heptad {
namespace {

/// Numbers, blanks and comments; what is longer is no header.
constexpr std::int64_t kMostHeaderBytes = 65536;

class HeaderText {
public:
    HeaderText(const std::vector<char>& text, const std::string& path) : text_(text), path_(path) {}

    std::size_t position() const { return position_; }
    char next() {
        if (position_ >= text_.size()) {
            refuse("ends inside its header");
        }
        return text_[position_++];
    }
    std::int64_t number(const char* what) {
        char c = next();
        while (is_blank(c) || c == '#') {
            if (c == '#') {
                skip_line();
            }
            c = next();
        }
        std::int64_t value = 0;
        if (c < '0' || c > '9') {
            refuse(std::string("has no number where its ") + what + " should be");
        }
        for (; c >= '0' && c <= '9'; c = next()) {
            if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, c - '0', &value)) {
                refuse(std::string("has a ") + what + " that does not fit in 64 bits");
            }
        }
        if (!is_blank(c)) {
            refuse(std::string("has something else than a blank after its ") + what);
        }
        return value;
    }
    [[noreturn]] void refuse(const std::string& why) const {
        fail(ErrorCode::input, "'{}' {}; a PBM file starts with 'P4', its width and its height", path_, why);
    }

private:
    void skip_line() {
        char c = next();
        while (c != '\n' && c != '\r') {
            c = next();
        }
    }
    static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

    const std::vector<char>& text_;
    const std::string& path_;
    std::size_t position_ = 0;
};

}  // namespace

BitFileHeader read_pbm_header(const std::string& path) {
    const OpenFile open = open_to_read(path, "a file");
    std::vector<char> start(static_cast<std::size_t>(std::min(open.bytes, kMostHeaderBytes)));
    read_exactly(read_from(open.file.get()), start.data(), static_cast<std::int64_t>(start.size()), 0, path);
    HeaderText text(start, path);
    if (text.next() != 'P' || text.next() != '4') {
        text.refuse("is not a packed PBM file");
    }
    BitFileHeader header{.format = BitFormat::pbm, .cols = text.number("width")};
    header.rows = text.number("height");
    header.data_offset = static_cast<std::int64_t>(text.position());
    header.data_bytes = checked_mul(header.rows, packed_row_bytes(header.cols));
    fail_if(open.bytes != checked_add(header.data_offset, header.data_bytes), ErrorCode::input,
            "'{}' is {}: its header says {} x {}, which makes {} bytes, and the file has {}", path,
            open.bytes < header.data_offset + header.data_bytes ? "truncated" : "too long", header.rows, header.cols,
            header.data_offset + header.data_bytes, open.bytes);
    return header;
}

std::string pbm_header_text(std::int64_t rows, std::int64_t cols) {
    constexpr std::size_t kHeader_bytes = 4096;
    const std::string title = "P4\n", sizes = fmt::format("\n{} {}\n", cols, rows);
    std::string comment = "# padded to 4096 bytes";
    comment.resize(kHeader_bytes - title.size() - sizes.size(), ' ');
    return title + comment + sizes;
}

}  // namespace heptad
