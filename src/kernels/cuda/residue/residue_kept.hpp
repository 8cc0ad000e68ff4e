// Residues that are there from a product before (base/device_layout.hpp). The host knows which lines were looked at;
// what their residues were made with is compared on the device, where moduli and powers of two are decided.
#pragma once

#include "kernels/cuda/residue/residue_launches.hpp"

namespace heptad::cuda {

/// Of the lines of one operand. Null: all are made.
struct MadeLines {
    std::int32_t* before = nullptr;  // what they were made with
    std::int32_t* after = nullptr;   // what they are made with now; the launch copies it to `before` at its end
};

/// As launch_residue_convert(), for numbers without levels: lines whose residues would become what they are, are left.
DeviceStatus launch_residue_convert_kept(const ResidueConvert& launch, const MadeLines (&made)[2], StreamHandle stream);

/// Parts of the norms of one operand's lines, and how many of its first lines have them. Null: none.
struct MeasuredLines {
    void* parts = nullptr;
    std::int64_t stride = 0, known = 0;  // `stride`: lines from one part of k to the next
};

/// log2_norm of both operands. Without powers their largest values go to GuardWords::plain_max_bits. With powers it is
/// settled what counts: where powers do, norms and largest values are found anew with them, and what they make of lines
/// (line_growth). `scratch`: kNormParts parts of each line. `measured`: where there are no powers.
DeviceStatus launch_residue_norms(Scalar scalar, const ResidueLines (&operands)[2], const MeasuredLines (&measured)[2],
                                  void* scratch, GuardWords* words, StreamHandle stream);

}  // namespace heptad::cuda
