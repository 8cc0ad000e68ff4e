// How the host cuts a product into sub-instances, each small enough for a device (P3 3.7, 3.12 and 3.18).
//
// A is cut into grid.m x grid.k blocks (row by row), B into grid.k x grid.n and C into grid.m x grid.n. A sub-instance
// is the product of a sum T of blocks of A with a sum S of blocks of B; its result Q goes to some blocks of C.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <heptad/heptad.hpp>

#include "algorithm/level_terms.hpp"

namespace heptad {

/// More sub-instances than this mean that each is too small to be worth a device.
inline constexpr std::int64_t kMostHostParts = std::int64_t{1} << 20;

struct HostLayer {
    BlockGrid grid;
    /// Sub-instances come in groups of `steps`: the results of a group are added on the device, and only their sum goes
    /// to C, as the last one says. Algorithms have one step; segments of C have one for each block along k.
    int steps = 1;
    std::vector<BlockProduct> instances;
    /// A block of C belongs to one group alone.
    bool disjoint = false;

    std::int64_t groups() const { return static_cast<std::int64_t>(instances.size()) / steps; }
};

/// `levels` (1 and up) levels of an algorithm of the catalogue, in the standard basis. Throws Error(usage) if its ring
/// does not admit the type, or if it has more blocks or products than a host could deal out.
HostLayer algorithm_layer(const std::string& algorithm, int levels, Type type);

/// The classical product: every block of C is a group, its steps go along k. Rows of segments run to and fro, so that a
/// row begins with the blocks of B that the one before ended with.
HostLayer segment_layer(const BlockGrid& grid);

/// What the sums of a layer do to floats.
struct LayerGrowth {
    /// max over the blocks of C of sum |w| |U|_1 |V|_1 and most roundings on the way of one term, as in error_bound().
    double growth = 1;
    double roundings = 0;
    double largest_sum_a = 1, largest_sum_b = 1, largest_sum_c = 1;
};
LayerGrowth layer_growth(const HostLayer& layer);

/// Largest values of A, B and C as they were given.
struct LargestValues {
    double a = 0, b = 0, c = 0;
};
/// Sums of blocks spread a NaN or an infinity beyond its row, and may overflow where the classical product does not:
/// can neither happen in alpha * A * B + beta * C? False for NaN.
bool layer_sums_are_safe(const LayerGrowth& growth, Type type, std::int64_t k, double alpha, double beta,
                         const LargestValues& largest);

}  // namespace heptad
