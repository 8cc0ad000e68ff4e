// Row i of C |= the rows of B that are listed for it, in the order of SlabLayout. `Vector` as in table_kernel.hpp;
// compiled once per instruction set, so nothing here may be shared with other files.
#pragma once

#include "kernels/bits/table_kernel.hpp"

namespace heptad::bits {
namespace {

/// Rows of B between two looks whether a row of C has all it can get.
inline constexpr std::int64_t kOnesPerLook = 16;

template <class Vector, int V>
void add_listed_rows_of_width(const ListedOnes& ones, const std::uint64_t* b, const std::uint64_t* reachable,
                              std::uint64_t* c, std::uint8_t* open) {
    constexpr int row_words = V * Vector::words;
    const auto rows = static_cast<std::int64_t>(ones.starts.size()) - 1;
    for (std::int64_t i = 0; i < rows; ++i, c += row_words) {
        const std::uint16_t* one = ones.rows_of_b + ones.starts[static_cast<std::size_t>(i)];
        const std::uint16_t* last = ones.rows_of_b + ones.starts[static_cast<std::size_t>(i) + 1];
        bool full = is_full<row_words>(c, reachable);
        while (!full && one != last) {
            const std::uint16_t* look = last - one > kOnesPerLook ? one + kOnesPerLook : last;
            typename Vector::Register sum[std::size_t{V}];
            for (std::int64_t v = 0; v < V; ++v) {
                sum[v] = Vector::load(c + v * Vector::words);
            }
            for (; look - one >= 2; one += 2) {
                const std::uint64_t* x = b + std::int64_t{one[0]} * row_words;
                const std::uint64_t* y = b + std::int64_t{one[1]} * row_words;
                for (std::int64_t v = 0; v < V; ++v) {
                    sum[v] = Vector::Or::sum3(sum[v], Vector::load(x + v * Vector::words),
                                              Vector::load(y + v * Vector::words));
                }
            }
            if (one != look) {
                const std::uint64_t* x = b + std::int64_t{*one++} * row_words;
                for (std::int64_t v = 0; v < V; ++v) {
                    sum[v] = Vector::Or::sum2(sum[v], Vector::load(x + v * Vector::words));
                }
            }
            for (std::int64_t v = 0; v < V; ++v) {
                Vector::store(c + v * Vector::words, sum[v]);
            }
            full = is_full<row_words>(c, reachable);
        }
        if (!full) {
            open[i] = 1;
        }
    }
}

/// The last slab may have fewer registers per row.
template <class Vector, int V = kSlabWords / Vector::words>
void add_listed_rows(const ListedOnes& ones, int width, const std::uint64_t* b, const std::uint64_t* reachable,
                     std::uint64_t* c, std::uint8_t* open) {
    if constexpr (V > 1) {
        if (width < V * Vector::words) {
            return add_listed_rows<Vector, V - 1>(ones, width, b, reachable, c, open);
        }
    }
    add_listed_rows_of_width<Vector, V>(ones, b, reachable, c, open);
}

}  // namespace
}  // namespace heptad::bits
