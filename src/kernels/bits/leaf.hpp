// Leaves of the product of bit matrices: C = A * B or C ^= A * B on operands in a layout of the leaf's own, which is
// reached once, before the levels. All layouts are permutations of the bits, so sums of blocks are sums of words.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <heptad/heptad.hpp>

namespace heptad::bits {

/// Sizes of a leaf product in bits.
struct LeafShape {
    std::int64_t m = 0, k = 0, n = 0;
};

enum class Role : std::uint8_t { left, right, result };

/// Rows that are packed together, in every layout.
inline constexpr int kGroupRows = 32;
/// No layout has wider tiles.
inline constexpr int kMostTileWords = 8;

/// Where the words of a tile lie in a packed block: `runs` runs of `length` words, `stride` words apart.
struct TileRange {
    std::int64_t offset = 0, length = 0, runs = 1, stride = 0;
};

/// How a block is packed: tile by tile. A tile is 32 rows by up to tile_words() words, and holds the same number of
/// words when packed.
class LeafLayout {
public:
    virtual ~LeafLayout() = default;

    int tile_words() const { return tile_words_; }
    /// Multiples that the columns of a right operand (and of the result) must have; k is a multiple of 64, m of 32.
    std::int64_t column_unit() const { return column_unit_; }

    /// Tile number (group, tile) of a block of `rows` x `cols` bits; the last tile of a row may be narrower.
    virtual TileRange range(Role role, std::int64_t rows, std::int64_t cols, std::int64_t group,
                            std::int64_t tile) const = 0;
    /// `tile` holds 32 rows of `width` words, `stride` words apart; `block` is the start of the packed block.
    virtual void pack(Role role, const TileRange& range, int width, const std::uint64_t* tile, std::int64_t stride,
                      std::uint64_t* block) const = 0;
    virtual void unpack(Role role, const TileRange& range, int width, const std::uint64_t* block, std::uint64_t* tile,
                        std::int64_t stride) const = 0;

    /// Words of a row that tile number `tile` of a block of `cols` columns has.
    int width(std::int64_t cols, std::int64_t tile) const {
        const std::int64_t left = cols / 64 - tile * tile_words_;
        return static_cast<int>(left < tile_words_ ? left : tile_words_);
    }
    std::int64_t tiles(std::int64_t cols) const { return (cols / 64 + tile_words_ - 1) / tile_words_; }

protected:
    LeafLayout(int tile_words, std::int64_t column_unit) : tile_words_(tile_words), column_unit_(column_unit) {}

private:
    int tile_words_;
    std::int64_t column_unit_;
};

/// The part of a result that one call makes: row groups and tiles (first, one past the last).
struct LeafPart {
    std::int64_t first_group = 0, last_group = 0, first_tile = 0, last_tile = 0;
};

using LeafProduct = void (*)(const LeafShape& shape, const LeafPart& part, const std::uint64_t* a,
                             const std::uint64_t* b, std::uint64_t* c, bool accumulate);

/// Where rows of A have ones, for rows of a slab of B that are numbered from the first one of a part.
struct ListedOnes {
    std::span<const std::int64_t> starts;  // one more than there are rows: row i has [starts[i], starts[i + 1])
    const std::uint16_t* rows_of_b = nullptr;
};

/// For row i of C, `width` words each: c[i] |= every row of B that is listed for it, until it holds all of `reachable`.
/// open[i] becomes 1 where something of that is still missing, and is left as it was elsewhere.
using BooleanRows = void (*)(const ListedOnes& ones, int width, const std::uint64_t* b, const std::uint64_t* reachable,
                             std::uint64_t* c, std::uint8_t* open);

/// to = from[0] ^ from[1] ...; `to` may be from[0]. `words` is a multiple of kLaterPiece.
struct DeferredSum {
    static constexpr std::size_t kMostTerms = 4;
    std::uint64_t* to = nullptr;
    const std::uint64_t* from[kMostTerms] = {};
    int count = 0;
    std::int64_t words = 0, done = 0;
};
inline constexpr std::int64_t kLaterPiece = 128;

/// Sums that are made one after another, a piece at a time.
struct LaterQueue {
    static constexpr int kMost = 24;
    DeferredSum sums[kMost];
    int first = 0, last = 0;  // those that are not complete yet
};

/// The first panel of the sum of B: which of the two places in the scratch memory is its, and whether it lies there.
struct FirstPanel {
    int place = 0;
    bool made = false;
};

/// Blocks that are summed before the product, and blocks that its result goes to; at most kMostFused of each.
struct FusedOperands {
    std::span<const std::uint64_t*const> a, b;
    std::span<std::uint64_t* const> c;
    unsigned adds = 0;                 // bit i: the result is added to c[i]; otherwise it is stored
    std::uint64_t* scratch = nullptr;  // packed_words(m, k) + kFusedPanelWords
    // Sums that are wanted some time after this product: a piece of each queue's first one is made beside every tile.
    std::span<LaterQueue> later;
    // What the product after this one will sum of B: its first panel is made.
    std::span<const std::uint64_t* const> next_b;
    FirstPanel first_panel;  // as the product before returned it
};
inline constexpr std::int64_t kFusedPanelWords = std::int64_t{2} * 4096;  // two panels
inline constexpr std::size_t kMostFused = 8;

/// c[i] (+)= (a[0] ^ a[1] ...) * (b[0] ^ b[1] ...) over GF(2), without a pass over memory for the sums of B and of C.
/// Returns where the product with next_b finds its first panel.
using FusedLeafProduct = FirstPanel (*)(const LeafShape& shape, const FusedOperands& operands);

struct Leaf {
    const char* name;
    const LeafLayout* layout;
    LeafProduct multiply;             // over GF(2)
    LeafProduct multiply_boolean;     // null: this leaf cannot
    BooleanRows add_boolean_rows;     // null where that is null
    FusedLeafProduct multiply_fused;  // null: sums are made before and after
    int fused_levels;                 // the last so many levels have their sums in multiply_fused; 0: none
    // For predictions and the choice of levels; rough figures are enough, because they decide between neighbours only.
    double products_per_addition;  // of bits, in the time in which a word is added at a level, in the L2 cache
    double products_per_packing;   // the same for a word that is packed or unpacked
    std::int64_t smallest;         // levels pay down to leaves of this size
    std::int64_t smallest_beside;  // the same where a level has its sums made beside the tiles
    std::int64_t overhead_rows;    // rows of A that take as long as what every product does besides (tables)
    double rows_per_key = 0;       // rows of B that are ORed one by one in the time of the lookups for 32 columns of A
};

/// Seconds per bit product of (m + overhead_rows) x k x n, on one thread; measured once per process in a millisecond or
/// a few.
double product_s(const Leaf& leaf, Type algebra);

/// Leaves that this processor can run, those expected to be fast first.
const std::vector<Leaf>& available_leaves();

/// The leaf of that name; "auto": the one that a measurement of a few milliseconds, made once, found the fastest.
/// Throws Error(usage), listing the names.
const Leaf& find_leaf(Type algebra, const std::string& name);

/// Words of a packed block.
inline std::int64_t packed_words(std::int64_t rows, std::int64_t cols) {
    return rows * (cols / 64);
}
/// Words from one packed block to the next. An odd number of 1 KiB: tiles at one place of all blocks, which the packing
/// works on together, would share a few sets of the cache if that were a power of two.
inline std::int64_t block_stride(std::int64_t rows, std::int64_t cols) {
    constexpr std::int64_t unit = 128;
    const std::int64_t units = (packed_words(rows, cols) + unit - 1) / unit;
    return (units | 1) * unit;
}
inline LeafPart whole(const Leaf& leaf, const LeafShape& shape) {
    return {0, shape.m / kGroupRows, 0, leaf.layout->tiles(shape.n)};
}

}  // namespace heptad::bits
