// The register tile of a product mod 2^32 by byte limbs: with a = sum of a_i 2^(8 i) and b = sum of b_j 2^(8 j),
//   a b mod 2^32 = sum over i + j <= 3 of a_i b_j 2^(8 (i + j)),
// ten products of bytes. One UMMLA adds up 32 of those where one MLA does 4 products of words, and twice as many of
// them can start per cycle: 12.8 products of words per cycle instead of 8 on Neoverse V1. Sums are kept apart by i + j,
// wrap mod 2^32, and meet when the tile is complete.
// Only for microkernel_<set>.cpp, compiled for i8mm; the packing is that of pack_limbs.hpp.
#pragma once

#if defined(__ARM_FEATURE_MATMUL_INT8)
#include "kernels/cpu/microkernel_gemm.hpp"
#include "kernels/cpu/pack_limbs.hpp"

namespace heptad::cpu {
namespace {

inline constexpr int limb_tile_rows = 6, limb_tile_cols = 4;

// The loop is in assembly: it needs 31 of the 32 registers, and compilers spill sums to keep limbs that are used again,
// or gather the loads into groups. Each of those costs a tenth to a quarter of the rate on Neoverse V1.
//
// Registers: v0-v5 the sums of i + j = 0, v6-v11 of 1, v12-v17 of 2, v18-v23 of 3; a register holds 2 x 2 elements of
// the tile, row by row, and six of them 3 x 2 such squares, row by row. v24-v26 one limb of A, v27, v28 and v29, v30
// two limbs of B; a register holds two rows or columns.
// clang-format off
#define HEPTAD_UMMLA(sum, x, y) "ummla v" #sum ".4s, v" #x ".16b, v" #y ".16b\n"
#define HEPTAD_LOAD_A(x, limb, pair) "ldr q" #x ", [%[a], #(48 * " #limb " + 16 * " #pair ")]\n"
#define HEPTAD_LOAD_B(y0, y1, limb) \
    "ldr q" #y0 ", [%[b], #(32 * " #limb ")]\n" "ldr q" #y1 ", [%[b], #(32 * " #limb " + 16)]\n"
/// sums += limb of A * limb of B
#define HEPTAD_ADD(s0, s1, s2, s3, s4, s5, y0, y1)      \
    HEPTAD_UMMLA(s0, 24, y0) HEPTAD_UMMLA(s1, 24, y1)   \
    HEPTAD_UMMLA(s2, 25, y0) HEPTAD_UMMLA(s3, 25, y1)   \
    HEPTAD_UMMLA(s4, 26, y0) HEPTAD_UMMLA(s5, 26, y1)
/// The same, and the next limb of A is loaded, each register as soon as it is free.
#define HEPTAD_ADD_THEN_LOAD_A(s0, s1, s2, s3, s4, s5, y0, y1, limb)            \
    HEPTAD_UMMLA(s0, 24, y0) HEPTAD_UMMLA(s1, 24, y1) HEPTAD_LOAD_A(24, limb, 0) \
    HEPTAD_UMMLA(s2, 25, y0) HEPTAD_UMMLA(s3, 25, y1) HEPTAD_LOAD_A(25, limb, 1) \
    HEPTAD_UMMLA(s4, 26, y0) HEPTAD_UMMLA(s5, 26, y1) HEPTAD_LOAD_A(26, limb, 2)
#define HEPTAD_ZERO(sum) "movi v" #sum ".4s, #0\n"
#define HEPTAD_ZERO_6(s0, s1, s2, s3, s4, s5) \
    HEPTAD_ZERO(s0) HEPTAD_ZERO(s1) HEPTAD_ZERO(s2) HEPTAD_ZERO(s3) HEPTAD_ZERO(s4) HEPTAD_ZERO(s5)
/// low += 2^8 * high
#define HEPTAD_MEET(low, high) \
    "shl v" #high ".4s, v" #high ".4s, #8\n" "add v" #low ".4s, v" #low ".4s, v" #high ".4s\n"

/// squares = panel of A * panel of B: 3 x 2 squares of 2 x 2 elements. k is a positive multiple of 8.
HEPTAD_INLINE void multiply_limb_panels(std::int64_t k, const std::uint32_t* a, const std::uint32_t* b,
                                        Words (&squares)[6]) {
    asm volatile(
        HEPTAD_ZERO_6(0, 1, 2, 3, 4, 5) HEPTAD_ZERO_6(6, 7, 8, 9, 10, 11)
        HEPTAD_ZERO_6(12, 13, 14, 15, 16, 17) HEPTAD_ZERO_6(18, 19, 20, 21, 22, 23)
        "0:\n"
        HEPTAD_LOAD_B(27, 28, 0)
        HEPTAD_LOAD_B(29, 30, 2)
        HEPTAD_LOAD_A(24, 1, 0) HEPTAD_LOAD_A(25, 1, 1) HEPTAD_LOAD_A(26, 1, 2)
        // No sums are added to twice in a row: a sum takes one product every two cycles at most.
        HEPTAD_ADD(18, 19, 20, 21, 22, 23, 29, 30)                 // a1 b2
        HEPTAD_ADD_THEN_LOAD_A(6, 7, 8, 9, 10, 11, 27, 28, 0)      // a1 b0
        HEPTAD_ADD(12, 13, 14, 15, 16, 17, 29, 30)                 // a0 b2
        HEPTAD_LOAD_B(29, 30, 3)
        HEPTAD_ADD_THEN_LOAD_A(0, 1, 2, 3, 4, 5, 27, 28, 3)        // a0 b0
        HEPTAD_ADD_THEN_LOAD_A(18, 19, 20, 21, 22, 23, 27, 28, 2)  // a3 b0
        HEPTAD_ADD(12, 13, 14, 15, 16, 17, 27, 28)                 // a2 b0
        HEPTAD_LOAD_B(27, 28, 1)
        HEPTAD_ADD_THEN_LOAD_A(18, 19, 20, 21, 22, 23, 27, 28, 0)  // a2 b1
        HEPTAD_ADD(6, 7, 8, 9, 10, 11, 27, 28)                     // a0 b1
        HEPTAD_ADD_THEN_LOAD_A(18, 19, 20, 21, 22, 23, 29, 30, 1)  // a0 b3
        HEPTAD_ADD(12, 13, 14, 15, 16, 17, 27, 28)                 // a1 b1
        "add %[a], %[a], #192\n"
        "add %[b], %[b], #128\n"
        "subs %[k], %[k], #8\n"
        "b.gt 0b\n"
        HEPTAD_MEET(12, 18) HEPTAD_MEET(13, 19) HEPTAD_MEET(14, 20)
        HEPTAD_MEET(15, 21) HEPTAD_MEET(16, 22) HEPTAD_MEET(17, 23)
        HEPTAD_MEET(6, 12) HEPTAD_MEET(7, 13) HEPTAD_MEET(8, 14)
        HEPTAD_MEET(9, 15) HEPTAD_MEET(10, 16) HEPTAD_MEET(11, 17)
        HEPTAD_MEET(0, 6) HEPTAD_MEET(1, 7) HEPTAD_MEET(2, 8)
        HEPTAD_MEET(3, 9) HEPTAD_MEET(4, 10) HEPTAD_MEET(5, 11)
        "stp q0, q1, [%[squares]]\n"
        "stp q2, q3, [%[squares], #32]\n"
        "stp q4, q5, [%[squares], #64]\n"
        : [k] "+r"(k), [a] "+r"(a), [b] "+r"(b)
        : [squares] "r"(squares)
        : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16",
          "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "cc",
          "memory");
}
// clang-format on

/// A tile as GemmKernels says, of packed limbs.
inline void limb_tile(std::int64_t k, const std::uint32_t* a, const std::uint32_t* b, std::uint32_t alpha,
                      std::uint32_t beta, std::uint32_t* c, std::int64_t c_row_stride) {
    for (int i = 0; i < limb_tile_rows;
         ++i) {  // C is needed only at the end, so its way from memory hides behind the sums
        __builtin_prefetch(c + i * c_row_stride, 1);
    }
    Words squares[6];
    multiply_limb_panels(k, a, b, squares);
    HEPTAD_UNROLL
    for (int i = 0; i < limb_tile_rows; i += 2) {
        const Words left = squares[i], right = squares[i + 1];
        std::uint32_t* const rows = c + i * c_row_stride;
        update<std::uint32_t>(rows, __builtin_shufflevector(left, right, 0, 1, 4, 5), alpha, beta);
        update<std::uint32_t>(rows + c_row_stride, __builtin_shufflevector(left, right, 2, 3, 6, 7), alpha, beta);
    }
}

}  // namespace
}  // namespace heptad::cpu
#endif
