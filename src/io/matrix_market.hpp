// Matrix Market files: read only, and whole.
//
//   %%MatrixMarket matrix coordinate|array pattern|integer|real|complex general|symmetric|skew-symmetric|hermitian
//   % comments
//   rows columns entries          array: rows columns
//   row column [value]            from 1; array: one value per line, column by column; complex: two numbers
//
// Of symmetric matrices one triangle is stored: of arrays the lower one, without the diagonal where it is skew.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/matrix.hpp"
#include "base/names.hpp"
#include "io/hooks.hpp"

namespace heptad {

enum class MarketField : std::uint8_t { pattern, integer, real, complex };
inline constexpr Names<MarketField, 4> kMarketFields{{"pattern", "integer", "real", "complex"}};
enum class MarketSymmetry : std::uint8_t { general, symmetric, skew, hermitian };
inline constexpr Names<MarketSymmetry, 4> kMarketSymmetries{{"general", "symmetric", "skew-symmetric", "hermitian"}};

struct MarketHeader {
    std::int64_t rows = 0, cols = 0;
    std::int64_t entries = 0;  ///< that are stored
    bool array = false;        ///< every entry is stored, or every one of a triangle
    MarketField field = MarketField::real;
    MarketSymmetry symmetry = MarketSymmetry::general;
    std::int64_t file_bytes = 0;
};

/// By its suffix.
bool is_matrix_market_name(const std::string& path);

/// Throws Error(input), naming the line.
MarketHeader read_market_header(const std::string& path);

/// What the numbers of a file are taken for: `as`, or c128 for complex ones, f64 for real ones and i32 for integers.
/// Throws Error(usage) where a pattern is all there is and nothing says what to take it for, and where the one is
/// complex and not the other.
Type market_type(const MarketHeader& header, const std::string& path, std::optional<Type> as);

/// What several files are taken for together: c128 if one holds complex numbers, f64 if one holds real ones, i32 if one
/// holds integers; patterns alone tell nothing.
std::optional<Type> type_of_markets(const std::vector<std::string>& files);

/// The whole matrix, row by row. Entries of one place are added up; a pattern is made of ones, and for gf2 and bool
/// every entry that is not zero is one. Floats are rounded to the type. Throws Error(input) where a value does not fit
/// the type: beyond its range, a fraction where it has none, or an entry of an integer file that f64 would round.
Matrix read_market_matrix(const std::string& path, std::optional<Type> as, const FileHooks& hooks = {});

}  // namespace heptad
