// The numbers of a Matrix Market file as a dense matrix.
#include <cmath>

#include "base/error.hpp"
#include "base/half.hpp"
#include "io/matrix_market.hpp"

namespace heptad {
namespace {

double to_number(double x) {
    return x;
}
double to_number(float x) {
    return x;
}
double to_number(std::int32_t x) {
    return x;
}
double to_number(bf16 x) {
    return static_cast<double>(to_float(x));
}
double to_number(f16 x) {
    return static_cast<double>(to_float(x));
}
double to_number(std::uint8_t x) {
    return x;
}

/// The element nearest to a number; false where there is none.
bool to_element(double number, double& element) {
    element = number;
    return std::isfinite(element);
}
bool to_element(double number, float& element) {
    element = static_cast<float>(number);
    return std::isfinite(element);
}
bool to_element(double number, bf16& element) {
    element = to_bf16(static_cast<float>(number));
    return std::isfinite(to_float(element));
}
bool to_element(double number, f16& element) {
    element = to_f16(static_cast<float>(number));
    return std::isfinite(to_float(element));
}
bool to_element(double number, std::int32_t& element) {
    constexpr double kLow = -2147483648.0, kHigh = 2147483647.0;
    if (!(number >= kLow && number <= kHigh) || number != std::trunc(number)) {
        return false;
    }
    element = static_cast<std::int32_t>(number);
    return true;
}
/// Bits: what is not zero is one, and stays it.
bool to_element(double number, std::uint8_t& element) {
    element = number != 0 ? 1 : 0;
    return true;
}

template <class Element>
void add_entry(Matrix& matrix, std::int64_t row, std::int64_t col, double value, const MarketReader& reader) {
    Element& element = static_cast<Element*>(matrix.data())[row * matrix.cols() + col];
    const double sum = to_number(element) + value;
    if (!to_element(sum, element)) {
        reader.refuse(fmt::format("the value {:.17g} is no element of {}; name a --type that holds it", sum,
                                  type_name(matrix.type())));
    }
}

template <class Element>
void read_entries(MarketReader& reader, Matrix& matrix) {
    const MarketSymmetry symmetry = reader.header().symmetry;
    // Bits that are added up would cancel: -1 and 1 are both there.
    const bool bits = matrix.type() == Type::gf2 || matrix.type() == Type::boolean;
    for (MarketEntry entry; reader.next(entry);) {
        const double value = bits ? std::fabs(entry.value) : entry.value;
        if (symmetry == MarketSymmetry::skew && entry.row == entry.col && value != 0) {
            reader.refuse("the diagonal of a skew-symmetric matrix is zero");
        }
        add_entry<Element>(matrix, entry.row, entry.col, value, reader);
        if (symmetry != MarketSymmetry::general && entry.row != entry.col) {
            add_entry<Element>(matrix, entry.col, entry.row, symmetry == MarketSymmetry::skew && !bits ? -value : value,
                               reader);
        }
    }
}

}  // namespace

Type market_type(const MarketHeader& header, const std::string& path, std::optional<Type> as) {
    if (as) {
        return *as;
    }
    if (header.field == MarketField::pattern) {
        fail(ErrorCode::usage,
             "'{}' tells where its entries are and not what they are; say --type bool or gf2 for bits, or a type of "
             "numbers for ones",
             path);
    }
    return header.field == MarketField::integer ? Type::i32 : Type::f64;
}

std::optional<Type> type_of_markets(const std::vector<std::string>& files) {
    std::optional<Type> type;
    for (const std::string& file : files) {
        const MarketField field = read_market_header(file).field;
        if (field == MarketField::real) {
            return Type::f64;
        }
        if (field == MarketField::integer) {
            type = Type::i32;
        }
    }
    return type;
}

Matrix read_market_matrix(const std::string& path, std::optional<Type> as, const FileHooks& hooks) {
    MarketReader reader(path, hooks);
    const MarketHeader& header = reader.header();
    Matrix matrix(market_type(header, path, as), header.rows, header.cols);
    matrix.clear();
    switch (matrix.type()) {
        case Type::f64:
            read_entries<double>(reader, matrix);
            break;
        case Type::f32:
        case Type::tf32:
            read_entries<float>(reader, matrix);
            break;
        case Type::bf16:
            read_entries<bf16>(reader, matrix);
            break;
        case Type::f16:
            read_entries<f16>(reader, matrix);
            break;
        case Type::i32:
            read_entries<std::int32_t>(reader, matrix);
            break;
        case Type::gf2:
        case Type::boolean:
            read_entries<std::uint8_t>(reader, matrix);
            break;
    }
    return matrix;
}

}  // namespace heptad
