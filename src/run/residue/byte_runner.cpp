#include "run/residue/byte_runner.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/error.hpp"
#include "base/size.hpp"
#include "base/stored_type.hpp"
#include "plan/search/residue_plan.hpp"
#include "run/dense/arena.hpp"
#include "run/dense/level_runner.hpp"
#include "run/residue/entry_rounding.hpp"
#include "run/residue/exact_operands.hpp"
#include "run/residue/rounded_once.hpp"

namespace heptad {
namespace {

/// Rows of C between two looks at the clock and at the token that cancels.
constexpr std::int64_t kByteBand = 1024;
static_assert(kByteBand % kResidueTile == 0);

std::vector<std::int32_t> negated(const std::vector<std::int32_t>& exponents) {
    std::vector<std::int32_t> result(exponents);
    std::transform(result.begin(), result.end(), result.begin(), [](std::int32_t x) { return -x; });
    return result;
}

class ExactByBytes {
public:
    ExactByBytes(const ProductPlan& plan, Backend& backend, const Product& product, void* workspace,
                 const RunHooks& hooks)
        : plan_(plan),
          residues_(*backend.host_residues()),
          product_(product),
          hooks_(hooks),
          arena_(workspace, plan.workspace_bytes),
          operands_(backend, product.a, product.b),
          row_exponents_(negated(operands_.rows.last_bit)),
          col_exponents_(negated(operands_.cols.last_bit)),
          is_usual_(product.alpha == 1 && product.beta == 0 && operands_.rows.all_finite && operands_.cols.all_finite) {
    }

    RunReport run() {
        const std::int64_t tiles_m = ceil_div(plan_.m, plan_.tile_m), tiles_n = ceil_div(plan_.n, plan_.tile_n);
        std::vector<int> counts;
        for (std::int64_t tile = 0; tile < tiles_m * tiles_n; ++tile) {  // before anything is written
            counts.push_back(operands_.moduli_of(plan_, tile / tiles_n * plan_.tile_m, tile % tiles_n * plan_.tile_n));
        }
        const HostResidueLayout layout = host_residue_layout(plan_);
        void* const of_a = arena_.take(layout.a);
        void* const of_b = arena_.take(layout.b);
        WorkMeter meter = dense_meter(hooks_, static_cast<double>(plan_.m) * static_cast<double>(plan_.n));
        int made_of_a = 0, made_of_b = 0;  // moduli whose residues lie ready
        for (std::int64_t tile = 0; tile < tiles_m * tiles_n; ++tile) {
            const std::int64_t row = tile / tiles_n * plan_.tile_m, col = tile % tiles_n * plan_.tile_n;
            const std::int64_t rows = std::min(plan_.tile_m, plan_.m - row);
            const std::int64_t cols = std::min(plan_.tile_n, plan_.n - col);
            const int count = counts[static_cast<std::size_t>(tile)];
            meter.stop_if_cancelled();
            if (count == 0) {
                write_zeros(row, col, rows, cols);
                meter.advance(static_cast<double>(rows) * static_cast<double>(cols));
                continue;
            }
            made_of_a = col == 0 ? 0 : made_of_a;
            made_of_b = tiles_n > 1 ? 0 : made_of_b;
            if (made_of_a < count) {
                residues_.pack(0,
                               {block(product_.a, row, 0, rows, product_.a.cols), row_exponents_.data() + row,
                                largest_norm(operands_.rows, row, rows)},
                               count, of_a);
                made_of_a = count;
            }
            if (made_of_b < count) {
                residues_.pack(1,
                               {transposed(block(product_.b, 0, col, product_.b.rows, cols)),
                                col_exponents_.data() + col, largest_norm(operands_.cols, col, cols)},
                               count, of_b);
                made_of_b = count;
            }
            for (std::int64_t first = 0; first < rows; first += kByteBand) {
                const std::int64_t band = std::min(kByteBand, rows - first);
                meter.stop_if_cancelled();
                residues_.multiply({of_a, of_b, rows, product_.a.cols, cols, count, first, band},
                                   [&](const IntegerTile& entries) { write(entries, row, col); });
                meter.advance(static_cast<double>(band) * static_cast<double>(cols));
            }
        }
        RunReport report;
        report.workspace_used_bytes = arena_.most_used_bytes();
        return report;
    }

private:
    void write_zeros(std::int64_t row, std::int64_t col, std::int64_t rows, std::int64_t cols) const {
        static constexpr std::array<double, std::size_t{kResidueTile} * kResidueTile> zeros{};
        for (std::int64_t i = 0; i < rows; i += kResidueTile) {
            for (std::int64_t j = 0; j < cols; j += kResidueTile) {
                write({i, j, std::min<std::int64_t>(kResidueTile, rows - i),
                       std::min<std::int64_t>(kResidueTile, cols - j), zeros.data(), 1},
                      row, col);
            }
        }
    }

    /// `row` and `col`: of the tile of the plan that `entries` lies in.
    void write(const IntegerTile& entries, std::int64_t row, std::int64_t col) const {
        with_stored_type(product_.c.type, [&]<class T>() {
            for (std::int64_t i = 0; i < entries.rows; ++i) {
                for (std::int64_t j = 0; j < entries.cols; ++j) {
                    if (!is_usual_ || !write_quickly<T>(entries, row + entries.row, col + entries.col, i, j)) {
                        write_entry<T>(entries, row + entries.row, col + entries.col, i, j);
                    }
                }
            }
        });
    }
    template <class T>
    bool write_quickly(const IntegerTile& entries, std::int64_t row, std::int64_t col, std::int64_t i,
                       std::int64_t j) const {
        if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
            const View& c = product_.c;
            const int exponent = operands_.rows.last_bit[static_cast<std::size_t>(row + i)] +
                                 operands_.cols.last_bit[static_cast<std::size_t>(col + j)];
            return rounds_quickly(entries, i, j, exponent,
                                  static_cast<T*>(c.data)[(row + i) * c.row_stride + (col + j) * c.col_stride]);
        }
        return false;
    }
    template <class T>
    void write_entry(const IntegerTile& entries, std::int64_t row, std::int64_t col, std::int64_t i,
                     std::int64_t j) const {
        const auto& [alpha, a, b, beta, c, imaginary] = product_;
        const auto at_row = static_cast<std::size_t>(row + i), at_col = static_cast<std::size_t>(col + j);
        T& entry = static_cast<T*>(c.data)[(row + i) * c.row_stride + (col + j) * c.col_stride];
        const double old = beta == 0 ? 0 : to_double(entry);
        if (operands_.rows.not_finite[at_row] || operands_.cols.not_finite[at_col] || !std::isfinite(old)) {
            const double sum = operands_.not_finite_sum(row + i, col + j);
            entry = from_double<T>(alpha * sum + (beta == 0 ? 0 : beta * old));
            return;
        }
        const int exponent = operands_.rows.last_bit[at_row] + operands_.cols.last_bit[at_col];
        const ResidueInteger value = entry_integer(entries, i, j);
        const bool finite_factors = std::isfinite(alpha) && std::isfinite(beta);
        entry = from_double<T>(finite_factors ? rounded_once(alpha, value, exponent, beta, old, c.type)
                                              : alpha * rounded_once(1, value, exponent, 0, 0, Type::f64) + beta * old);
    }

    const ProductPlan& plan_;
    HostResidues& residues_;
    const Product& product_;
    const RunHooks& hooks_;
    Arena arena_;
    const ExactOperands operands_;
    const std::vector<std::int32_t> row_exponents_, col_exponents_;
    const bool is_usual_;  // one rounding of each integer is all
};

}  // namespace

RunReport run_exact_by_bytes(const ProductPlan& plan, Backend& backend, const Product& product, void* workspace,
                             const RunHooks& hooks) {
    return ExactByBytes(plan, backend, product, workspace, hooks).run();
}

}  // namespace heptad
