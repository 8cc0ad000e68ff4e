// The type of a product whose files do not all have one.
#include <algorithm>

#include "io/bit_file.hpp"
#include "io/matrix_market.hpp"
#include "operands.hpp"

namespace heptad::cli {

std::optional<Type> product_type(const std::vector<std::string>& files, const ProductOptions& product) {
    std::vector<std::string> markets, others;
    for (const std::string& file : files) {
        if (!file.empty()) {
            (is_matrix_market_name(file) ? markets : others).push_back(file);
        }
    }
    const bool bits = product.columns || std::any_of(others.begin(), others.end(), is_bit_file_name);
    if (product.type || markets.empty() || bits) {
        return product.type;
    }
    if (const std::optional<RawShape>& raw = product.raw_a ? product.raw_a : product.raw_b) {
        return raw->type;
    }
    return others.empty() ? type_of_markets(markets) : matrix_facts(name_of(others.front(), product, {})).type;
}

}  // namespace heptad::cli
