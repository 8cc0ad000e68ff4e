// Rows of a product from the definition, with what the rounding errors of an entry depend on: the sums on the way, the
// products, and what plain summation in the type's own arithmetic makes of them. Where data round in one direction only
// (constants), the last shows it.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/size.hpp"
#include "check/float_facts.hpp"
#include "check/load.hpp"

namespace heptad::check {
namespace {

constexpr std::int64_t kCols = 256, kDepth = 32;

/// Of one row and a chunk of columns. Plain is what the type is summed in.
template <class Plain>
struct Chunk {
    std::array<double, kCols> hi{}, lo{}, partial_sums{}, products{};
    std::array<Plain, kCols> plain{};
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
    const std::int64_t k = product.a.cols, n = product.b.cols;
    const auto count = static_cast<std::int64_t>(rows.size());
    std::vector<double> factors(static_cast<std::size_t>(checked_mul(count, k)));
    for (std::int64_t r = 0; r < count; ++r) {
        load_block(product.a, rows[static_cast<std::size_t>(r)], 1, 0, k, factors.data() + r * k);
    }
    const double factor = std::fabs(product.alpha) * scale;
    pool.run(ceil_div(n, kCols), [&](std::int64_t task) {
        std::vector<double> block(static_cast<std::size_t>(kCols * kDepth));
        std::vector<Chunk<Plain>> chunks(rows.size());
        const std::int64_t j0 = task * kCols;
        const std::int64_t cols = std::min(kCols, n - j0);
        for (std::int64_t p0 = 0; p0 < k; p0 += kDepth) {
            const std::int64_t depth = std::min(kDepth, k - p0);
            load_block(product.b, p0, depth, j0, cols, block.data());
            for (std::int64_t r = 0; r < count; ++r) {
                for (std::int64_t p = 0; p < depth; ++p) {
                    add(chunks[static_cast<std::size_t>(r)], factors[static_cast<std::size_t>(r * k + p0 + p)],
                        block.data() + p * cols, cols, factor);
                }
            }
        }
        for (std::int64_t r = 0; r < count; ++r) {
            const Chunk<Plain>& chunk = chunks[static_cast<std::size_t>(r)];
            for (std::int64_t j = 0; j < cols; ++j) {
                const auto at = static_cast<std::size_t>(j);
                WatchedEntry& entry = out[static_cast<std::size_t>(r * n + j0 + j)];
                add_product(entry.exact, product.alpha, chunk.hi[at], chunk.lo[at]);
                const double off =
                    std::fabs(product.alpha * (static_cast<double>(chunk.plain[at]) - chunk.hi[at] - chunk.lo[at]));
                entry.plain_error = std::isfinite(off) ? off : 0;  // overflow on the way excuses nothing
                entry.partial_sums = chunk.partial_sums[at];
                entry.products = chunk.products[at];
            }
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
