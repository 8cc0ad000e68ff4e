// The bits of a Matrix Market file: a value other than zero is a one, whatever the algebra. The pattern of the matrix
// is read, not its entries modulo 2.
#include "io/bit_formats.hpp"
#include "io/matrix_market.hpp"

namespace heptad {

BitFileHeader read_matrix_market_header(const std::string& path) {
    const MarketHeader header = read_market_header(path);
    return {BitFormat::matrix_market, header.rows, header.cols, header.file_bytes, 0};
}

BitMatrix read_matrix_market(const std::string& path, const FileHooks& hooks) {
    MarketReader reader(path, hooks);
    BitMatrix matrix(reader.header().rows, reader.header().cols);
    const bool mirrored = reader.header().symmetry != MarketSymmetry::general;
    for (MarketEntry entry; reader.next(entry);) {
        if (entry.value != 0) {
            matrix.set(entry.row, entry.col, true);
            if (mirrored) {
                matrix.set(entry.col, entry.row, true);
            }
        }
    }
    return matrix;
}

}  // namespace heptad
