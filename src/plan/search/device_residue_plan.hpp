// Plans by residues on a device. f32, f64, c64 and c128, `balanced` and `fast`: rows of A and columns of B become
// integers of so many bits that their rounding shows less than a classical product's. f32 and f64, `strict`: the same,
// where a certificate shows that every entry is within the classical bound. `exact`, and i64: nothing is rounded on the
// way. C is made in tiles where the bytes of all of it do not fit the workspace.
#pragma once

#include "plan/model/machine.hpp"
#include "plan/model/plan.hpp"
#include "plan/model/problem.hpp"
#include "plan/search/residue_levels.hpp"

namespace heptad {

/// The moduli that the least even data takes; plan.arithmetic names what even data does. There is memory for all.
int most_moduli(const ProductPlan& plan);

/// Of a certified plan: how even A and B must be by their counts (kernels/cuda/residue/residue_certificate.hpp) for the
/// moduli that the plan names, and by kEvennessOfModulus less for each one more. k > 2.
double certified_evenness(const ProductPlan& plan);

/// Planes of each modulus: of complex numbers real parts, imaginary parts and their sums.
int residue_parts(Type type);

/// Bytes of workspace, in this order. Where sums of levels are made in passes, the planes of A and B without levels are
/// where those of C will be, and C without levels has planes of its own.
struct DeviceResidueLayout {
    std::int64_t guard = 0, notes = 0, a = 0, b = 0, c = 0, whole_c = 0;
    std::int64_t bytes() const { return guard + notes + a + b + c + whole_c; }
};
DeviceResidueLayout device_residue_layout(const ProductPlan& plan);

/// Has a thread block room for what waits for its residues? Levels inside kernels keep a tile of every block: two
/// levels over numbers of 8 bytes take 137 KiB, and chips of the generations 8.6 and 8.9 have 99.
bool fits_shared_memory(const ProductPlan& plan, const Machine& machine);

/// Makes a plan one by residues, with its levels inside, as many as shared memory holds. False, and the plan is as it
/// was: it cannot be one, for its type, its levels, its sizes, its accuracy or the workspace.
bool take_residues(ProductPlan& plan, const Problem& problem, const Machine& machine);
void check_device_residue_plan(const ProductPlan& plan);
/// Gives a plan the largest tiles with which it takes no more than so many bytes. False, and it is as it was: none do.
bool fit_tiles(ProductPlan& plan, std::int64_t bytes);

/// The plan of a product that rounds nothing on the way: f32 and f64, rounded once, and i64. With the levels asked for,
/// as far as they fit, or the best ones. Throws Error(usage) for other types and options, and Error(resource) where the
/// workspace is too small.
ProductPlan make_exact_device_plan(const Problem& problem, const Machine& machine);

}  // namespace heptad
