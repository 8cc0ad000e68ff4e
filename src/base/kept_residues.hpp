// Memory on a device for the residues of lines (rows of A, columns of B) that several products share, so that they are
// looked at once and made once: what each line's were made with, twice (before and after a launch), the parts of its
// norm, and behind that a plane of bytes for each modulus.
#pragma once

#include <cstdint>

#include "base/device_layout.hpp"

namespace heptad {

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

}  // namespace heptad
