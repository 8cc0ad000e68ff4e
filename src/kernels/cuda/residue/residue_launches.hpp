// Products by residues on a device (docs/residues.md) as four launches: norms of rows and columns, bytes from numbers,
// products of bytes, numbers from bytes. How many moduli are taken is found on the device, by every kernel for itself.
#pragma once

#include <array>
#include <cstdint>

#include "algorithm/winograd_sums.hpp"
#include "base/moduli.hpp"
#include "kernels/byte_plane_sums.hpp"
#include "kernels/cuda/device/cuda_kernels.hpp"

namespace heptad::cuda {

/// From `usual` moduli, for data that is `least_evenness` even, to `most`, of which each takes data that is sixteen
/// times less even: it adds four bits to A and four to B. None at all where the guard says no.
struct ResidueChoice {
    Guard guard;
    int usual = 0, most = 0;
    double least_evenness = 0;
    double capacity[kModuliChoices] = {};  // log2 of the norms that lines may have with `usual` moduli and more
};

/// The rows of A or the columns of B.
struct ResidueLines {
    const void* data = nullptr;
    std::int64_t lines = 0, depth = 0, line_stride = 0, depth_stride = 0;
    bool is_complex = false, conjugate = false;
    const std::int32_t* inner = nullptr;   // powers of two along k; null: none
    const std::int32_t* outer = nullptr;   // and of lines, which count for the largest value alone
    const unsigned int* scaled = nullptr;  // where the device says whether they count
    double* log2_norm = nullptr;           // of each line; -infinity: zeros
    std::int32_t* exponents = nullptr;     // integers of a line are its numbers times 2^this, rounded
};

/// Bytes of ResiduePlanes as kernels see them.
struct BytePlanes {
    std::uint8_t* data = nullptr;
    std::int64_t lines = 0, line_bytes = 0, plane_bytes = 0;
    int levels = 0, parts = 1, products_of_part = 1;
    /// Of each modulus.
    int products() const { return parts * products_of_part * winograd_products(levels); }
};

/// As launch_evenness(), of complex numbers: by their absolute values. The scalar is that of their parts, here and
/// below.
DeviceStatus launch_complex_evenness(const EvennessLaunch& launch, StreamHandle stream);

/// c = beta * c of complex numbers, where the guard allows it. beta = 0: c is not read.
DeviceStatus launch_complex_scale(Scalar scalar, const DeviceMatrix& c, double beta, double beta_imaginary,
                                  const Guard& guard, StreamHandle stream);

/// The exponents of lines, and planes[t](line, p) = the integer of that place modulo the t-th modulus; zeros behind
/// `depth`. Of one operand or of both.
struct ResidueConvert {
    Scalar scalar = Scalar::f32;
    int count = 0;
    int operand[2] = {};  // A: 0, B: 1
    ResidueLines from[2];
    BytePlanes to[2];
    ResidueChoice choice;
};
DeviceStatus launch_residue_convert(const ResidueConvert& launch, StreamHandle stream);
/// Of complex numbers, and of planes with levels.
DeviceStatus launch_residue_convert_complex(const ResidueConvert& launch, StreamHandle stream);
DeviceStatus launch_residue_convert_levels(const ResidueConvert& launch, StreamHandle stream);

/// Sums of planes with the moduli that the choice takes (kernels/byte_plane_sums.hpp).
DeviceStatus launch_residue_plane_sums(const PlaneSums& sums, const BytePlanes& from, const BytePlanes& to,
                                       const ResidueChoice& choice, StreamHandle stream);

/// c[t] = a[t] b[t]' modulo the t-th modulus, from 0 to the modulus. At most kLongestDeviceSum along k.
struct ResidueMultiply {
    BytePlanes a, b, c;
    ResidueChoice choice;
};
DeviceStatus launch_residue_multiply(const ResidueMultiply& launch, StreamHandle stream);
/// The same, by Hopper's instructions or by those of all devices.
DeviceStatus find_residue_multiply_hopper(bool& compiled);
DeviceStatus launch_residue_multiply_hopper(const ResidueMultiply& launch, StreamHandle stream);
DeviceStatus launch_residue_multiply_mma(const ResidueMultiply& launch, StreamHandle stream);

/// c = alpha * what the residues stand for + beta * c.
struct ResidueRebuild {
    Scalar scalar = Scalar::f32;
    BytePlanes residues;
    const std::int32_t *row_exponents = nullptr, *col_exponents = nullptr;
    double alpha = 1, beta = 0;
    DeviceMatrix c;  // best if the entries of a row lie side by side
    ResidueChoice choice;
    double alpha_imaginary = 0, beta_imaginary = 0;
};
DeviceStatus launch_residue_rebuild(const ResidueRebuild& launch, StreamHandle stream);
/// Of planes of complex numbers, and of planes with levels.
DeviceStatus launch_residue_rebuild_complex(const ResidueRebuild& launch, StreamHandle stream);
DeviceStatus launch_residue_rebuild_levels(const ResidueRebuild& launch, StreamHandle stream);

/// How the bytes of C are made of sums: r = x' - p * (mulhi(x', reciprocal) >> 7), where x' = x + bias is not negative.
/// With |x| <= 2^30 the quotient is right or, at multiples of p, one too small: r goes from 0 to p.
struct ByteModulus {
    std::uint32_t p, bias, reciprocal;
};
constexpr ByteModulus byte_modulus(int modulus) {
    const auto p = static_cast<std::uint32_t>(modulus);
    return {p, ((1U << 30) + p - 1) / p * p, static_cast<std::uint32_t>((std::uint64_t{1} << 39) / p)};
}
constexpr std::array<ByteModulus, kMostModuli> byte_moduli() {
    std::array<ByteModulus, kMostModuli> all{};
    for (std::size_t t = 0; t < all.size(); ++t) {
        all[t] = byte_modulus(kModuli[t]);
    }
    return all;
}

}  // namespace heptad::cuda
