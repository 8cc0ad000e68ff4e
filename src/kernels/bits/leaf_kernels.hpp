// The leaf products of every instruction set. Those of a set that the processor lacks must not be entered;
// available_leaves() knows.
#pragma once

#include "kernels/bits/leaf.hpp"

namespace heptad::bits {

#define HEPTAD_LEAF_PRODUCT(name)                                                                           \
    void name(const LeafShape& shape, const LeafPart& part, const std::uint64_t* a, const std::uint64_t* b, \
              std::uint64_t* c, bool accumulate)

HEPTAD_LEAF_PRODUCT(multiply_blocks);
HEPTAD_LEAF_PRODUCT(multiply_table);
HEPTAD_LEAF_PRODUCT(multiply_table_boolean);
#if defined(__x86_64__)
HEPTAD_LEAF_PRODUCT(multiply_gfni);
HEPTAD_LEAF_PRODUCT(multiply_table_avx2);
HEPTAD_LEAF_PRODUCT(multiply_table_avx2_boolean);
HEPTAD_LEAF_PRODUCT(multiply_table_avx512);
HEPTAD_LEAF_PRODUCT(multiply_table_avx512_boolean);
#elif defined(__aarch64__)
HEPTAD_LEAF_PRODUCT(multiply_table_sha3);
#endif

#undef HEPTAD_LEAF_PRODUCT

void add_rows(const ListedOnes& ones, int width, const std::uint64_t* b, const std::uint64_t* reachable,
              std::uint64_t* c, std::uint8_t* open);
#if defined(__x86_64__)
void add_rows_avx2(const ListedOnes& ones, int width, const std::uint64_t* b, const std::uint64_t* reachable,
                   std::uint64_t* c, std::uint8_t* open);
void add_rows_avx512(const ListedOnes& ones, int width, const std::uint64_t* b, const std::uint64_t* reachable,
                     std::uint64_t* c, std::uint8_t* open);
#endif

FirstPanel multiply_blocks_fused(const LeafShape& shape, const FusedOperands& operands);
#if defined(__x86_64__)
FirstPanel multiply_gfni_fused(const LeafShape& shape, const FusedOperands& operands);
#endif

// Packing of full tiles for the products of blocks.
void pack_blocks(Role role, const std::uint64_t* tile, std::int64_t stride, std::uint64_t* packed);
void unpack_blocks(Role role, const std::uint64_t* packed, std::uint64_t* tile, std::int64_t stride);
#if defined(__x86_64__)
void pack_gfni(Role role, const std::uint64_t* tile, std::int64_t stride, std::uint64_t* packed);
void unpack_gfni(Role role, const std::uint64_t* packed, std::uint64_t* tile, std::int64_t stride);
#endif

}  // namespace heptad::bits
