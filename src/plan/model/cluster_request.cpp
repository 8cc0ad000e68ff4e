#include "plan/model/cluster_request.hpp"

#include "base/fail_if.hpp"
#include "base/size.hpp"
#include "plan/search/cluster_caps.hpp"

namespace heptad {
namespace {

ClusterGrid requested_grid(const ClusterGrid& grid, std::int64_t ranks) {
    const bool positive = grid.pm >= 1 && grid.pk >= 1 && grid.pn >= 1;
    fail_if(!positive || checked_mul(checked_mul(grid.pm, grid.pk), grid.pn) > ranks, ErrorCode::usage,
            "a grid of {}x{}x{} does not fit on {} ranks; the product of its sizes must be 1 to {}", grid.pm, grid.pk,
            grid.pn, ranks, ranks);
    return grid;
}

/// Blocks of both operands being read and multiplied, and what stays of C: a block, or with mod-pegmm a column of them.
void require_memory_for_blocks(const ProductPlan& plan, std::int64_t memory_bytes) {
    const BlockSize& block = plan.rank->block;
    const std::int64_t rows =
        plan.rank->algorithm == ClusterAlgorithm::mod_pegmm ? ceil_div(plan.m, plan.rank->ranks) : block.x;
    const std::int64_t elements =
        checked_add(checked_mul(kBlocksInFlight, checked_mul(block.y, checked_add(block.x, block.z))),
                    checked_mul(3, checked_mul(rows, block.z)));
    const std::int64_t needed_bytes = checked_mul(elements, static_cast<std::int64_t>(element_bytes(plan.type)));
    fail_if(needed_bytes > memory_bytes, ErrorCode::resource,
            "blocks of {}x{}x{} take {} bytes on every rank, but {} bytes may be used; give a smaller --block or a "
            "larger --memory",
            block.x, block.y, block.z, needed_bytes, memory_bytes);
}

/// Blocks of A, B and C, and the sums and results of the step before.
void require_memory_for_caps(const ProductPlan& plan, std::int64_t memory_bytes) {
    const CapsShape shape = caps_shape(plan);
    const std::int64_t elements = checked_mul(2, checked_add(checked_add(checked_mul(shape.block_m, shape.block_k),
                                                                         checked_mul(shape.block_k, shape.block_n)),
                                                             checked_mul(shape.block_m, shape.block_n)));
    const std::int64_t needed_bytes = checked_mul(elements, static_cast<std::int64_t>(element_bytes(plan.type)));
    fail_if(needed_bytes > memory_bytes, ErrorCode::resource,
            "caps takes {} bytes on every rank, but {} bytes may be used; use --algorithm grid, more ranks or a larger "
            "--memory",
            needed_bytes, memory_bytes);
}

}  // namespace

ProductPlan make_cluster_plan(const ProblemSize& size, Type type, std::int64_t ranks, const ClusterRequest& request,
                              const ClusterRates& rates) {
    fail_if(ranks < 1, ErrorCode::usage, "a cluster of {} ranks cannot multiply; give at least 1", ranks);
    ProductPlan plan = plan_among_ranks(size, type, {.ranks = ranks});
    plan.rank->algorithm =
        request.algorithm == "auto" ? ClusterAlgorithm::grid : cluster_algorithm_from_name(request.algorithm);
    if (plan.rank->algorithm == ClusterAlgorithm::caps) {
        plan.rank->steps = most_caps_steps(ranks);
        fail_if(plan.rank->steps < 1, ErrorCode::usage, "caps needs 7 ranks or more, not {}; use --algorithm grid",
                ranks);
        fail_if(request.block || request.grid || type == Type::boolean, ErrorCode::usage,
                "caps takes neither --grid nor --block, and does not multiply bool; use grid");
        require_memory_for_caps(plan, request.memory_bytes);
        return plan;
    }
    if (plan.rank->algorithm == ClusterAlgorithm::grid) {
        fail_if(request.block.has_value(), ErrorCode::usage,
                "--block is for --algorithm pegmm and mod-pegmm; a grid takes --grid");
        plan.rank->grid = request.grid ? requested_grid(*request.grid, ranks) : best_grid(size, type, ranks, rates);
        plan.rank->panels = panel_count(size, type, plan.rank->grid, request.memory_bytes);
        return plan;
    }
    fail_if(request.grid.has_value(), ErrorCode::usage, "--grid is for --algorithm grid; {} takes --block",
            request.algorithm);
    plan.rank->block = request.block ? *request.block : default_block(size, ranks, plan.rank->algorithm);
    fail_if(plan.rank->block.x < 1 || plan.rank->block.y < 1 || plan.rank->block.z < 1, ErrorCode::usage,
            "blocks of {}x{}x{} hold nothing; give --block sizes of at least 1", plan.rank->block.x, plan.rank->block.y,
            plan.rank->block.z);
    require_memory_for_blocks(plan, request.memory_bytes);
    return plan;
}

}  // namespace heptad
