// Sizes that the planner tells and a device backend keeps to.
#pragma once

#include <cstdint>

#include "base/evenness_facts.hpp"
#include "base/moduli.hpp"
#include "base/size.hpp"

namespace heptad {

/// Where a device notes what it sees of A and B, at the start of a product's workspace: a few words, behind them notes
/// of a sample, and the power of two of each row and column (guard_bytes()).
inline constexpr std::int64_t kGuardBytes = 256;

/// Values that are kept for so many rows or columns: vectors of them begin on 16-byte boundaries.
inline std::int64_t line_count(std::int64_t lines) {
    return round_up(lines, 4);
}
/// For the rows and columns of A (m x k) and B (k x n).
inline std::int64_t guard_bytes(std::int64_t m, std::int64_t k, std::int64_t n) {
    const std::int64_t lines = checked_add(checked_add(line_count(m), line_count(n)), checked_mul(2, line_count(k)));
    return checked_add(kGuardBytes + kEvennessBytes,
                       round_up(checked_mul(lines, std::int64_t{sizeof(std::uint32_t)}), kGuardBytes));
}

/// Scratch memory of cuBLAS: what NVIDIA recommends for Hopper, and four times what it does for others.
inline constexpr std::int64_t kCublasWorkspaceBytes = std::int64_t{32} << 20;

/// The leaf that multiplies 32-bit integers as four 8-bit limbs on the int8 tensor cores.
inline constexpr const char* kLimbLeaf = "cublas-int8";

/// The leaf that multiplies floats by residues on the int8 units of a device or a processor.
inline constexpr const char* kResidueLeaf = "heptad-int8";

/// What is known of every row of A and column of B for products by residues: its norm and its exponent, and the parts
/// of a sum on the way there.
inline std::int64_t residue_notes_bytes(std::int64_t m, std::int64_t n) {
    constexpr std::int64_t kOfLine = kNormParts * kNormPartBytes + 12;
    return checked_mul(checked_add(line_count(m), line_count(n)), kOfLine);
}
/// Bytes of a line of residues: rows for the tensor cores begin on 16-byte boundaries.
inline std::int64_t residue_line_bytes(std::int64_t elements) {
    return round_up(elements, 16);
}

/// Sides of a block where levels cut a side into so many. Blocks of C begin where four entries can be stored at once,
/// and what is beyond the matrix is zero.
inline std::int64_t residue_block_bytes(std::int64_t elements, int blocks) {
    return residue_line_bytes(ceil_div(elements, std::int64_t{blocks}));
}
inline std::int64_t residue_block_lines(std::int64_t lines, int blocks) {
    return blocks == 1 ? lines : residue_block_bytes(lines, blocks);
}

/// Memory on a device for the residues of lines (rows of A, columns of B) that several products share, so that they are
/// looked at once and made once: what each line's were made with, twice (before and after a launch), the parts of its
/// norm, and behind that a plane of bytes for each modulus.
struct KeptResidues {
    void* memory = nullptr;             // none: every product makes its own
    std::int64_t lines = 0, depth = 0;  // of all
    int moduli = 0;

    /// Of one of the two vectors of what lines were made with.
    std::int64_t made_bytes() const {
        return round_up(checked_mul(lines, std::int64_t{sizeof(std::int32_t)}), kGuardBytes);
    }
    std::int64_t norm_bytes() const { return round_up(checked_mul(lines, kNormParts * kNormPartBytes), kGuardBytes); }
    std::int64_t notes_bytes() const { return 2 * made_bytes() + norm_bytes(); }
    std::int64_t line_bytes() const { return residue_line_bytes(depth); }
    std::int64_t plane_bytes() const { return checked_mul(lines, line_bytes()); }
    std::int64_t bytes() const { return checked_add(notes_bytes(), checked_mul(moduli, plane_bytes())); }
};

/// On processors, residues of an operand modulo one number: so many lines, and depths, go together.
inline constexpr int kResidueTile = 32, kResidueDepths = 64;
inline std::int64_t packed_residue_bytes(std::int64_t lines, std::int64_t depth) {
    return checked_mul(round_up(lines, kResidueTile), round_up(depth, kResidueDepths));
}

/// Entries of one limb along k: the tensor cores' rows begin on 16-byte boundaries.
inline std::int64_t limb_depth(std::int64_t k) {
    return round_up(k, 16);
}
/// Workspace of one such product: four limbs of A (m rows) and four of B (n rows, along k).
inline std::int64_t limb_bytes(std::int64_t m, std::int64_t k, std::int64_t n) {
    return checked_mul(checked_mul(checked_add(m, n), 4), limb_depth(k));
}

}  // namespace heptad
