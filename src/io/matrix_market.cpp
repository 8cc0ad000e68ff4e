// As a dense matrix: of its numbers, or of bits. There a value other than zero is a one, whatever the algebra: the
// pattern of the matrix is read, not its entries modulo 2.
#include "io/matrix_market.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "base/fail_if.hpp"
#include "base/size.hpp"
#include "base/stored_type.hpp"
#include "base/text_stream.hpp"
#include "base/types.hpp"
#include "io/bit_formats.hpp"
#include "io/market_text.hpp"

namespace heptad {
namespace {

/// Entries between two looks at the cancel token.
constexpr std::int64_t kEntriesPerStep = 1 << 20;

void read_banner(MarketLines& lines, MarketHeader& header) {
    std::string line;
    lines.next(line);
    std::transform(line.begin(), line.end(), line.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    std::istringstream words = stream_of(line.substr(0, 200));
    std::string banner, object, format, field, symmetry;
    words >> banner >> object >> format >> field >> symmetry;
    lines.refuse_if(banner != "%%matrixmarket" || object != "matrix",
                    "a Matrix Market file starts with '%%MatrixMarket matrix'");
    lines.refuse_if(format != "coordinate" && format != "array",
                    "the format is '" + format.substr(0, 20) + "'; it must be coordinate or array");
    header.array = format == "array";
    const std::optional<MarketField> known_field = kMarketFields.find(field == "double" ? "real" : field);
    lines.refuse_if(
        !known_field || (*known_field == MarketField::pattern && header.array),
        "the field is '" + field.substr(0, 20) + "'; it must be real, complex, integer or, of coordinates, pattern");
    header.field = *known_field;
    const std::optional<MarketSymmetry> known = kMarketSymmetries.find(symmetry);
    lines.refuse_if(!known || (*known == MarketSymmetry::hermitian && header.field != MarketField::complex),
                    "the symmetry is '" + symmetry.substr(0, 20) +
                        "'; it must be general, symmetric, skew-symmetric or, of complex numbers, hermitian");
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
    lines.refuse_if(!lines.next_but_comments(line), "the file ends before its sizes");
    std::string_view rest = line;
    const bool shape = take_number(rest, header.rows) && take_number(rest, header.cols);
    lines.refuse_if(!shape || (!header.array && !take_number(rest, header.entries)) || !is_blank(rest),
                    header.array ? "the sizes must be two whole numbers: rows, columns"
                                 : "the sizes must be three whole numbers: rows, columns, entries");
    lines.refuse_if(header.symmetry != MarketSymmetry::general && header.rows != header.cols,
                    "a symmetric matrix must be square");
    if (header.array) {
        header.entries = array_entries(header);
    }
    // An entry takes four characters at least ("1 1" and the end of the line, which the last may lack), a value two.
    if (header.entries > lines.file_bytes() / (header.array ? 2 : 4) + 1) {
        lines.refuse(fmt::format("{} entries do not fit in a file of {} bytes", header.entries, lines.file_bytes()));
    }
    return header;
}

/// One stored entry; those that follow by symmetry are not handed out.
struct MarketEntry {
    std::int64_t row = 0, col = 0;  // from 0
    double value = 1, imaginary = 0;
    std::optional<std::int64_t> whole = 1;  // the value, where it is an integer of 64 bits
    std::string_view rounded = {};          // the text of an integer that the value is not, where integers are promised
};

class MarketReader {
public:
    MarketReader(const std::string& path, const FileHooks& hooks)
        : path_(path), hooks_(hooks), lines_(path), header_(read_header(lines_)) {
        // Where an array begins; a skew one has no diagonal.
        place_.row = header_.symmetry == MarketSymmetry::skew ? 1 : 0;
    }
    const MarketHeader& header() const { return header_; }
    /// Names the line of the last entry.
    [[noreturn]] void refuse(const std::string& why) const { lines_.refuse(why); }

    /// False after the last of the entries that the header tells.
    bool next(MarketEntry& entry) {
        if (!lines_.next_but_comments(line_)) {
            if (found_ < header_.entries) {
                refuse(fmt::format("the file ends before the {} entries that its header says", header_.entries));
            }
            return false;
        }
        std::string_view rest = line_;
        entry.value = 1;
        entry.whole = 1;
        if (!header_.array) {
            parse_place(rest, entry);
        }
        if (++found_ > header_.entries) {
            refuse(fmt::format("there are more entries than the {} that the header says", header_.entries));
        }
        if (header_.array) {
            entry.row = place_.row;
            entry.col = place_.col;
            advance();
        }
        parse_value(rest, entry);
        if (found_ % kEntriesPerStep == 0) {
            stop_if_cancelled(hooks_, path_);
            if (hooks_.progress) {
                hooks_.progress({lines_.fraction(), "read"});
            }
        }
        return true;
    }

private:
    /// The place of the next value of an array: down the column, then to the start of the next one.
    void advance() {
        if (++place_.row == header_.rows) {
            ++place_.col;
            place_.row = header_.symmetry == MarketSymmetry::general ? 0
                         : header_.symmetry == MarketSymmetry::skew  ? place_.col + 1
                                                                     : place_.col;
        }
    }
    void parse_place(std::string_view& rest, MarketEntry& entry) const {
        const bool values = header_.field != MarketField::pattern;
        if (!take_number(rest, entry.row) || !take_number(rest, entry.col) || entry.row < 1 || entry.col < 1 ||
            entry.row > header_.rows || entry.col > header_.cols || is_blank(rest) == values) {
            refuse(fmt::format("an entry is a row from 1 to {} and a column from 1 to {}{}", header_.rows, header_.cols,
                               values ? ", then a value" : " and nothing else"));
        }
        --entry.row;
        --entry.col;
    }
    void parse_value(std::string_view rest, MarketEntry& entry) const {
        const auto refuse_value = [&](std::string_view value, const char* why) {
            refuse(fmt::format("the value '{}' is not {}", value.substr(0, 40), why));
        };
        const std::string_view value = rest;
        const bool whole = header_.field == MarketField::integer;
        if (header_.field == MarketField::complex) {
            if (!is_number(take_word(rest), entry.value) || !is_number(rest, entry.imaginary)) {
                refuse_value(value, "two finite numbers in the range of f64, as complex ones are");
            }
        } else if (header_.field != MarketField::pattern) {
            if (!is_number(rest, entry.value)) {
                refuse_value(value, "a finite number in the range of f64");
            }
            if (whole && entry.value != std::trunc(entry.value)) {
                refuse_value(value, "an integer, which the header promises");
            }
            entry.whole = whole_number(rest, entry.value);
            const std::string_view text = number_text(rest);
            entry.rounded = whole && is_rounded(text, entry.value) ? text : "";
        }
    }

    std::string path_;
    const FileHooks& hooks_;
    MarketLines lines_;
    MarketHeader header_;
    std::string line_;
    std::int64_t found_ = 0;
    MarketEntry place_;  // of the next value of an array
};

/// A number, of which there may be an integer that it is exactly.
struct MarketNumber {
    double value = 0;
    std::optional<std::int64_t> whole = {};
};

/// The sum, rounded where Element has fractions; nothing: it is no element.
template <class Element>
std::optional<Element> added(Element element, const MarketNumber& number) {
    if constexpr (std::is_same_v<Element, std::uint8_t>) {  // bits: what is not zero is one, and stays it
        return static_cast<Element>(element != 0 || number.value != 0 ? 1 : 0);
    } else if constexpr (std::is_integral_v<Element>) {
        Element sum = 0;
        const bool fits = number.whole && !__builtin_add_overflow(element, *number.whole, &sum);
        return fits ? std::optional(sum) : std::nullopt;
    } else {
        const Element sum = from_double<Element>(to_double(element) + number.value);
        return std::isfinite(to_double(sum)) ? std::optional(sum) : std::nullopt;
    }
}

/// A sum that is no element, for people: with all digits where 64 bits have them.
template <class Element>
std::string sum_text(Element element, const MarketNumber& number) {
    if constexpr (std::is_integral_v<Element>) {
        std::int64_t sum = 0;
        if (number.whole && !__builtin_add_overflow(element, *number.whole, &sum)) {
            return fmt::format("{}", sum);
        }
    }
    return fmt::format("{:.17g}", to_double(element) + number.value);
}

template <class Element>
void add_number(Element& element, const MarketNumber& number, Type type, const MarketReader& reader) {
    const std::optional<Element> sum = added(element, number);
    if (!sum && type == Type::i64 && !number.whole && number.value == std::trunc(number.value) &&
        std::abs(number.value) < 0x1p63) {
        reader.refuse(
            fmt::format("the value {:.17g} is beyond 2^53, where only integers are read exactly; write it "
                        "without a point or an exponent",
                        number.value));
    }
    if (!sum) {
        reader.refuse(fmt::format("the value {} is not an element of {}; name a --type that holds it",
                                  sum_text(element, number), type_name(type)));
    }
    element = *sum;
}

/// None of the least one, whose opposite takes a bit more.
std::optional<std::int64_t> opposite(const std::optional<std::int64_t>& whole) {
    return whole && *whole != std::numeric_limits<std::int64_t>::min() ? std::optional(-*whole) : std::nullopt;
}

/// Of complex numbers, Element is a part.
template <class Element>
void add_entry(Matrix& matrix, const MarketEntry& entry, const MarketReader& reader) {
    const bool complex = is_complex(matrix.type());
    Element* const at =
        static_cast<Element*>(matrix.data()) + (complex ? 2 : 1) * (entry.row * matrix.cols() + entry.col);
    add_number(at[0], {entry.value, entry.whole}, matrix.type(), reader);
    if (complex) {
        add_number(at[1], {entry.imaginary}, matrix.type(), reader);
    }
}

template <class Element>
void read_entries(MarketReader& reader, Matrix& matrix) {
    const MarketSymmetry symmetry = reader.header().symmetry;
    // Bits that are added up would cancel: -1 and 1 are both there.
    const bool bits = matrix.type() == Type::gf2 || matrix.type() == Type::boolean;
    for (MarketEntry entry; reader.next(entry);) {
        const bool on_diagonal = entry.row == entry.col;
        if (symmetry == MarketSymmetry::skew && on_diagonal && (entry.value != 0 || entry.imaginary != 0)) {
            reader.refuse("the diagonal of a skew-symmetric matrix is zero");
        }
        if (symmetry == MarketSymmetry::hermitian && on_diagonal && entry.imaginary != 0) {
            reader.refuse("the diagonal of a hermitian matrix is real");
        }
        if (matrix.type() == Type::f64 && !entry.rounded.empty()) {
            reader.refuse(fmt::format("the integer {} would be rounded to f64; name a --type that holds it",
                                      entry.rounded.substr(0, 40)));
        }
        entry.value = bits ? std::hypot(entry.value, entry.imaginary) : entry.value;
        add_entry<Element>(matrix, entry, reader);
        if (symmetry != MarketSymmetry::general && !on_diagonal) {
            const bool negated = symmetry == MarketSymmetry::skew && !bits;
            const double of_imaginary = symmetry == MarketSymmetry::symmetric ? 1 : -1;
            std::swap(entry.row, entry.col);
            entry.imaginary *= of_imaginary;
            entry.value = negated ? -entry.value : entry.value;
            entry.whole = negated ? opposite(entry.whole) : entry.whole;
            add_entry<Element>(matrix, entry, reader);
        }
    }
}

}  // namespace

bool is_matrix_market_name(const std::string& path) {
    return suffix_of(path) == ".mtx";
}

MarketHeader read_market_header(const std::string& path) {
    MarketLines lines(path);
    return read_header(lines);
}

Type market_type(const MarketHeader& header, const std::string& path, std::optional<Type> as) {
    const bool complex = header.field == MarketField::complex;
    if (as && is_complex(*as) && !complex) {
        fail(ErrorCode::usage, "'{}' holds real numbers, which are not read as {}; name a real type", path,
             type_name(*as));
    }
    if (as && complex && !is_complex(*as) && *as != Type::gf2 && *as != Type::boolean) {
        fail(ErrorCode::usage, "'{}' holds complex numbers, which are not read as {}; use --type c64 or c128", path,
             type_name(*as));
    }
    if (as) {
        return *as;
    }
    fail_if(header.field == MarketField::pattern, ErrorCode::usage,
            "'{}' says where its entries are but not their values; use --type bool or gf2 for bits, or a type of "
            "numbers for ones",
            path);
    return complex ? Type::c128 : header.field == MarketField::integer ? Type::i32 : Type::f64;
}

std::optional<Type> type_of_markets(const std::vector<std::string>& files) {
    std::optional<Type> type;
    for (const std::string& file : files) {
        const MarketField field = read_market_header(file).field;
        if (field == MarketField::complex) {
            return Type::c128;
        }
        if (field == MarketField::real || (field == MarketField::integer && !type)) {
            type = field == MarketField::real ? Type::f64 : Type::i32;
        }
    }
    return type;
}

Matrix read_market_matrix(const std::string& path, std::optional<Type> as, const FileHooks& hooks) {
    MarketReader reader(path, hooks);
    const MarketHeader& header = reader.header();
    Matrix matrix(market_type(header, path, as), header.rows, header.cols);
    matrix.clear();
    const Type stored = is_complex(matrix.type()) ? part_type(matrix.type()) : matrix.type();
    with_stored_type(stored, [&]<class Element>() { read_entries<Element>(reader, matrix); });
    return matrix;
}

BitFileHeader read_matrix_market_header(const std::string& path) {
    const MarketHeader header = read_market_header(path);
    return {BitFormat::matrix_market, header.rows, header.cols, header.file_bytes, 0};
}

BitMatrix read_matrix_market(const std::string& path, const FileHooks& hooks) {
    MarketReader reader(path, hooks);
    BitMatrix matrix(reader.header().rows, reader.header().cols);
    const bool mirrored = reader.header().symmetry != MarketSymmetry::general;
    for (MarketEntry entry; reader.next(entry);) {
        if (entry.value != 0 || entry.imaginary != 0) {
            matrix.set(entry.row, entry.col, true);
            if (mirrored) {
                matrix.set(entry.col, entry.row, true);
            }
        }
    }
    return matrix;
}

}  // namespace heptad
