#include "run/residue/exact_operands.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/moduli.hpp"

namespace heptad {
namespace {

double element(const ConstView& view, std::int64_t i, std::int64_t j) {
    return with_stored_type(view.type, [&]<class T>() {
        return to_double(static_cast<const T*>(view.data)[i * view.row_stride + j * view.col_stride]);
    });
}

}  // namespace

ExactOperands::ExactOperands(Backend& backend, const Product& of)
    : product(of), rows(integer_rows(backend, of.a)), cols(integer_rows(backend, transposed(of.b))) {}

double largest_norm(const IntegerLines& lines, std::int64_t first, std::int64_t count) {
    const auto begin = lines.log2_norm.begin() + first;
    const auto rest = static_cast<std::int64_t>(lines.log2_norm.end() - begin);
    return *std::max_element(begin, begin + std::min(count, rest));
}

std::vector<ExactOperands::Tile> ExactOperands::tiles(const ProductPlan& plan) const {
    std::vector<Tile> tiles;
    for (std::int64_t row = 0; row < plan.m; row += plan.tile_m) {
        for (std::int64_t col = 0; col < plan.n; col += plan.tile_n) {
            const double of_a = largest_norm(rows, row, plan.tile_m), of_b = largest_norm(cols, col, plan.tile_n);
            tiles.push_back({row, col, std::min(plan.tile_m, plan.m - row), std::min(plan.tile_n, plan.n - col),
                             std::isfinite(of_a + of_b) ? moduli_within(of_a, of_b, plan.arithmetic.moduli) : 0});
        }
    }
    return tiles;
}

int moduli_within(double of_a, double of_b, int most) {
    const int count = moduli_for(of_a + of_b);
    if (count > most) {
        fail(ErrorCode::input,
             "an exact product of these matrices takes {:.0f} bits: rows of A span up to {:.0f} and columns of B up to "
             "{:.0f}; at most {:.0f} are possible. Take accuracy strict",
             of_a + of_b, of_a, of_b, log2_of_moduli(most) - 2);
    }
    return count;
}

double ExactOperands::not_finite_sum(std::int64_t row, std::int64_t col) const {
    double sum = 0;
    for (std::int64_t p = 0; p < product.a.cols; ++p) {
        const double x = element(product.a, row, p), y = element(product.b, p, col);
        if (!std::isfinite(x) || !std::isfinite(y)) {
            sum += x * y;
        }
    }
    return sum;
}

}  // namespace heptad
