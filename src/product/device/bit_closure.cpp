#include "product/device/bit_closure.hpp"

#include <algorithm>
#include <utility>

namespace heptad {
namespace {

/// Closes `inside`, whose result is in the view that is returned: `inside` or `next`.
BitView close_by_squaring(BitView inside, BitView next, ClosureSteps& steps) {
    // Paths of up to `length` edges are in; a path without circles has at most as many as there are vertices.
    for (std::int64_t length = 1; length < inside.rows; length *= 2) {
        steps.copy(inside, next);
        steps.add_product(inside, inside, next);
        std::swap(inside, next);
    }
    return inside;
}

}  // namespace

void close_in_bands(const BitView& graph, const ClosureScratch& scratch, std::int64_t band, ClosureSteps& steps) {
    const std::int64_t n = graph.rows;
    for (std::int64_t first = 0; first < n; first += band) {
        const std::int64_t size = std::min(band, n - first);
        const BitView inside = scratch.inside.block(0, 0, size, size), next = scratch.next.block(0, 0, size, size);
        const BitView rows = graph.block(first, 0, size, n), copied = scratch.rows.block(0, 0, size, n);
        steps.copy(graph.block(first, first, size, size), inside);
        const BitView closed = close_by_squaring(inside, next, steps);
        // Paths that start in the band and stay in it, then an edge to anywhere.
        steps.copy(rows, copied);
        steps.add_product(closed, copied, rows);
        if (size < n) {
            const BitView columns = scratch.columns.block(0, 0, n, size);
            steps.copy(graph.block(0, first, n, size), columns);
            steps.copy(rows, copied);
            steps.add_product(columns, copied, graph);
        }
        steps.finish_band(static_cast<double>(first + size) / static_cast<double>(n));
    }
}

}  // namespace heptad
