// A Matrix Market file as a dense matrix: of its numbers, or of bits. There a value other than zero is a one, whatever
// the algebra: the pattern of the matrix is read, not its entries modulo 2.
#include <cmath>

#include "base/fail_if.hpp"
#include "base/stored_type.hpp"
#include "base/types.hpp"
#include "io/bit_formats.hpp"
#include "io/matrix_market.hpp"

namespace heptad {
namespace {

/// The element nearest to a number; false where there is none.
template <class Element>
bool to_element(double number, Element& element) {
    if constexpr (std::is_same_v<Element, std::uint8_t>) {  // bits: what is not zero is one, and stays it
        element = number != 0 ? 1 : 0;
        return true;
    }
    // Numbers come as doubles: whether one of 2^53 and more stands in the file is not known then.
    constexpr bool wide = std::is_same_v<Element, std::int64_t>;
    constexpr double kLow = wide ? -0x1p53 + 1 : -0x1p31, kHigh = wide ? 0x1p53 - 1 : 0x1p31 - 1;
    if (std::is_integral_v<Element> && (!(number >= kLow && number <= kHigh) || number != std::trunc(number))) {
        return false;
    }
    element = from_double<Element>(number);
    return std::isfinite(to_double(element));
}

template <class Element>
void add_number(Element& element, double value, Type type, const MarketReader& reader) {
    const double sum = to_double(element) + value;
    if (!to_element(sum, element)) {
        reader.refuse(fmt::format("the value {:.17g} is not an element of {}; name a --type that holds it", sum,
                                  type_name(type)));
    }
}

/// Of complex numbers, Element is a part.
template <class Element>
void add_entry(Matrix& matrix, const MarketEntry& entry, const MarketReader& reader) {
    const bool complex = is_complex(matrix.type());
    Element* const at =
        static_cast<Element*>(matrix.data()) + (complex ? 2 : 1) * (entry.row * matrix.cols() + entry.col);
    add_number(at[0], entry.value, matrix.type(), reader);
    if (complex) {
        add_number(at[1], entry.imaginary, matrix.type(), reader);
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
        entry.value = bits ? std::hypot(entry.value, entry.imaginary) : entry.value;
        add_entry<Element>(matrix, entry, reader);
        if (symmetry != MarketSymmetry::general && !on_diagonal) {
            const double of_value = symmetry == MarketSymmetry::skew && !bits ? -1 : 1;
            const double of_imaginary = symmetry == MarketSymmetry::symmetric ? 1 : -1;
            add_entry<Element>(matrix, {entry.col, entry.row, of_value * entry.value, of_imaginary * entry.imaginary},
                               reader);
        }
    }
}

}  // namespace

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
