// Rows of a product from the definition, with what the rounding errors of an entry depend on: the sums on the way, the
// products, and what plain summation in the type's own arithmetic makes of them. Where data round in one direction only
// (constants), the last shows it.
#include <array>
#include <cmath>

#include "base/size.hpp"
#include "check/exact_rows.hpp"
#include "check/float_facts.hpp"

namespace heptad::check {
namespace {

/// Of one row and a chunk of columns. Plain is what the type is summed in.
template <class Plain>
struct Chunk {
    template <class T>
    using Columns = std::array<T, static_cast<std::size_t>(kRowChunk)>;
    Columns<double> hi{}, lo{}, partial_sums{}, products{};
    Columns<Plain> plain{};
};

void add(Chunk<double>& to, double a, const double* b, std::int64_t cols, double scale) {
    for (std::int64_t j = 0; j < cols; ++j) {
        const auto at = static_cast<std::size_t>(j);
        DoubleDouble sum{to.hi[at], to.lo[at]};
        add_product(sum, a, b[j]);
        to.hi[at] = sum.hi;
        to.lo[at] = sum.lo;
        to.plain[at] += a * b[j];
        const double scaled_sum = sum.hi * scale, scaled_product = a * b[j] * scale;
        to.partial_sums[at] += scaled_sum * scaled_sum;
        to.products[at] += scaled_product * scaled_product;
    }
}

void add(Chunk<float>& to, double a, const double* b, std::int64_t cols, double scale) {
    for (std::int64_t j = 0; j < cols; ++j) {
        const auto at = static_cast<std::size_t>(j);
        const double product = a * b[j];  // exact
        to.hi[at] += product;
        const double scaled_sum = to.hi[at] * scale, scaled_product = product * scale;
        to.partial_sums[at] += scaled_sum * scaled_sum;
        to.products[at] += scaled_product * scaled_product;
    }
    const auto factor = static_cast<float>(a);
    for (std::int64_t j = 0; j < cols; ++j) {
        to.plain[static_cast<std::size_t>(j)] += factor * static_cast<float>(b[j]);
    }
}

template <class Plain>
void watch(const FloatProduct& product, const std::vector<std::int64_t>& rows, double scale, ThreadPool& pool,
           std::vector<WatchedEntry>& out) {
    const double factor = std::fabs(product.alpha) * scale;
    over_row_products<double, Chunk<Plain>>(
        product.a, product.b, rows, pool,
        [&](Chunk<Plain>& chunk, double a, const double* b, std::int64_t cols) { add(chunk, a, b, cols, factor); },
        [&](std::int64_t r, std::int64_t j0, std::int64_t cols, const Chunk<Plain>& chunk) {
            for (std::int64_t j = 0; j < cols; ++j) {
                const auto at = static_cast<std::size_t>(j);
                WatchedEntry& entry = out[static_cast<std::size_t>(r * product.b.cols + j0 + j)];
                add_product(entry.exact, product.alpha, chunk.hi[at], chunk.lo[at]);
                const double off =
                    std::fabs(product.alpha * (static_cast<double>(chunk.plain[at]) - chunk.hi[at] - chunk.lo[at]));
                entry.plain_error = std::isfinite(off) ? off : 0;  // overflow on the way excuses nothing
                entry.partial_sums = chunk.partial_sums[at];
                entry.products = chunk.products[at];
            }
        });
}

}  // namespace

std::vector<WatchedEntry> watched_rows(const FloatProduct& product, const std::vector<std::int64_t>& rows, double scale,
                                       ThreadPool& pool) {
    const std::int64_t n = product.b.cols;
    std::vector<WatchedEntry> out(static_cast<std::size_t>(checked_mul(static_cast<std::int64_t>(rows.size()), n)));
    if (product.alpha != 0 && product.a.cols > 0) {
        if (product.a.type == Type::f64) {
            watch<double>(product, rows, scale, pool, out);
        } else {
            watch<float>(product, rows, scale, pool, out);
        }
    }
    if (product.beta != 0) {
        std::vector<double> old(static_cast<std::size_t>(n));
        for (std::size_t r = 0; r < rows.size(); ++r) {
            load_block(*product.c0, rows[r], 1, 0, n, old.data());
            for (std::size_t j = 0; j < old.size(); ++j) {
                add_product(out[r * old.size() + j].exact, product.beta, old[j]);
            }
        }
    }
    return out;
}

}  // namespace heptad::check
