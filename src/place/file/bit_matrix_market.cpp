// Matrix Market, coordinate format: one line per entry, "row column [value]", counted from 1. A value other than zero
// is a one, whatever the algebra: the pattern of the matrix is read, not its entries modulo 2.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/size.hpp"
#include "place/file/bit_formats.hpp"

namespace heptad {
namespace {

/// A line is a few numbers or a comment.
constexpr std::size_t kMostLineBytes = 65536;

class Lines {
public:
    explicit Lines(const std::string& path) : path_(path), open_(open_bit_file(path)) {}

    std::int64_t file_bytes() const { return open_.bytes; }
    std::int64_t number() const { return number_; }
    double fraction() const {
        return open_.bytes > 0 ? static_cast<double>(offset_) / static_cast<double>(open_.bytes) : 1.0;
    }

    /// False at the end of the file.
    bool next(std::string& line) {
        line.clear();
        ++number_;
        for (;;) {
            if (begin_ == buffer_.size() && !fill()) {
                return !line.empty();
            }
            const auto* const found =
                static_cast<const char*>(std::memchr(buffer_.data() + begin_, '\n', buffer_.size() - begin_));
            const std::size_t end =
                found == nullptr ? buffer_.size() : static_cast<std::size_t>(found - buffer_.data());
            line.append(buffer_.data() + begin_, end - begin_);
            begin_ = std::min(end + 1, buffer_.size());
            if (line.size() > kMostLineBytes) {
                refuse("has a line of more than 65536 characters");
            }
            if (found != nullptr) {
                return true;
            }
        }
    }
    [[noreturn]] void refuse(const std::string& why) const {
        fail(ErrorCode::input, "'{}', line {}: {}", path_, number_, why);
    }

private:
    bool fill() {
        buffer_.resize(static_cast<std::size_t>(std::min<std::int64_t>(open_.bytes - offset_, 1 << 20)));
        begin_ = 0;
        read_exactly(read_from(open_.file.get()), buffer_.data(), static_cast<std::int64_t>(buffer_.size()), offset_,
                     path_);
        offset_ += static_cast<std::int64_t>(buffer_.size());
        return !buffer_.empty();
    }

    std::string path_;
    OpenBitFile open_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0;
    std::int64_t offset_ = 0, number_ = 0;
};

struct MarketHeader {
    std::int64_t rows = 0, cols = 0, entries = 0;
    bool mirrored = false;  // only one triangle is stored
    bool values = false;
};

/// A whole number at the start of `text`, which is cut off.
bool take_number(std::string_view& text, std::int64_t& number) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r"), text.size()));
    std::size_t digits = 0;
    number = 0;
    for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, text[digits] - '0', &number)) {
            return false;
        }
    }
    text.remove_prefix(digits);
    return digits > 0 && (text.empty() || text[0] == ' ' || text[0] == '\t' || text[0] == '\r');
}

bool is_blank(std::string_view text) {
    return text.find_first_not_of(" \t\r") == std::string_view::npos;
}

/// The finite number that `text` is, blanks around it aside.
bool is_number(std::string_view text, double& number) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r"), text.size()));
    text.remove_suffix(text.size() - std::min(text.find_last_not_of(" \t\r") + 1, text.size()));
    const bool plus = text.starts_with('+') && !text.starts_with("+-");
    const char* const end = text.data() + text.size();
    const auto [stopped, why] = std::from_chars(text.data() + (plus ? 1 : 0), end, number);
    return why == std::errc() && stopped == end && std::isfinite(number);
}

MarketHeader read_header(Lines& lines) {
    std::string line;
    lines.next(line);
    std::transform(line.begin(), line.end(), line.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    std::istringstream words(line.substr(0, 200));
    std::string banner, object, format, field, symmetry;
    words >> banner >> object >> format >> field >> symmetry;
    if (banner != "%%matrixmarket" || object != "matrix") {
        lines.refuse("a Matrix Market file starts with '%%MatrixMarket matrix'");
    }
    if (format != "coordinate") {
        lines.refuse("the format is '" + format.substr(0, 20) + "'; for bits it must be 'coordinate'");
    }
    if (field != "pattern" && field != "integer" && field != "real") {
        lines.refuse("the field is '" + field.substr(0, 20) + "'; for bits it must be pattern, integer or real");
    }
    if (symmetry != "general" && symmetry != "symmetric" && symmetry != "skew-symmetric") {
        lines.refuse("the symmetry is '" + symmetry.substr(0, 20) +
                     "'; it must be general, symmetric or skew-symmetric");
    }
    MarketHeader header;
    header.values = field != "pattern";
    header.mirrored = symmetry != "general";
    do {
        if (!lines.next(line)) {
            lines.refuse("the file ends before its sizes");
        }
    } while (line.starts_with('%') || is_blank(line));
    std::string_view rest = line;
    if (!take_number(rest, header.rows) || !take_number(rest, header.cols) || !take_number(rest, header.entries) ||
        !is_blank(rest)) {
        lines.refuse("the sizes must be three whole numbers: rows, columns, entries");
    }
    if (header.mirrored && header.rows != header.cols) {
        lines.refuse("a symmetric matrix must be square");
    }
    // An entry takes four characters at least ("1 1" and the end of the line, which the last may lack).
    if (header.entries > lines.file_bytes() / 4 + 1) {
        lines.refuse(fmt::format("{} entries do not fit in a file of {} bytes", header.entries, lines.file_bytes()));
    }
    return header;
}

}  // namespace

BitFileHeader read_matrix_market_header(const std::string& path) {
    Lines lines(path);
    const MarketHeader header = read_header(lines);
    return {BitFormat::matrix_market, header.rows, header.cols, lines.file_bytes(), 0};
}

BitMatrix read_matrix_market(const std::string& path, const FileHooks& hooks) {
    Lines lines(path);
    const MarketHeader header = read_header(lines);
    BitMatrix matrix(header.rows, header.cols);
    std::string line;
    for (std::int64_t found = 0; lines.next(line);) {
        if (line.starts_with('%') || is_blank(line)) {
            continue;
        }
        std::string_view rest = line;
        std::int64_t row = 0, col = 0;
        if (!take_number(rest, row) || !take_number(rest, col) || row < 1 || col < 1 || row > header.rows ||
            col > header.cols || is_blank(rest) == header.values) {
            lines.refuse(fmt::format("an entry is a row from 1 to {} and a column from 1 to {}{}", header.rows,
                                     header.cols, header.values ? ", then a value" : " and nothing else"));
        }
        if (++found > header.entries) {
            lines.refuse(fmt::format("there are more entries than the {} that the header tells", header.entries));
        }
        double value = 1;
        if (header.values && !is_number(rest, value)) {
            lines.refuse("the value '" + std::string(rest.substr(0, 40)) + "' is no finite number");
        }
        if (value != 0) {
            matrix.set(row - 1, col - 1, true);
            if (header.mirrored) {
                matrix.set(col - 1, row - 1, true);
            }
        }
        if (found % (1 << 20) == 0) {
            stop_if_cancelled(hooks, path);
            if (hooks.progress) {
                hooks.progress({lines.fraction(), "read"});
            }
        }
        if (found == header.entries) {
            while (lines.next(line)) {
                if (!line.starts_with('%') && !is_blank(line)) {
                    lines.refuse(
                        fmt::format("there are more entries than the {} that the header tells", header.entries));
                }
            }
            return matrix;
        }
    }
    if (header.entries > 0) {
        lines.refuse(fmt::format("the file ends before the {} entries that its header tells", header.entries));
    }
    return matrix;
}

}  // namespace heptad
