// The same for packed bits: sums are XOR, and a block begins at a multiple of 64 columns.
#pragma once

#include <span>

#include "base/bit_words.hpp"
#include "base/thread_pool.hpp"
#include "product/device/dense_blocks.hpp"

namespace heptad {

/// to = XOR of blocks; `to` has the size of a block, begins on a 64-byte boundary and has rows of whole 64-byte lines,
/// which are filled up with zeros. Precondition: cut.cols is a multiple of 64.
void sum_bit_blocks(const ConstBitView& matrix, const BlockCut& cut, std::span<const BlockTerm> terms,
                    const BitView& to, ThreadPool& pool);

/// Puts, XORs or ORs `from` into a block. Precondition: the matrix begins at bit 0 of a word, so that no two blocks
/// share one.
void update_bit_block(const BitView& matrix, const BlockCut& cut, int block, bits::Store mode, const ConstBitView& from,
                      ThreadPool& pool);

}  // namespace heptad
