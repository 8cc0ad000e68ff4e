// What a plan with a cut among ranks (RankCut) says of each: who multiplies what, which parts of the operands a rank
// holds at the beginning and which part of C it has at the end.
//
// grid: a grid of ranks (cluster_grid.hpp), the inner dimension of each block in `panels` that follow one another.
//
// pegmm and mod-pegmm are the algorithms of S. Ryu, D. Kim, Parallel Huge Matrix Multiplication on a Cluster with GPGPU
// Accelerators ("P4"): rank id of p computes C[id], m/p rows. With pegmm (figure 2) it holds A[id] and all of B; with
// mod-pegmm (figure 6) it holds A[id] and n/p columns B[id], and the B[s] pass from rank to rank. Both work on blocks
// of x x y (A) and y x z (B).
//
// caps: `steps` levels of Strassen's algorithm breadth first over 7^steps ranks (G. Ballard et al.,
// Communication-optimal parallel algorithm for Strassen's matrix multiplication, 2012): each step turns one product on
// 7p ranks into seven on p ranks each (cluster_caps.hpp).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <heptad/heptad.hpp>

#include "plan/model/plan.hpp"
#include "plan/search/cluster_grid.hpp"

namespace heptad {

/// Pairs of blocks that a rank has in memory at a time: being read, on their way, being brought and being multiplied.
constexpr std::int64_t kBlocksInFlight = 7;
/// Panels of a grid that a rank has in memory at a time: being read, gathered and multiplied.
constexpr std::int64_t kPanelsInMemory = 3;

/// What was asked of a cluster.
struct ClusterRequest {
    std::string algorithm = "auto";  // grid, pegmm, mod-pegmm, caps; auto: grid
    std::optional<ClusterGrid> grid;
    std::optional<BlockSize> block;
    std::int64_t memory_bytes = std::numeric_limits<std::int64_t>::max();  // of one rank
    bool whole_k = false;                                                  // in every product: it is rounded once
};

/// Request, sizes and rates to a plan with a RankCut. Throws Error(usage) for a grid with more places than ranks, a
/// grid or a block that the algorithm has no use for or that cuts a k which must be whole, and Error(resource) where a
/// rank's part does not fit in its memory.
ProductPlan make_cluster_plan(const ProblemSize& size, Type type, std::int64_t ranks, const ClusterRequest& request,
                              const ClusterRates& rates);

/// The plan of a product that is cut so; how a rank multiplies its blocks is decided there.
ProductPlan plan_among_ranks(const ProblemSize& size, Type type, const RankCut& cut);
/// Throws Error(input) for a plan without ranks, and for one whose cut cannot be.
void check_rank_cut(const ProductPlan& plan);

/// P4's rule: x = y = z = min(m/p, k, n, 2^13), with n/p for mod-pegmm; at least 1.
BlockSize default_block(const ProblemSize& size, std::int64_t ranks, ClusterAlgorithm algorithm);
/// Enough panels that reading, gathering and multiplying overlap, each long enough for fast algorithms; more where
/// C(i, j) and three panels would exceed `memory_bytes`. Throws Error(resource) where no number of panels helps.
std::int64_t panel_count(const ProblemSize& size, Type type, const ClusterGrid& grid, std::int64_t memory_bytes);

/// Rows row .. row + rows - 1 and columns col .. col + cols - 1 of a matrix.
struct Window {
    std::int64_t row = 0, col = 0, rows = 0, cols = 0;
    std::int64_t elements() const { return rows * cols; }
    bool operator==(const Window&) const = default;
};

/// The parts of A and B that a rank holds, in the order in which they are used. Idle ranks hold none.
///   grid                 panel by panel, one of A and one of B
///   pegmm, mod-pegmm     A[id] block row by block row (i, h); B or B[id] block column by block column (j, h)
///   caps                 its rows of every block, block by block
struct HeldWindows {
    std::vector<Window> a, b;
};
HeldWindows held_windows(const ProductPlan& plan, std::int64_t rank);
/// The part of C that a rank has at the end; empty for idle ranks, and with caps, where it is in several pieces.
Window result_window(const ProductPlan& plan, std::int64_t rank);
/// The pieces of its part of C in the order in which a rank finishes them.
///   grid        its whole part, which is summed in memory until the end
///   pegmm       blocks (i, j), row by row
///   mod-pegmm   columns of blocks: those of its own B[id] first, then of the next rank's
///   caps        its rows of every block, all at the end
std::vector<Window> result_units(const ProductPlan& plan, std::int64_t rank);

/// Bytes that a rank receives while the product is computed, exactly.
std::int64_t received_bytes(const ProductPlan& plan, std::int64_t rank);

/// Ranks without work.
std::int64_t idle_ranks(const ProductPlan& plan);

}  // namespace heptad
