// Planes and lines of products by residues, as kernels take them.
#pragma once

#include "base/types.hpp"
#include "kernels/backend.hpp"
#include "kernels/cuda/residue/residue_launches.hpp"

namespace heptad::cuda {

inline BytePlanes byte_planes(const ResiduePlanes& planes) {
    return {static_cast<std::uint8_t*>(planes.data),
            planes.lines,
            planes.line_bytes,
            planes.plane_bytes,
            planes.levels,
            planes.parts,
            planes.products};
}

/// The rows of A, or of B transposed; without powers.
inline ResidueLines lines_of(const ConstView& rows) {
    ResidueLines lines;
    lines.data = rows.data;
    lines.lines = rows.rows;
    lines.depth = rows.cols;
    lines.line_stride = rows.row_stride;
    lines.depth_stride = rows.col_stride;
    lines.is_complex = is_complex(rows.type);
    lines.conjugate = rows.conjugate;
    return lines;
}

}  // namespace heptad::cuda
