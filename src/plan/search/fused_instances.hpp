// The products of one level as P2 writes them, each an instance of one primitive with its sums inside:
//
//   M_s = (sum_i U[s][i] A_i)(sum_j V[s][j] B_j);   C_l += W[s][l] M_s   for every l with W[s][l] != 0
//
// in an order of groups: products of one group update different blocks of C, so they may run at the same time. No two
// levels are special: "strassen*strassen" is an algorithm too, with 49 instances of at most four terms.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "algorithm/level_terms.hpp"
#include "base/fused.hpp"

namespace heptad {

/// How many blocks of A, B and C an instance touches: P2's W_A, W_B and W_C. Instances alike in this are one variant.
struct OperandCounts {
    int a = 1, b = 1, c = 1;
    auto operator<=>(const OperandCounts&) const = default;
};
OperandCounts operand_counts(const BlockProduct& instance);
bool share_a_target(const BlockProduct& x, const BlockProduct& y);

struct FusedInstances {
    BlockGrid grid;
    std::vector<BlockProduct> instances;
    /// Instances before group_ends[g] and not before group_ends[g - 1] are group g.
    std::vector<int> group_ends;
    /// The most of each over all instances.
    OperandCounts most;
};

/// In the standard basis. First coefficients of -1 on the left and on the right are made 1; the sign goes to the
/// results.
FusedInstances make_fused_instances(const Algorithm& algorithm);
/// The same for an algorithm of the catalogue, made once; the reference stays valid.
const FusedInstances& fused_instances(const std::string& algorithm);

/// How many levels of so many products each are interleaved at a time, of `levels` that run in one call. A launch of
/// the orders `persistent` and `atomic` takes all products of its levels, so that what these share stays in the cache;
/// other orders need as many levels as there are to fill the device.
int levels_of_launch(FusedOrder order, int products, int levels);

/// Room of a launch for products.
class FusedRoom {
public:
    /// How many more products like this one a launch takes; one at least, where it has none yet.
    int left_for(const OperandCounts& counts) const {
        const int more = std::min({products_, terms_ / (counts.a + counts.b + kSpareFusedTerms), targets_ / counts.c});
        return products_ == kMostFusedInstances ? std::max(more, 1) : more;
    }
    void take(const OperandCounts& counts, int times) {
        products_ -= times;
        terms_ -= times * (counts.a + counts.b + kSpareFusedTerms);
        targets_ -= times * counts.c;
    }

private:
    int products_ = kMostFusedInstances, terms_ = kMostFusedTerms, targets_ = kMostFusedTargets;
};

/// Side of the blocks when `size` rows or columns are cut into `parts`: all but the last few have it, those have what
/// is left. From a size on that does not matter, it is a multiple of 16 bytes, so that blocks of aligned rows are
/// aligned.
std::int64_t fused_side(std::int64_t size, int parts, Type type);

}  // namespace heptad
