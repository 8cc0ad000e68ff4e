// The kernels of every instruction set, as its own file made them. Those of a set that the processor lacks must not be
// asked for; available_leaves() knows.
#pragma once

#include "kernels/bits/leaf_layouts.hpp"
#include "kernels/bits/word_sums.hpp"

namespace heptad::bits {

/// Products by table lookup, in the order of SlabLayout, and sums of words.
struct TableKernels {
    WordSum sum_words;
    LeafProduct multiply, multiply_boolean;
    BooleanRows add_boolean_rows;
};
TableKernels table_kernels();
#if defined(__x86_64__)
TableKernels table_kernels_avx2();
TableKernels table_kernels_avx512();
#elif defined(__aarch64__)
TableKernels table_kernels_sha3();  // over GF(2) alone
#endif

/// Products of 8 x 8 blocks, in the order of BlockLayout.
struct BlockKernels {
    LeafProduct multiply;
    FusedLeafProduct multiply_fused;
    BlockPack pack;  // of tiles of full width; null: as narrower ones
    BlockUnpack unpack;
};
BlockKernels block_kernels();
#if defined(__x86_64__)
BlockKernels block_kernels_gfni();
#endif

}  // namespace heptad::bits
