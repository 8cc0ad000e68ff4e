// Products by the method of the Four Russians, in the order of SlabLayout: for 32 rows of B at a time, five tables of
// all sums of 6, 6, 6, 7 and 7 of these rows (28 KiB, so that they stay in the L1 cache); a row of C then takes five
// lookups instead of 32 additions. The sum is XOR over GF(2) and OR for booleans.
//
// `Vector` gives the register and its operations: load, store, zero, and for the two sums `Xor` and `Or`, each with
// sum2 and sum3. Compiled once per instruction set, so nothing here may be shared with other files.
#pragma once

#include <cstddef>

#include "kernels/bits/leaf_layouts.hpp"

namespace heptad::bits {
namespace {

inline constexpr int kKeys = 5;
inline constexpr int kKeyBits[kKeys] = {6, 6, 6, 7, 7};
inline constexpr int kKeyStart[kKeys] = {0, 6, 12, 18, 25};
inline constexpr std::int64_t kTableStart[kKeys] = {0, 64, 128, 192, 320};
inline constexpr int kTableRows = 448;
inline constexpr int kPassRows = 32;

/// A register from any vector type of the compiler.
template <class R>
struct PlainRegister {
    using Register = R;
    static constexpr int words = sizeof(R) / 8;

    static R load(const std::uint64_t* from) {
        R r;
        __builtin_memcpy(&r, from, sizeof r);
        return r;
    }
    static void store(std::uint64_t* to, R r) { __builtin_memcpy(to, &r, sizeof r); }
    static R zero() { return R{}; }
    struct Xor {
        static R sum2(R x, R y) { return x ^ y; }
        static R sum3(R x, R y, R z) { return x ^ y ^ z; }
    };
    struct Or {
        static R sum2(R x, R y) { return x | y; }
        static R sum3(R x, R y, R z) { return x | y | z; }
    };
};

/// `rows` holds 32 rows of V registers.
template <class Vector, int V, class Sum>
inline void build_tables(const std::uint64_t* rows, std::uint64_t* tables) {
    constexpr int row_words = V * Vector::words;
    for (std::int64_t t = 0; t < kKeys; ++t) {
        std::uint64_t* table = tables + kTableStart[t] * row_words;
        for (std::int64_t v = 0; v < V; ++v) {
            Vector::store(table + v * Vector::words, Vector::zero());
        }
        for (std::int64_t bit = 0; bit < kKeyBits[t]; ++bit) {
            typename Vector::Register row[std::size_t{V}];
            for (std::int64_t v = 0; v < V; ++v) {
                row[v] = Vector::load(rows + (kKeyStart[t] + bit) * row_words + v * Vector::words);
            }
            const std::int64_t half = std::int64_t{1} << bit;
            for (std::int64_t e = 0; e < half; ++e) {
                for (std::int64_t v = 0; v < V; ++v) {
                    const std::uint64_t* from = table + e * row_words + v * Vector::words;
                    Vector::store(table + (half + e) * row_words + v * Vector::words,
                                  Sum::sum2(Vector::load(from), row[v]));
                }
            }
        }
    }
}

/// Bits [start, start + bits) of the key times the words of a row. A multiplication by a power of two is part of the
/// shift that brings the bits down, which saves an instruction per lookup.
template <int row_words>
inline std::uint64_t first_word(std::uint64_t key, int start, int bits) {
    const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
    if constexpr ((row_words & (row_words - 1)) == 0) {
        constexpr int shift = __builtin_ctz(row_words);
        return (start >= shift ? key >> (start - shift) : key << (shift - start)) & (mask << shift);
    } else {
        return ((key >> start) & mask) * row_words;
    }
}

/// row (+)= the table rows that `key` selects.
template <class Vector, int V, class Sum>
inline void add_selected(const std::uint64_t* tables, std::uint32_t key, std::uint64_t* row, bool adds) {
    constexpr int row_words = V * Vector::words;
    const std::uint64_t* selected[kKeys];
    for (std::int64_t t = 0; t < kKeys; ++t) {
        selected[t] = tables + kTableStart[t] * row_words + first_word<row_words>(key, kKeyStart[t], kKeyBits[t]);
    }
    for (std::int64_t v = 0; v < V; ++v) {
        const auto entry = [&](std::int64_t t) { return Vector::load(selected[t] + v * Vector::words); };
        auto sum = Sum::sum3(entry(0), entry(1), entry(2));
        sum = Sum::sum3(sum, entry(3), entry(4));
        std::uint64_t* to = row + v * Vector::words;
        Vector::store(to, adds ? Sum::sum2(sum, Vector::load(to)) : sum);
    }
}

/// One slab of C over GF(2): `rows` rows of V registers.
template <class Vector, int V>
void table_slab(const std::uint32_t* keys, std::int64_t key_stride, const std::uint64_t* b, std::int64_t depth,
                std::uint64_t* c, std::int64_t rows, bool accumulate) {
    constexpr int row_words = V * Vector::words;
    alignas(64) std::uint64_t tables[std::size_t{kTableRows} * row_words];
    for (std::int64_t k = 0; k < depth; k += kPassRows) {
        build_tables<Vector, V, typename Vector::Xor>(b + k * row_words, tables);
        const bool adds = accumulate || k > 0;
        for (std::int64_t i = 0; i < rows; ++i) {
            add_selected<Vector, V, typename Vector::Xor>(tables, keys[i], c + i * row_words, adds);
        }
        keys += key_stride;
    }
}

/// Rows whose saturation is looked at together; their list lies on the stack.
inline constexpr std::int64_t kBooleanRows = 4096;
/// Passes between two looks, and rows of a sample: the list is made when a sixteenth of the sample is finished, because
/// rows in order are faster than rows in a list.
inline constexpr std::int64_t kPassesPerLook = 8;
inline constexpr std::int64_t kSampledRows = 64;

/// Does the row have every bit that is reachable?
template <int row_words>
inline bool is_full(const std::uint64_t* row, const std::uint64_t* reachable) {
    std::uint64_t missing = 0;
    for (std::int64_t w = 0; w < row_words; ++w) {
        missing |= reachable[w] & ~row[w];
    }
    return missing == 0;
}

/// Is it worth a list to leave out finished rows?
template <int row_words>
inline bool many_are_full(const std::uint64_t* rows, std::int64_t count, const std::uint64_t* reachable) {
    const std::int64_t step = count / kSampledRows > 0 ? count / kSampledRows : 1;
    std::int64_t sampled = 0, full = 0;
    for (std::int64_t i = 0; i < count; i += step, ++sampled) {
        full += is_full<row_words>(rows + i * row_words, reachable) ? 1 : 0;
    }
    return 16 * full >= sampled;
}

/// One slab of C for booleans. A row that has every bit that any row of B could give it is finished.
template <class Vector, int V>
void boolean_slab(const std::uint32_t* keys, std::int64_t key_stride, const std::uint64_t* b, std::int64_t depth,
                  std::uint64_t* c, std::int64_t rows, bool accumulate) {
    constexpr int row_words = V * Vector::words;
    std::uint64_t reachable[std::size_t{row_words}] = {};
    for (std::int64_t k = 0; k < depth; ++k) {
        for (std::int64_t w = 0; w < row_words; ++w) {
            reachable[w] |= b[k * row_words + w];
        }
    }
    alignas(64) std::uint64_t tables[std::size_t{kTableRows} * row_words];
    std::uint32_t unfinished[kBooleanRows];
    for (std::int64_t from = 0; from < rows; from += kBooleanRows) {
        std::int64_t count = rows - from < kBooleanRows ? rows - from : kBooleanRows;
        bool listed = false;
        const std::uint32_t* pass_keys = keys + from;
        std::uint64_t* out = c + from * row_words;
        for (std::int64_t k = 0; k < depth && count > 0; k += kPassRows) {
            build_tables<Vector, V, typename Vector::Or>(b + k * row_words, tables);
            const bool adds = accumulate || k > 0;
            if (listed) {
                for (std::int64_t u = 0; u < count; ++u) {
                    const std::int64_t i = unfinished[u];
                    add_selected<Vector, V, typename Vector::Or>(tables, pass_keys[i], out + i * row_words, adds);
                }
            } else {
                for (std::int64_t i = 0; i < count; ++i) {
                    add_selected<Vector, V, typename Vector::Or>(tables, pass_keys[i], out + i * row_words, adds);
                }
            }
            pass_keys += key_stride;
            if ((k / kPassRows) % kPassesPerLook != kPassesPerLook - 1 ||
                (!listed && !many_are_full<row_words>(out, count, reachable))) {
                continue;
            }
            std::int64_t kept = 0;
            for (std::int64_t u = 0; u < count; ++u) {
                const auto i = listed ? unfinished[u] : static_cast<std::uint32_t>(u);
                unfinished[kept] = i;
                kept += is_full<row_words>(out + std::int64_t{i} * row_words, reachable) ? 0 : 1;
            }
            count = kept;
            listed = true;
        }
    }
}

/// The slabs and row groups of `part`; a narrower last slab has fewer registers per row.
template <class Vector, bool boolean, int V = kSlabWords / Vector::words>
void table_product(const LeafShape& shape, const LeafPart& part, const std::uint64_t* a, const std::uint64_t* b,
                   std::uint64_t* c, bool accumulate) {
    const auto* all_keys = reinterpret_cast<const std::uint32_t*>(a);
    const std::int64_t first = part.first_group * kGroupRows, rows = part.last_group * kGroupRows - first;
    for (std::int64_t tile = part.first_tile; tile < part.last_tile; ++tile) {
        const std::int64_t left = shape.n / 64 - tile * kSlabWords;
        const std::int64_t width = left < kSlabWords ? left : kSlabWords;
        if (width != V * Vector::words) {
            if constexpr (V > 1) {
                const LeafPart last{part.first_group, part.last_group, tile, tile + 1};
                table_product<Vector, boolean, V - 1>(shape, last, a, b, c, accumulate);
            }
            continue;
        }
        const std::uint64_t* slab = b + tile * kSlabWords * shape.k;
        std::uint64_t* out = c + tile * kSlabWords * shape.m + first * width;
        if constexpr (boolean) {
            boolean_slab<Vector, V>(all_keys + first, shape.m, slab, shape.k, out, rows, accumulate);
        } else {
            table_slab<Vector, V>(all_keys + first, shape.m, slab, shape.k, out, rows, accumulate);
        }
    }
}

}  // namespace
}  // namespace heptad::bits
