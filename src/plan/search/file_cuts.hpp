// The ways to cut a product from files to a file: which matrix stays in memory, and in which tiles C is made. Pure
// functions: no file is touched.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/search/file_plan.hpp"

namespace heptad {

/// Tiles before the details: what decides the bytes that are moved.
struct FileCut {
    bool mirrored = false;
    bool keeps_left = false;  // of the product as carried out; else C
    std::int64_t unit = 1, row_unit = 1;
    bool on_blocks = false;  // else the files are read and written through the cache
    std::int64_t tile_m = 0, tile_n = 0;
    std::int64_t exact_bytes = 0;  // without widening
    std::int64_t kept_bytes = 0;
    bool operator==(const FileCut&) const = default;
};

/// All that fit in the memory.
std::vector<FileCut> all_cuts(const FileProblem& problem);
/// Fewest bytes; then cuts on blocks, the smallest kept matrix (what is free makes panels deep), and not mirrored.
const FileCut& best_cut(const std::vector<FileCut>& cuts);

/// A cut of `size` into `parts` nearly equal parts, each but the last a multiple of `unit`.
std::int64_t part_size(std::int64_t size, std::int64_t parts, std::int64_t unit);
/// No dimension is cut finer than that.
std::int64_t least_cut(std::int64_t size, std::int64_t unit);
/// Sums in f32 would lose what 16-bit floats cannot hold between panels: there k is never cut either.
bool may_cut_k(const FileProblem& problem);
/// Cuts anywhere, not only on blocks, mean files that are read and written through the cache.
FileProblem without_blocks(FileProblem problem);
/// Memory to check with: vectors for the tile, a panel and a strip, and what becomes of the latter two.
std::int64_t check_bytes(std::int64_t line_bytes, std::int64_t tile_m, std::int64_t tile_n, std::int64_t depth,
                         std::int64_t strip);

}  // namespace heptad
