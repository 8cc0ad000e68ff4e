// Closure by Warshall's method in bands of vertices: paths through the vertices of a band are added for all pairs at
// once by one Boolean product, so the whole costs about as much as one product of the matrix with itself.
#include "run/bits/bit_graph.hpp"

#include <algorithm>
#include <atomic>
#include <bit>

#include "base/fail_if.hpp"
#include "base/size.hpp"

namespace heptad::bits {
namespace {

/// Vertices of a band: the products it makes are deep enough to be fast, its own closure is a small part.
constexpr std::int64_t kBand = 1024;

/// Warshall's method row by row, for a square that fits a cache.
void close_small(const BitView& graph) {
    for (std::int64_t through = 0; through < graph.rows; ++through) {
        for (std::int64_t i = 0; i < graph.rows; ++i) {
            if (i == through || !graph(i, through)) {
                continue;
            }
            for (std::int64_t w = 0; w < words_of(graph.cols); ++w) {
                store_word<Store::inclusive_or>(graph, i, w, load_word(graph, through, w));
            }
        }
    }
}

void require_square(const ConstBitView& graph) {
    require_view(graph, "the graph");
    fail_if(graph.rows != graph.cols, ErrorCode::input, "a graph is a square matrix, and this one is {} x {}",
            graph.rows, graph.cols);
}

}  // namespace

void close_transitively(const BitView& graph, const BitContext& context, const std::string& leaf) {
    require_square(graph);
    find_leaf(Type::boolean, leaf);  // refused for a graph without vertices too
    BitOptions options;
    options.leaf = leaf;
    const std::int64_t n = graph.rows;
    const BitContext silent{context.threads, {context.hooks.cancel}};  // progress is counted in bands
    for (std::int64_t first = 0; first < n; first += kBand) {
        const std::int64_t band = std::min(kBand, n - first);
        BitMatrix inside = BitMatrix::copy_of(graph.block(first, first, band, band));
        close_small(inside.view());
        // Paths that start in the band and stay in it, then an edge to anywhere.
        const BitView rows = graph.block(first, 0, band, n);
        const BitMatrix edges = BitMatrix::copy_of(rows);
        multiply_bits(Type::boolean, inside, edges, rows, true, options, silent);
        if (band < n) {
            const BitMatrix into_band = BitMatrix::copy_of(graph.block(0, first, n, band));
            const BitMatrix from_band = BitMatrix::copy_of(rows);
            multiply_bits(Type::boolean, into_band, from_band, graph, true, options, silent);
        }
        if (context.hooks.progress) {
            context.hooks.progress({static_cast<double>(first + band) / static_cast<double>(n), "closure"});
        }
    }
}

std::int64_t triangles(const ConstBitView& graph, const BitContext& context) {
    require_square(graph);
    constexpr std::int64_t rows_per_task = 64;
    const std::int64_t words = words_of(graph.cols);
    std::atomic<std::int64_t> total{0};
    shared_pool(context.threads).run(ceil_div(graph.rows, rows_per_task), [&](std::int64_t task) {
        std::int64_t found = 0;
        const std::int64_t last = std::min(graph.rows, (task + 1) * rows_per_task);
        for (std::int64_t i = task * rows_per_task; i < last; ++i) {
            for (std::int64_t w = i / kWordBits; w < words; ++w) {
                std::uint64_t later = load_word(graph, i, w);
                later &= w == i / kWordBits ? ~low_bits(i % kWordBits + 1) : ~std::uint64_t{0};
                for (; later != 0; later &= later - 1) {
                    const std::int64_t j = w * kWordBits + std::countr_zero(later);
                    // Neighbours of both after j.
                    for (std::int64_t v = j / kWordBits; v < words; ++v) {
                        std::uint64_t common = load_word(graph, i, v) & load_word(graph, j, v);
                        common &= v == j / kWordBits ? ~low_bits(j % kWordBits + 1) : ~std::uint64_t{0};
                        found += std::popcount(common);
                    }
                }
            }
        }
        total += found;
    });
    return total;
}

}  // namespace heptad::bits
