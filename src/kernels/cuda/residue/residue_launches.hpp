// Products by residues on a device (docs/residues.md) as four launches: norms of rows and columns, bytes from numbers,
// products of bytes, numbers from bytes. How many moduli are taken is found on the device, by every kernel for itself.
#pragma once

#include <array>
#include <cstdint>

#include "base/moduli.hpp"
#include "kernels/cuda/device/cuda_kernels.hpp"

namespace heptad::cuda {

/// With as many moduli integers fit 128 bits.
inline constexpr int kMostDeviceModuli = 16;
/// A plan leaves so many numbers of moduli open.
inline constexpr int kModuliChoices = 5;

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
    const std::int32_t* inner = nullptr;   // powers of two along k; null: none
    const unsigned int* scaled = nullptr;  // where the device says whether they count
    double* log2_norm = nullptr;           // of each line; -infinity: zeros
};

/// One byte of each number modulo each modulus, in lines along k.
struct ResiduePlanes {
    std::uint8_t* data = nullptr;
    std::int64_t lines = 0, line_bytes = 0;  // a multiple of 16
    std::int64_t plane_bytes = 0;
};

/// Scratch of launch_residue_norms: partial sums of squares and maxima of so many lines.
inline constexpr int kNormParts = 16;
inline std::int64_t norm_scratch_bytes(std::int64_t lines) {
    return lines * kNormParts * std::int64_t{sizeof(double) + sizeof(unsigned long long)};
}

/// log2_norm of both operands, and their largest values (GuardWords::max_bits).
DeviceStatus launch_residue_norms(Scalar scalar, const ResidueLines (&operands)[2], void* scratch, GuardWords* words,
                                  StreamHandle stream);

/// planes[t](line, p) = the integer of that place modulo the t-th modulus; zeros behind `depth`.
DeviceStatus launch_residue_convert(Scalar scalar, const ResidueLines& from, const ResidueChoice& choice,
                                    const ResiduePlanes& to, StreamHandle stream);

/// c[t] = a[t] b[t]' modulo the t-th modulus, from 0 to the modulus. At most kLongestDeviceSum along k.
struct ResidueMultiply {
    ResiduePlanes a, b, c;
    ResidueChoice choice;
};
inline constexpr std::int64_t kLongestDeviceSum = 65536;
DeviceStatus launch_residue_multiply(const ResidueMultiply& launch, StreamHandle stream);
/// The same, by Hopper's instructions or by those of all devices.
DeviceStatus find_residue_multiply_hopper(bool& compiled);
DeviceStatus launch_residue_multiply_hopper(const ResidueMultiply& launch, StreamHandle stream);
DeviceStatus launch_residue_multiply_mma(const ResidueMultiply& launch, StreamHandle stream);

/// c = alpha * what the residues stand for + beta * c. Rows are those of `rows` from `first_row` on, and so on.
struct ResidueRebuild {
    Scalar scalar = Scalar::f32;
    ResiduePlanes residues;
    const double *row_log2_norm = nullptr, *col_log2_norm = nullptr;
    double alpha = 1, beta = 0;
    DeviceMatrix c;  // a row's entries lie side by side, or nearly so
    ResidueChoice choice;
};
DeviceStatus launch_residue_rebuild(const ResidueRebuild& launch, StreamHandle stream);

/// How the bytes of C are made of sums: r = x' - p * (mulhi(x', reciprocal) >> 7), where x' = x + bias is not negative.
/// With |x| <= 2^30 the quotient is right or, at multiples of p, one too small: r goes from 0 to p.
struct ByteModulus {
    std::uint32_t p, bias, reciprocal;
};
constexpr ByteModulus byte_modulus(int modulus) {
    const auto p = static_cast<std::uint32_t>(modulus);
    return {p, ((1U << 30) + p - 1) / p * p, static_cast<std::uint32_t>((std::uint64_t{1} << 39) / p)};
}
constexpr std::array<ByteModulus, kMostDeviceModuli> byte_moduli() {
    std::array<ByteModulus, kMostDeviceModuli> all{};
    for (std::size_t t = 0; t < all.size(); ++t) {
        all[t] = byte_modulus(kModuli[t]);
    }
    return all;
}

}  // namespace heptad::cuda
