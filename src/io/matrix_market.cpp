#include "io/matrix_market.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/names.hpp"
#include "base/size.hpp"
#include "base/text_stream.hpp"
#include "io/bit_formats.hpp"

namespace heptad {
namespace {

/// A line is a few numbers or a comment.
constexpr Names<MarketField, 4> kFields{{"pattern", "integer", "real", "complex"}};
constexpr Names<MarketSymmetry, 4> kSymmetries{{"general", "symmetric", "skew-symmetric", "hermitian"}};
constexpr std::size_t kMostLineBytes = 65536;
/// Entries between two looks at the cancel token.
constexpr std::int64_t kEntriesPerStep = 1 << 20;

}  // namespace

/// A file by lines, which knows where it is.
class MarketLines {
public:
    explicit MarketLines(const std::string& path) : path_(path), open_(open_to_read(path, "a file")) {}

    std::int64_t file_bytes() const { return open_.bytes; }
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
    OpenFile open_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0;
    std::int64_t offset_ = 0, number_ = 0;
};

namespace {

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

/// The first word of `text`, which is cut off.
std::string_view take_word(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r"), text.size()));
    const std::string_view word = text.substr(0, text.find_first_of(" \t\r"));
    text.remove_prefix(word.size());
    return word;
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

void read_banner(MarketLines& lines, MarketHeader& header) {
    std::string line;
    lines.next(line);
    std::transform(line.begin(), line.end(), line.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    std::istringstream words = stream_of(line.substr(0, 200));
    std::string banner, object, format, field, symmetry;
    words >> banner >> object >> format >> field >> symmetry;
    if (banner != "%%matrixmarket" || object != "matrix") {
        lines.refuse("a Matrix Market file starts with '%%MatrixMarket matrix'");
    }
    if (format != "coordinate" && format != "array") {
        lines.refuse("the format is '" + format.substr(0, 20) + "'; it must be coordinate or array");
    }
    header.array = format == "array";
    const std::optional<MarketField> known_field = kFields.find(field == "double" ? "real" : field);
    if (!known_field || (*known_field == MarketField::pattern && header.array)) {
        lines.refuse("the field is '" + field.substr(0, 20) +
                     "'; it must be real, complex, integer or, of coordinates, pattern");
    }
    header.field = *known_field;
    const std::optional<MarketSymmetry> known = kSymmetries.find(symmetry);
    if (!known || (*known == MarketSymmetry::hermitian && header.field != MarketField::complex)) {
        lines.refuse("the symmetry is '" + symmetry.substr(0, 20) +
                     "'; it must be general, symmetric, skew-symmetric or, of complex numbers, hermitian");
    }
    header.symmetry = *known;
}

/// How many values an array stores.
std::int64_t array_entries(const MarketHeader& header) {
    const std::int64_t all = checked_mul(header.rows, header.cols);
    switch (header.symmetry) {
        case MarketSymmetry::symmetric:
        case MarketSymmetry::hermitian:
            return all / 2 + (header.rows + 1) / 2;  // rows * (rows + 1) / 2, without an overflow on the way
        case MarketSymmetry::skew:
            return all / 2 - header.rows / 2;
        default:
            return all;
    }
}

MarketHeader read_header(MarketLines& lines) {
    MarketHeader header;
    header.file_bytes = lines.file_bytes();
    read_banner(lines, header);
    std::string line;
    do {
        if (!lines.next(line)) {
            lines.refuse("the file ends before its sizes");
        }
    } while (line.starts_with('%') || is_blank(line));
    std::string_view rest = line;
    const bool shape = take_number(rest, header.rows) && take_number(rest, header.cols);
    if (!shape || (!header.array && !take_number(rest, header.entries)) || !is_blank(rest)) {
        lines.refuse(header.array ? "the sizes must be two whole numbers: rows, columns"
                                  : "the sizes must be three whole numbers: rows, columns, entries");
    }
    if (header.symmetry != MarketSymmetry::general && header.rows != header.cols) {
        lines.refuse("a symmetric matrix must be square");
    }
    if (header.array) {
        header.entries = array_entries(header);
    }
    // An entry takes four characters at least ("1 1" and the end of the line, which the last may lack), a value two.
    if (header.entries > lines.file_bytes() / (header.array ? 2 : 4) + 1) {
        lines.refuse(fmt::format("{} entries do not fit in a file of {} bytes", header.entries, lines.file_bytes()));
    }
    return header;
}

}  // namespace

const char* market_field_name(MarketField field) {
    return kFields.of(field);
}

const char* market_symmetry_name(MarketSymmetry symmetry) {
    return kSymmetries.of(symmetry);
}

bool is_matrix_market_name(const std::string& path) {
    return suffix_of(path) == ".mtx";
}

MarketHeader read_market_header(const std::string& path) {
    MarketLines lines(path);
    return read_header(lines);
}

struct MarketReader::State {
    State(const std::string& name, FileHooks given)
        : path(name), hooks(std::move(given)), lines(name), header(read_header(lines)) {
        // Where an array begins; a skew one has no diagonal.
        place.row = header.symmetry == MarketSymmetry::skew ? 1 : 0;
    }

    [[noreturn]] void refuse_more() const {
        lines.refuse(fmt::format("there are more entries than the {} that the header says", header.entries));
    }
    /// False at the end of the file.
    bool next_line() {
        do {
            if (!lines.next(line)) {
                return false;
            }
        } while (line.starts_with('%') || is_blank(line));
        return true;
    }
    /// The place of the next value of an array: down the column, then to the start of the next one.
    void advance() {
        if (++place.row == header.rows) {
            ++place.col;
            place.row = header.symmetry == MarketSymmetry::general ? 0
                        : header.symmetry == MarketSymmetry::skew  ? place.col + 1
                                                                   : place.col;
        }
    }
    void parse_place(std::string_view& rest, MarketEntry& entry) const {
        const bool values = header.field != MarketField::pattern;
        if (!take_number(rest, entry.row) || !take_number(rest, entry.col) || entry.row < 1 || entry.col < 1 ||
            entry.row > header.rows || entry.col > header.cols || is_blank(rest) == values) {
            lines.refuse(fmt::format("an entry is a row from 1 to {} and a column from 1 to {}{}", header.rows,
                                     header.cols, values ? ", then a value" : " and nothing else"));
        }
        --entry.row;
        --entry.col;
    }

    std::string path;
    FileHooks hooks;
    MarketLines lines;
    MarketHeader header;
    std::string line;
    std::int64_t found = 0;
    MarketEntry place;  // of the next value of an array
};

MarketReader::MarketReader(const std::string& path, const FileHooks& hooks)
    : state_(std::make_unique<State>(path, hooks)) {}
MarketReader::~MarketReader() = default;

const MarketHeader& MarketReader::header() const {
    return state_->header;
}

bool MarketReader::next(MarketEntry& entry) {
    State& state = *state_;
    if (!state.next_line()) {
        if (state.found < state.header.entries) {
            state.lines.refuse(
                fmt::format("the file ends before the {} entries that its header says", state.header.entries));
        }
        return false;
    }
    std::string_view rest = state.line;
    entry.value = 1;
    if (!state.header.array) {
        state.parse_place(rest, entry);
    }
    if (++state.found > state.header.entries) {
        state.refuse_more();
    }
    if (state.header.array) {
        entry.row = state.place.row;
        entry.col = state.place.col;
        state.advance();
    }
    const std::string_view value = rest;
    if (state.header.field == MarketField::complex &&
        !(is_number(take_word(rest), entry.value) && is_number(rest, entry.imaginary))) {
        refuse("the value '" + std::string(value.substr(0, 40)) + "' is not two finite numbers, as complex ones are");
    }
    if ((state.header.field == MarketField::real || state.header.field == MarketField::integer) &&
        !is_number(rest, entry.value)) {
        refuse("the value '" + std::string(rest.substr(0, 40)) + "' is not a finite number");
    }
    if (state.header.field == MarketField::integer && entry.value != std::trunc(entry.value)) {
        refuse("the value '" + std::string(rest.substr(0, 40)) + "' is not an integer, which the header promises");
    }
    if (state.found % kEntriesPerStep == 0) {
        stop_if_cancelled(state.hooks, state.path);
        if (state.hooks.progress) {
            state.hooks.progress({state.lines.fraction(), "read"});
        }
    }
    return true;
}

void MarketReader::refuse(const std::string& why) const {
    state_->lines.refuse(why);
}

}  // namespace heptad
