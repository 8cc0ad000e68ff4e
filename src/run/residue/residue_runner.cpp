#include "run/residue/residue_runner.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.hpp"
#include "base/moduli.hpp"
#include "base/size.hpp"
#include "base/stored_type.hpp"
#include "plan/search/residue_plan.hpp"
#include "run/dense/arena.hpp"
#include "run/residue/byte_runner.hpp"
#include "run/residue/device_residues.hpp"
#include "run/residue/exact_operands.hpp"
#include "run/residue/rounded_once.hpp"

namespace heptad {
namespace {

/// What turns residues into an integer: sum of (r * inverse mod p) * weight, modulo what all moduli multiply to.
struct RemainderTable {
    explicit RemainderTable(int count) {
        product.words[0] = 1;
        for (int t = 0; t < count; ++t) {
            product = times(product, kModuli[static_cast<std::size_t>(t)]);
        }
        for (int t = 0; t < count; ++t) {
            ResidueInteger weight;
            weight.words[0] = 1;
            int others = 1;  // modulo p
            const int p = kModuli[static_cast<std::size_t>(t)];
            for (int s = 0; s < count; ++s) {
                if (s != t) {
                    weight = times(weight, kModuli[static_cast<std::size_t>(s)]);
                    others = others * (kModuli[static_cast<std::size_t>(s)] % p) % p;
                }
            }
            int inverse = 1;
            while (others * inverse % p != 1) {
                ++inverse;
            }
            weights.push_back({weight, static_cast<std::uint64_t>(inverse), Modulus(p), 1.0 / p});
        }
    }

    /// The integer nearest zero; residues lie `stride` apart.
    ResidueInteger value_of(const std::uint8_t* residues, std::int64_t stride) const {
        ResidueInteger sum;
        double quotient = 0;
        for (const Weight& weight : weights) {
            const std::uint64_t y = weight.modulus.remainder(*residues * weight.inverse);
            sum.add_multiple(weight.others, y);
            quotient += static_cast<double>(y) * weight.part;
            residues += stride;
        }
        ResidueInteger multiple;
        multiple.add_multiple(product, static_cast<std::uint64_t>(quotient + 0.5));
        sum.subtract(multiple);
        return sum;
    }

    struct Weight {
        ResidueInteger others;  // what the other moduli multiply to
        std::uint64_t inverse;  // of that
        Modulus modulus;
        double part;  // 1 / modulus
    };
    std::vector<Weight> weights;
    ResidueInteger product;

private:
    static ResidueInteger times(const ResidueInteger& x, int factor) {
        ResidueInteger result;
        result.add_multiple(x, static_cast<std::uint64_t>(factor));
        return result;
    }
};

class ResidueProduct {
public:
    ResidueProduct(const ProductPlan& plan, Backend& backend, double alpha, const ConstView& a, const ConstView& b,
                   double beta, const View& c, void* workspace, const RunHooks& hooks)
        : plan_(plan),
          plane_(plane_plan(plan)),
          backend_(backend),
          alpha_(alpha),
          beta_(beta),
          a_(a),
          b_(b),
          c_(c),
          hooks_(hooks),
          arena_(workspace, plan.workspace_bytes),
          operands_(backend, a, b),
          rows_(operands_.rows),
          cols_(operands_.cols) {}

    RunReport run() {
        const std::int64_t tiles_m = ceil_div(plan_.m, plan_.tile_m), tiles_n = ceil_div(plan_.n, plan_.tile_n);
        std::vector<int> counts;
        for (std::int64_t tile = 0; tile < tiles_m * tiles_n; ++tile) {  // before anything is written
            counts.push_back(operands_.moduli_of(plan_, tile / tiles_n * plan_.tile_m, tile % tiles_n * plan_.tile_n));
        }
        a_plane_ = plane(plan_.tile_m, plan_.tile_k);
        b_plane_ = plane(plan_.tile_k, plan_.tile_n);
        c_plane_ = plane(plan_.tile_m, plan_.tile_n);
        residues_ = static_cast<std::uint8_t*>(arena_.take(plan_.arithmetic.moduli * plan_.tile_m * plan_.tile_n));
        plane_workspace_ = plane_.workspace_bytes > 0 ? arena_.take(plane_.workspace_bytes) : nullptr;
        for (std::int64_t tile = 0; tile < tiles_m * tiles_n; ++tile) {
            const int count = counts[static_cast<std::size_t>(tile)];
            make_tile(tile / tiles_n * plan_.tile_m, tile % tiles_n * plan_.tile_n, count, [&](double of_tile) {
                if (hooks_.progress) {
                    hooks_.progress(
                        {(static_cast<double>(tile) + of_tile) / static_cast<double>(tiles_m * tiles_n), "multiply"});
                }
            });
        }
        RunReport report;
        report.workspace_used_bytes = arena_.most_used_bytes();
        return report;
    }

private:
    View plane(std::int64_t rows, std::int64_t cols) {
        return {arena_.take(rows * cols * std::int64_t{sizeof(std::int32_t)}), Type::i32, rows, cols, cols, 1};
    }

    template <class Progress>
    void make_tile(std::int64_t row, std::int64_t col, int count, Progress&& progress) {
        const std::int64_t rows = std::min(plan_.tile_m, plan_.m - row), cols = std::min(plan_.tile_n, plan_.n - col);
        const std::int64_t area = plan_.tile_m * plan_.tile_n;
        for (int t = 0; t < count; ++t) {
            const int modulus = kModuli[static_cast<std::size_t>(t)];
            for (std::int64_t first = 0; first < a_.cols; first += plan_.tile_k) {
                if (hooks_.cancel != nullptr && hooks_.cancel->cancelled()) {
                    fail(ErrorCode::cancelled, "the product was cancelled");
                }
                const std::int64_t depth = std::min(plan_.tile_k, a_.cols - first);
                write_residues(backend_, block(a_, row, first, rows, depth), rows_, row, false, modulus, a_plane_);
                write_residues(backend_, block(b_, first, col, depth, cols), cols_, col, true, modulus, b_plane_);
                run_plan(plane_, backend_, 1, a_plane_, b_plane_, 0, c_plane_, plane_workspace_);
                keep_residues(rows, cols, modulus, first > 0, residues_ + t * area);
            }
            progress(static_cast<double>(t + 1) / (count + 1));
        }
        put_together(row, col, rows, cols, RemainderTable(count));
    }

    template <class Body>
    void share_rows(std::int64_t rows, Body&& body) {
        constexpr std::int64_t kTogether = 16;
        backend_.share(ceil_div(rows, kTogether), [&](std::int64_t part) {
            for (std::int64_t i = part * kTogether; i < std::min(rows, (part + 1) * kTogether); ++i) {
                body(i);
            }
        });
    }

    /// From 0 on.
    void keep_residues(std::int64_t rows, std::int64_t cols, int modulus, bool adds, std::uint8_t* to) {
        const Modulus p(modulus);
        const std::int64_t above = (std::int64_t{1} << 31) * modulus;  // no sum is negative with it
        share_rows(rows, [&](std::int64_t i) {
            const auto* const from = static_cast<const std::int32_t*>(c_plane_.data) + i * plan_.tile_n;
            for (std::int64_t j = 0; j < cols; ++j) {
                std::uint8_t& kept = to[i * plan_.tile_n + j];
                kept = static_cast<std::uint8_t>(
                    p.remainder(static_cast<std::uint64_t>(from[j] + above) + (adds ? kept : 0)));
            }
        });
    }

    void put_together(std::int64_t row, std::int64_t col, std::int64_t rows, std::int64_t cols,
                      const RemainderTable& table) {
        const std::int64_t area = plan_.tile_m * plan_.tile_n;
        const bool finite_factors = std::isfinite(alpha_) && std::isfinite(beta_);
        share_rows(rows, [&](std::int64_t i) {
            with_stored_type(c_.type, [&]<class T>() {
                const auto at_row = static_cast<std::size_t>(row + i);
                for (std::int64_t j = 0; j < cols; ++j) {
                    const auto at_col = static_cast<std::size_t>(col + j);
                    T& entry = static_cast<T*>(c_.data)[(row + i) * c_.row_stride + (col + j) * c_.col_stride];
                    const double old = beta_ == 0 ? 0 : to_double(entry);
                    if (rows_.not_finite[at_row] || cols_.not_finite[at_col] || !std::isfinite(old)) {
                        const double sum = operands_.not_finite_sum(row + i, col + j);
                        entry = from_double<T>(alpha_ * sum + (beta_ == 0 ? 0 : beta_ * old));
                        continue;
                    }
                    const ResidueInteger value = table.value_of(residues_ + i * plan_.tile_n + j, area);
                    const int exponent = rows_.last_bit[at_row] + cols_.last_bit[at_col];
                    entry = from_double<T>(finite_factors ? rounded_once(alpha_, value, exponent, beta_, old, c_.type)
                                                          : alpha_ * rounded_once(1, value, exponent, 0, 0, Type::f64) +
                                                                beta_ * old);
                }
            });
        });
    }

    const ProductPlan& plan_;
    const ProductPlan plane_;
    Backend& backend_;
    double alpha_, beta_;
    ConstView a_, b_;
    View c_;
    const RunHooks& hooks_;
    Arena arena_;
    const ExactOperands operands_;
    const IntegerLines &rows_, &cols_;
    View a_plane_, b_plane_, c_plane_;
    std::uint8_t* residues_ = nullptr;
    void* plane_workspace_ = nullptr;
};

}  // namespace

RunReport run_residue_plan(const ProductPlan& plan, Backend& backend, const Product& product, void* workspace,
                           const RunHooks& hooks) {
    if (is_on_device(plan)) {
        return run_residues_on_device(plan, backend, product, workspace, hooks);
    }
    if (product.c.rows == 0 || product.c.cols == 0) {
        return {};
    }
    start_product(hooks);
    Product looked_at = product;
    if (product.alpha == 0) {  // neither is looked at
        looked_at.a.cols = looked_at.b.rows = 0;
    }
    const auto& [alpha, a, b, beta, c, imaginary] = looked_at;
    const RunReport report = leaf_traits(plan.leaf).by_residues
                                 ? run_exact_by_bytes(plan, backend, looked_at, workspace, hooks)
                                 : ResidueProduct(plan, backend, alpha, a, b, beta, c, workspace, hooks).run();
    finish_product(hooks);
    return report;
}

}  // namespace heptad
