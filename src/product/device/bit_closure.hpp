// The transitive closure of a graph where only products and copies can be made, as on a device: bands of vertices one
// after another, as on the processor, but the closure of a band itself by repeated squaring. All in all that is little
// more than one product of the matrix with itself.
#pragma once

#include <cstdint>

#include <heptad/bits.hpp>

namespace heptad {

/// What the closure is made of. Views may point to memory that only these can touch; they begin at bit 0 of a word.
class ClosureSteps {
public:
    virtual ~ClosureSteps() = default;
    /// All words of the rows, unused bits included.
    virtual void copy(const ConstBitView& from, const BitView& to) = 0;
    /// c |= a * b, Boolean; c overlaps neither.
    virtual void add_product(const ConstBitView& a, const ConstBitView& b, const BitView& c) = 0;
    /// Paths through a further band are in; `share` of all of them.
    virtual void finish_band(double share) = 0;
};

/// Memory beside the graph of n vertices: two squares of a band, its rows, and its columns.
struct ClosureScratch {
    BitView inside, next;  // band x band
    BitView rows;          // band x n
    BitView columns;       // n x band
};

/// Long enough that products with a band are fast, short enough that squaring it is a small part.
inline constexpr std::int64_t kDeviceClosureBand = 16384;

/// graph := its closure. `band` is a multiple of 64, or all of the vertices.
void close_in_bands(const BitView& graph, const ClosureScratch& scratch, std::int64_t band, ClosureSteps& steps);

}  // namespace heptad
