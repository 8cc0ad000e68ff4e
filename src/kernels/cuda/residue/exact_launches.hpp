// Products by residues that round nothing on the way, as launches: f32 and f64 rounded once at the end, and 64-bit
// integers. Products of bytes are those of residue_launches.hpp.
#pragma once

#include "kernels/cuda/residue/residue_launches.hpp"

namespace heptad::cuda {

enum class ExactElement : std::uint8_t { f32, f64, i64 };

/// What the device notes of a product: log2 of the largest norm of a row of A and of a column of B, as integers, as the
/// bits of doubles.
struct ExactWords {
    unsigned long long norms[2];
};

/// Exponents of all lines of floats (exact_integers.hpp), and the largest norms. `scratch`: kNormParts parts of each
/// line.
DeviceStatus launch_exact_lines(ExactElement element, const ResidueLines (&operands)[2], void* scratch,
                                ExactWords* words, StreamHandle stream);

/// planes[t](line, p) = the integer of that place modulo the t-th modulus, with sums of levels where planes have any.
/// Exponents of floats are known; `pieces` hold their largest integer.
struct ExactConvert {
    ExactElement element = ExactElement::f32;
    ResidueConvert lines;  // from, to, operand and count
    int moduli = 0, pieces = 0;
};
DeviceStatus launch_exact_convert(const ExactConvert& launch, StreamHandle stream);

/// c = alpha * what the residues stand for + beta * c, rounded once, or modulo 2^64.
struct ExactRebuild {
    ExactElement element = ExactElement::f32;
    BytePlanes residues;
    int moduli = 0;           // 0: the integers are zeros
    ResidueLines rows, cols;  // of A and of B that c is made of; no exponents: neither is looked at
    double alpha = 1, beta = 0;
    std::uint64_t alpha_of_ring = 1, beta_of_ring = 0;  // modulo 2^64
    DeviceMatrix c;                                     // best if the entries of a row lie side by side
    const ExactWords* words = nullptr;                  // where the norms turn out; null: known to fit
    double capacity = 0;                                // log2 of what they may be; beyond it c becomes NaN
    std::uint32_t* refused = nullptr;                   // becomes 1 then; null where they are known to fit
};
DeviceStatus launch_exact_rebuild(const ExactRebuild& launch, StreamHandle stream);

}  // namespace heptad::cuda
