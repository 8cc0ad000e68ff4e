// What was decided: the second of the three plain structs that carry a product, whatever its placement. No pointers,
// prints on one line, and the print parses back to an equal plan.
//
// A plan is a list of steps over one leaf, from the outside in: what the disk, the ranks of a cluster and the host of
// devices cut, and the levels of the place that multiplies. What those parts need to be carried out (schedules, places
// in a workspace, pointers to kernels) is made from the plan where it runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <heptad/heptad.hpp>

#include "base/fused.hpp"
#include "base/leaf_traits.hpp"
#include "base/names.hpp"
#include "plan/model/cuts.hpp"

namespace heptad {

/// How one level is carried out.
enum class LevelMode : std::uint8_t {
    serial,    // depth first along a schedule, a few temporaries
    parallel,  // all sums in one pass, all products as one batch, all outputs in one pass; more memory, less traffic
    fused,     // sums and outputs inside the kernel that multiplies; no memory at all. The innermost level only
};
inline constexpr Names<LevelMode, 3> kLevelModes{{"serial", "parallel", "fused"}};
inline const char* mode_name(LevelMode mode) {
    return kLevelModes.of(mode);
}

struct LevelPlan {
    std::string algorithm;
    LevelMode mode = LevelMode::parallel;
    std::string schedule;  // serial: name of a shipped schedule; empty: the default one for this algorithm
    // fused: how its products are launched, and in blocks of which shape.
    FusedOrder order = FusedOrder::persistent;
    FusedTile tile = FusedTile::automatic;
    bool operator==(const LevelPlan&) const = default;
};

/// One level again and again.
inline std::vector<LevelPlan> same_levels(const std::string& algorithm, int count, LevelMode mode) {
    return std::vector<LevelPlan>(static_cast<std::size_t>(std::max(count, 0)), {algorithm, mode, ""});
}

/// How a product of complex matrices is made of real ones (product/memory/complex_product.hpp).
enum class ComplexWay : std::uint8_t { none, three_products, one_product, in_place };
inline constexpr Names<ComplexWay, 4> kComplexWays{{"none", "three-products", "one-product", "in-place"}};
inline const char* complex_way_name(ComplexWay way) {
    return kComplexWays.of(way);
}

/// How the numbers of a product are represented while they are multiplied.
struct Arithmetic {
    /// Residues modulo so many (base/moduli.hpp): at most, where the result is exact, or for data that is even. 0: as
    /// they are.
    int moduli = 0;
    bool operator==(const Arithmetic&) const = default;
};

struct ProductPlan {
    std::int64_t m = 0, k = 0, n = 0;
    Type type = Type::f32;
    bool count = false;  // packed bits: how many ones a row and a column share, as i32
    std::optional<DiskCut> disk;
    std::optional<RankCut> rank;
    std::optional<HostCut> host;
    std::optional<TransferCut> transfers;
    // What follows is of the blocks that those leave; without them, of the whole product.
    std::string backend{kUsualBackend};
    int threads = 1;
    bool accumulate = false;  // beta may be other than zero
    bool change_basis =
        false;  // all levels share one algorithm with bases: A, B are transformed once, C once at the end
    std::optional<PanelCut> panels;
    /// Of c64 and c128 only: what follows is of one of their real products (plan/search/complex_plan.hpp).
    ComplexWay complex = ComplexWay::none;
    /// By residues: what follows is of the product of integers of one tile of C and part of k, modulo one of them.
    Arithmetic arithmetic;
    std::int64_t tile_m = 0, tile_k = 0, tile_n = 0;
    std::vector<LevelPlan> levels;
    std::string leaf;         // of the products at the bottom
    std::string fringe_leaf;  // of what is peeled off
    std::int64_t core_m = 0, core_k = 0,
                 core_n = 0;  // divisible part; the rest is peeled off and multiplied classically
    /// The operands are copied to workspace first, with zeros appended up to the core's sizes: nothing is peeled off,
    /// and rows begin where a device likes them to.
    bool padded = false;
    bool overwrite_inputs = false;  // carrying it out destroys A and B; only with the caller's leave
    /// On a device: sums are kept in f16, with powers of two taken out of A and B and put back into C. Eleven bits of
    /// significand are more than bf16 has and as many as tf32 has, and the range of f16 is no limit any more. Products
    /// are kept in f16 too, or in f32 where that is what C is made of (tf32).
    bool scaled_sums = false;
    std::int64_t workspace_bytes = 0;
    std::int64_t vendor_workspace_bytes = 0;  // of those: what the vendor library of a device gets
    double predicted_s = 0;
    double error_bound = 0;  // max|C - computed| <= error_bound * max|A| * max|B|
    /// Data that is less even than this (run/dense/evenness.hpp), with powers of two taken out of its rows and columns,
    /// is multiplied classically: levels would lose digits. 0: never.
    double least_evenness = 0;
    bool operator==(const ProductPlan&) const = default;
};

/// Of plans, problems and whatever else has sizes.
template <class Sized>
ProblemSize problem_size(const Sized& of) {
    return {of.m, of.k, of.n};
}
template <class Sized, class Size>
void set_size(Sized& of, const Size& size) {
    of.m = size.m;
    of.k = size.k;
    of.n = size.n;
}
/// With nothing decided.
inline ProductPlan plan_of_size(const ProblemSize& size, Type type) {
    ProductPlan plan;
    set_size(plan, size);
    plan.type = type;
    return plan;
}

std::string to_string(const ProductPlan& plan);
/// Throws Error(input) that names the part it does not understand, or Error(usage) for an unknown algorithm.
ProductPlan parse_plan(const std::string& text);

/// In which levels keep sums of A and B, and what they multiply at the bottom.
inline Type sums_type(Type type, bool scaled) {
    return scaled ? Type::f16 : type;
}
/// In which levels keep products.
inline Type products_type(Type type, bool scaled) {
    return scaled && type != Type::tf32 ? Type::f16 : type;
}
inline bool is_by_residues(const ProductPlan& plan) {
    return plan.arithmetic.moduli > 0;
}
inline bool is_on_device(const ProductPlan& plan) {
    return backend_traits(plan.backend).is_device;
}

/// The type of the products at the bottom; some leaves take residues by themselves.
inline Type leaf_type(const ProductPlan& plan) {
    return is_by_residues(plan) && !leaf_traits(plan.leaf).by_residues ? Type::i32
                                                                       : sums_type(plan.type, plan.scaled_sums);
}

/// Are its matrices bits in words? Those are always padded; bits one to a byte never are.
inline bool is_packed(const ProductPlan& plan) {
    return (plan.type == Type::gf2 || plan.type == Type::boolean) && plan.padded;
}

/// P3's d_s and d_p, where levels are serial and parallel ones.
inline int levels_in_mode(const ProductPlan& plan, LevelMode mode) {
    return static_cast<int>(std::count_if(plan.levels.begin(), plan.levels.end(),
                                          [&](const LevelPlan& level) { return level.mode == mode; }));
}

/// Of all places together: the most levels that a product at the bottom is part of.
int level_count(const ProductPlan& plan);

/// The innermost level's products have their sums inside.
inline bool is_fused(const ProductPlan& plan) {
    return !plan.levels.empty() && plan.levels.back().mode == LevelMode::fused;
}

/// Sizes of the blocks at the bottom; below a fused level those of its largest blocks.
struct LeafSize {
    std::int64_t m = 0, k = 0, n = 0;
    std::int64_t count = 1;  // how many products of that size
};
LeafSize leaf_size(const ProductPlan& plan);

}  // namespace heptad
