#include "run/residue/residue_runner.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/moduli.hpp"
#include "plan/search/residue_plan.hpp"
#include "run/dense/arena.hpp"
#include "run/dense/level_runner.hpp"
#include "run/dense/line_sample.hpp"
#include "run/residue/entry_rounding.hpp"
#include "run/residue/exact_operands.hpp"

namespace heptad {
namespace {

using Tile = ExactOperands::Tile;

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
        multiple.add_multiple(product, static_cast<std::uint64_t>(std::floor(quotient + 0.5)));
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

/// By products of integers modulo one number after another.
class ExactByPlanes {
public:
    ExactByPlanes(const ProductPlan& plan, Backend& backend, const Product& product, void* workspace,
                  const RunHooks& hooks)
        : plan_(plan),
          plane_(plane_plan(plan)),
          backend_(backend),
          product_(product),
          hooks_(hooks),
          arena_(workspace, plan.workspace_bytes),
          operands_(backend, product) {}

    RunReport run() {
        const std::vector<Tile> tiles = operands_.tiles(plan_);  // before anything is written
        a_plane_ = plane(plan_.tile_m, plan_.tile_k);
        b_plane_ = plane(plan_.tile_k, plan_.tile_n);
        c_plane_ = plane(plan_.tile_m, plan_.tile_n);
        residues_ = static_cast<std::uint8_t*>(arena_.take(plan_.arithmetic.moduli * plan_.tile_m * plan_.tile_n));
        plane_workspace_ = plane_.workspace_bytes > 0 ? arena_.take(plane_.workspace_bytes) : nullptr;
        WorkMeter meter = dense_meter(hooks_, static_cast<double>(tiles.size()));
        for (const Tile& tile : tiles) {
            make_tile(tile, meter);
        }
        return {.workspace_used_bytes = arena_.most_used_bytes()};
    }

private:
    View plane(std::int64_t rows, std::int64_t cols) {
        return {arena_.take(rows * cols * std::int64_t{sizeof(std::int32_t)}), Type::i32, rows, cols, cols, 1};
    }

    void make_tile(const Tile& tile, WorkMeter& meter) {
        const auto& [row, col, rows, cols, count] = tile;
        const std::int64_t depth_of_all = product_.a.cols;
        for (int t = 0; t < count; ++t) {
            const int modulus = kModuli[static_cast<std::size_t>(t)];
            for (std::int64_t first = 0; first < depth_of_all; first += plan_.tile_k) {
                meter.stop_if_cancelled();
                const std::int64_t depth = std::min(plan_.tile_k, depth_of_all - first);
                write_residues(backend_, block(product_.a, row, first, rows, depth), operands_.rows, row, false,
                               modulus, a_plane_);
                write_residues(backend_, block(product_.b, first, col, depth, cols), operands_.cols, col, true, modulus,
                               b_plane_);
                run_plan(plane_, backend_, 1, a_plane_, b_plane_, 0, c_plane_, plane_workspace_);
                keep_residues(tile, modulus, first > 0, residues_ + t * plan_.tile_m * plan_.tile_n);
            }
            meter.advance(1.0 / (count + 1));
        }
        put_together(tile, RemainderTable(count));
        meter.advance(1.0 / (count + 1));
    }

    template <class Body>
    void for_rows(std::int64_t rows, Body&& body) {
        constexpr std::int64_t kTogether = 16;
        share_lines(backend_, rows, kTogether, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                body(i);
            }
        });
    }

    /// From 0 on.
    void keep_residues(const Tile& tile, int modulus, bool adds, std::uint8_t* to) {
        const Modulus p(modulus);
        const std::int64_t above = (std::int64_t{1} << 31) * modulus;  // no sum is negative with it
        for_rows(tile.rows, [&](std::int64_t i) {
            const auto* const from = static_cast<const std::int32_t*>(c_plane_.data) + i * plan_.tile_n;
            for (std::int64_t j = 0; j < tile.cols; ++j) {
                std::uint8_t& kept = to[i * plan_.tile_n + j];
                kept = static_cast<std::uint8_t>(
                    p.remainder(static_cast<std::uint64_t>(from[j] + above) + (adds ? kept : 0)));
            }
        });
    }

    void put_together(const Tile& tile, const RemainderTable& table) {
        const std::int64_t area = plan_.tile_m * plan_.tile_n;
        for_rows(tile.rows, [&](std::int64_t i) {
            with_stored_type(product_.c.type, [&]<class T>() {
                for (std::int64_t j = 0; j < tile.cols; ++j) {
                    operands_.write<T>(tile.row + i, tile.col + j,
                                       [&] { return table.value_of(residues_ + i * plan_.tile_n + j, area); });
                }
            });
        });
    }

    const ProductPlan& plan_;
    const ProductPlan plane_;
    Backend& backend_;
    const Product& product_;
    const RunHooks& hooks_;
    Arena arena_;
    const ExactOperands operands_;
    View a_plane_, b_plane_, c_plane_;
    std::uint8_t* residues_ = nullptr;
    void* plane_workspace_ = nullptr;
};

std::vector<std::int32_t> negated(const std::vector<std::int32_t>& exponents) {
    std::vector<std::int32_t> result(exponents);
    std::transform(result.begin(), result.end(), result.begin(), [](std::int32_t x) { return -x; });
    return result;
}

/// By products of bytes: all residues of the rows of A and the columns of B are made first, then every entry of C in
/// one go.
class ExactByBytes {
public:
    ExactByBytes(const ProductPlan& plan, Backend& backend, const Product& product, void* workspace,
                 const RunHooks& hooks)
        : plan_(plan),
          residues_(*backend.host_residues()),
          product_(product),
          hooks_(hooks),
          arena_(workspace, plan.workspace_bytes),
          operands_(backend, product),
          row_exponents_(negated(operands_.rows.last_bit)),
          col_exponents_(negated(operands_.cols.last_bit)),
          is_usual_(product.alpha == 1 && product.beta == 0 && operands_.rows.all_finite && operands_.cols.all_finite) {
    }

    RunReport run() {
        /// Rows of C between two looks at the clock and at the token that cancels.
        constexpr std::int64_t kByteBand = 1024;
        static_assert(kByteBand % kResidueTile == 0);
        const std::vector<Tile> tiles = operands_.tiles(plan_);  // before anything is written
        const HostResidueLayout layout = host_residue_layout(plan_);
        void* const of_a = arena_.take(layout.a);
        void* const of_b = arena_.take(layout.b);
        WorkMeter meter = dense_meter(hooks_, static_cast<double>(plan_.m) * static_cast<double>(plan_.n));
        int made_of_a = 0, made_of_b = 0;  // moduli whose residues lie ready
        for (const Tile& tile : tiles) {
            const auto& [row, col, rows, cols, count] = tile;
            meter.stop_if_cancelled();
            if (count == 0) {
                write_zeros(tile);
                meter.advance(static_cast<double>(rows) * static_cast<double>(cols));
                continue;
            }
            made_of_a = col == 0 ? 0 : made_of_a;
            made_of_b = plan_.n > plan_.tile_n ? 0 : made_of_b;
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
                                   [&](const IntegerTile& entries) { write(entries, tile); });
                meter.advance(static_cast<double>(band) * static_cast<double>(cols));
            }
        }
        return {.workspace_used_bytes = arena_.most_used_bytes()};
    }

private:
    void write_zeros(const Tile& tile) const {
        with_stored_type(product_.c.type, [&]<class T>() {
            for (std::int64_t i = 0; i < tile.rows; ++i) {
                for (std::int64_t j = 0; j < tile.cols; ++j) {
                    operands_.write<T>(tile.row + i, tile.col + j, [] { return ResidueInteger{}; });
                }
            }
        });
    }

    /// Of a tile of the plan.
    void write(const IntegerTile& entries, const Tile& tile) const {
        with_stored_type(product_.c.type, [&]<class T>() {
            for (std::int64_t i = 0; i < entries.rows; ++i) {
                for (std::int64_t j = 0; j < entries.cols; ++j) {
                    const std::int64_t row = tile.row + entries.row + i, col = tile.col + entries.col + j;
                    if (!is_usual_ || !write_quickly<T>(entries, i, j, row, col)) {
                        operands_.write<T>(row, col, [&] { return entry_integer(entries, i, j); });
                    }
                }
            }
        });
    }
    template <class T>
    bool write_quickly(const IntegerTile& entries, std::int64_t i, std::int64_t j, std::int64_t row,
                       std::int64_t col) const {
        if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
            return rounds_quickly(entries, i, j, operands_.exponent_of(row, col), operands_.entry<T>(row, col));
        }
        return false;
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

/// beta c, rounded once; all finite. To f32 by way of a double that was rounded to odd (entry_rounding.hpp).
template <class T>
T scaled_once(double beta, double c, Type format) {
    if constexpr (is_half<T>) {
        return from_double<T>(rounded_once(1, {}, 0, beta, c, format));
    } else {
        const double product = beta * c;
        auto bits = std::bit_cast<std::uint64_t>(product);
        if (const double rest = std::fma(beta, c, -product); sizeof(T) == 4 && rest != 0 && (bits & 1) == 0) {
            bits += (rest > 0) == (product > 0) ? std::uint64_t{1} : ~std::uint64_t{0};
        }
        return beta == 0 || c == 0 ? T{0} : static_cast<T>(std::bit_cast<double>(bits));
    }
}

/// c = beta c, rounded once.
void scale_once(Backend& backend, double beta, const View& c) {
    constexpr std::int64_t kTogether = 16;
    share_lines(backend, c.rows, kTogether, [&](std::int64_t begin, std::int64_t end) {
        with_stored_type(c.type, [&]<class T>() {
            for (std::int64_t i = begin; i < end; ++i) {
                for (std::int64_t j = 0; j < c.cols; ++j) {
                    T& to = static_cast<T*>(c.data)[i * c.row_stride + j * c.col_stride];
                    const double old = beta == 0 ? 0 : to_double(to);
                    const bool is_finite = std::isfinite(beta) && std::isfinite(old);
                    to = is_finite ? scaled_once<T>(beta, old, c.type) : from_double<T>(beta * old);
                }
            }
        });
    });
}

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
    RunReport report;
    if (!product.reads_operands()) {
        scale_once(backend, product.beta, product.c);
    } else if (leaf_traits(plan.leaf).by_residues) {
        report = ExactByBytes(plan, backend, product, workspace, hooks).run();
    } else {
        report = ExactByPlanes(plan, backend, product, workspace, hooks).run();
    }
    finish_product(hooks);
    return report;
}

}  // namespace heptad
