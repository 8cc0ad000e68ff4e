// What a product from file to file writes and, with outer levels, reads in sums.
#pragma once

#include <map>
#include <optional>

#include "io/journal.hpp"
#include "io/partial_file.hpp"
#include "move/block_sums.hpp"
#include "product/file/product_inputs.hpp"

namespace heptad {

/// What is written: C, and with outer levels their products, whose tiles are those of the journal then.
struct Outputs {
    PartialFile result;
    std::optional<PartialFile> products;

    const PartialFile& of_tiles() const { return products ? *products : result; }
    /// For direct I/O on all of them.
    std::int64_t block_bytes() const {
        const std::int64_t block = result.layout().block_bytes;
        return of_tiles().layout().block_bytes == block ? block : 1;
    }
};

/// Both operands of the products of outer levels.
struct OperandSums {
    OperandSums(const FileLayers& layers, const OpenInputs& inputs, const std::map<std::int64_t, JournalTile>& finished)
        : bounce(layers.a.bounce_bytes),
          a(inputs.a, layers.part_plan.mirrored ? transposed(layers.a) : layers.a, bounce),
          b(inputs.b, layers.part_plan.mirrored ? transposed(layers.b) : layers.b, bounce) {
        for (const auto& [index, tile] : finished) {
            a.note_largest(tile.seen ? tile.seen->a : 0);
            b.note_largest(tile.seen ? tile.seen->b : 0);
        }
    }
    LargestValues seen() const { return {a.largest(), b.largest(), 0}; }

    PageBuffer bounce;
    BlockSums a, b;
};

}  // namespace heptad
