#include "plan/search/cluster_plan.hpp"

#include <algorithm>

#include "base/fail_if.hpp"
#include "base/size.hpp"
#include "plan/search/cluster_caps.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kLargestBlock = std::int64_t{1} << 13;  // P4's
/// Below, a panel is too thin for a level of a fast algorithm to pay.
constexpr std::int64_t kThinnestPanel = 1024;
/// With so many, filling and draining the pipeline takes an eighth of the time.
constexpr std::int64_t kEnoughPanels = 8;

/// The windows that blocks of `rows` x `cols` cut a window into, row by row or column by column.
std::vector<Window> cut(const Window& whole, std::int64_t rows, std::int64_t cols, bool row_by_row) {
    std::vector<Window> blocks;
    const std::int64_t down = ceil_div(whole.rows, rows), across = ceil_div(whole.cols, cols);
    for (std::int64_t outer = 0; outer < (row_by_row ? down : across); ++outer) {
        for (std::int64_t inner = 0; inner < (row_by_row ? across : down); ++inner) {
            const std::int64_t row = (row_by_row ? outer : inner) * rows, col = (row_by_row ? inner : outer) * cols;
            blocks.push_back(
                {whole.row + row, whole.col + col, std::min(rows, whole.rows - row), std::min(cols, whole.cols - col)});
        }
    }
    return blocks;
}

Window window_of(const IndexRange& rows, const IndexRange& cols) {
    return {rows.begin, cols.begin, rows.size(), cols.size()};
}

HeldWindows held_in_grid(const ProductPlan& plan, std::int64_t rank) {
    HeldWindows held;
    if (rank >= plan.rank->grid.ranks()) {
        return held;
    }
    const GridPlace place = place_in_grid(plan.rank->grid, rank);
    const IndexRange rows = split_range(plan.m, plan.rank->grid.pm, place.i);
    const IndexRange inner = split_range(plan.k, plan.rank->grid.pk, place.l);
    const IndexRange cols = split_range(plan.n, plan.rank->grid.pn, place.j);
    for (std::int64_t s = 0; s < plan.rank->panels; ++s) {
        const IndexRange panel = split_range(inner, plan.rank->panels, s);
        held.a.push_back(window_of(split_range(rows, plan.rank->grid.pn, place.j), panel));
        held.b.push_back(window_of(split_range(panel, plan.rank->grid.pm, place.i), cols));
    }
    return held;
}

std::int64_t elements(const std::vector<Window>& windows) {
    std::int64_t sum = 0;
    for (const Window& window : windows) {
        sum += window.elements();
    }
    return sum;
}

ClusterGrid requested_grid(const ClusterGrid& grid, std::int64_t ranks) {
    const bool positive = grid.pm >= 1 && grid.pk >= 1 && grid.pn >= 1;
    fail_if(!positive || checked_mul(checked_mul(grid.pm, grid.pk), grid.pn) > ranks, ErrorCode::usage,
            "a grid of {}x{}x{} does not fit on {} ranks; the product of its sizes must be 1 to {}", grid.pm, grid.pk,
            grid.pn, ranks, ranks);
    return grid;
}

/// A grid with all of k in one panel.
void require_whole_k(const ProductPlan& plan, std::int64_t memory_bytes) {
    const ClusterGrid& grid = plan.rank->grid;
    fail_if(
        grid.pk > 1, ErrorCode::usage,
        "--accuracy exact rounds once, after all of k, and a grid of {}x{}x{} cuts k; give --grid {}x1x{}, or leave "
        "it out",
        grid.pm, grid.pk, grid.pn, grid.pm, grid.pn);
    const std::int64_t rows = ceil_div(plan.m, grid.pm), cols = ceil_div(plan.n, grid.pn);
    const std::int64_t elements = checked_add(checked_mul(rows, cols), checked_mul(plan.k, checked_add(rows, cols)));
    const std::int64_t needed_bytes = checked_mul(elements, static_cast<std::int64_t>(element_bytes(plan.type)));
    fail_if(needed_bytes > memory_bytes, ErrorCode::resource,
            "--accuracy exact takes whole rows of A and columns of B, {} bytes on every rank of a {}x1x{} grid, but {} "
            "bytes may be used; use --algorithm pegmm, more ranks or a larger --memory",
            needed_bytes, grid.pm, grid.pn, memory_bytes);
}

/// Blocks of both operands being read and multiplied, and what stays of C: a block, or with mod-pegmm a column of them.
std::int64_t bytes_for_blocks(const ProductPlan& plan) {
    const BlockSize& block = plan.rank->block;
    const std::int64_t rows =
        plan.rank->algorithm == ClusterAlgorithm::mod_pegmm ? ceil_div(plan.m, plan.rank->ranks) : block.x;
    const std::int64_t elements =
        checked_add(checked_mul(kBlocksInFlight, checked_mul(block.y, checked_add(block.x, block.z))),
                    checked_mul(3, checked_mul(rows, block.z)));
    return checked_mul(elements, static_cast<std::int64_t>(element_bytes(plan.type)));
}

void require_memory_for_blocks(const ProductPlan& plan, std::int64_t memory_bytes) {
    const BlockSize& block = plan.rank->block;
    const std::int64_t needed_bytes = bytes_for_blocks(plan);
    fail_if(needed_bytes > memory_bytes, ErrorCode::resource,
            "blocks of {}x{}x{} take {} bytes on every rank, but {} bytes may be used; give a smaller --block or a "
            "larger --memory",
            block.x, block.y, block.z, needed_bytes, memory_bytes);
}

/// With all of k in every product, rows and columns are as short as half of the memory makes them: integers take the
/// rest.
void take_whole_k(ProductPlan& plan, std::int64_t memory_bytes) {
    BlockSize& block = plan.rank->block;
    block.y = std::max<std::int64_t>(plan.k, 1);
    while (bytes_for_blocks(plan) > memory_bytes / 2 && block.x > 1) {
        block.x = block.z = ceil_div(block.x, 2);
    }
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

ProductPlan plan_among_ranks(const ProblemSize& size, Type type, const RankCut& cut) {
    ProductPlan plan = plan_of_size(size, type);
    plan.rank = cut;
    plan.leaf = kAutomaticLeaf;
    return plan;
}

void check_rank_cut(const ProductPlan& plan) {
    fail_if(!plan.rank, ErrorCode::input,
            "the plan does not mention ranks: rank={{ranks=...;algorithm=...}} is missing");
    const RankCut& cut = *plan.rank;
    const ClusterGrid& grid = cut.grid;
    fail_if(cut.ranks < 1, ErrorCode::input, "a plan for {} ranks is not possible", cut.ranks);
    if (cut.algorithm == ClusterAlgorithm::grid) {
        // The product may not fit in 64 bits, so it is never made.
        const bool fits = grid.pm >= 1 && grid.pk >= 1 && grid.pn >= 1 && grid.pm <= cut.ranks &&
                          grid.pk <= cut.ranks / grid.pm && grid.pn <= cut.ranks / (grid.pm * grid.pk);
        fail_if(!fits || cut.panels < 1 || cut.panels > std::max<std::int64_t>(plan.k, 1), ErrorCode::input,
                "a plan with a grid of {}x{}x{} and {} panels is not possible: it is for {} ranks and k = {}", grid.pm,
                grid.pk, grid.pn, cut.panels, cut.ranks, plan.k);
    } else if (cut.algorithm == ClusterAlgorithm::caps) {
        if (cut.steps < 1 || cut.steps > most_caps_steps(cut.ranks)) {
            fail(ErrorCode::input, "a plan with {} steps of caps is not possible: {} ranks make {} at most", cut.steps,
                 cut.ranks, most_caps_steps(cut.ranks));
        }
    } else if (cut.block.x < 1 || cut.block.y < 1 || cut.block.z < 1) {
        fail(ErrorCode::input, "a plan with {} by blocks of {}x{}x{} is not possible",
             cluster_algorithm_name(cut.algorithm), cut.block.x, cut.block.y, cut.block.z);
    }
}

BlockSize default_block(const ProblemSize& size, std::int64_t ranks, ClusterAlgorithm algorithm) {
    const std::int64_t columns = algorithm == ClusterAlgorithm::mod_pegmm ? size.n / ranks : size.n;
    const std::int64_t side = std::max<std::int64_t>(1, std::min({size.m / ranks, size.k, columns, kLargestBlock}));
    return {side, side, side};
}

std::int64_t panel_count(const ProblemSize& size, Type type, const ClusterGrid& grid, std::int64_t memory_bytes) {
    const std::int64_t rows = ceil_div(size.m, grid.pm), inner = ceil_div(size.k, grid.pk),
                       cols = ceil_div(size.n, grid.pn);
    const auto element = static_cast<std::int64_t>(element_bytes(type));
    const std::int64_t result_bytes = checked_mul(checked_mul(rows, cols), element);
    // A reduction receives a part of C beside it.
    const std::int64_t fixed_bytes =
        checked_add(result_bytes, grid.pk > 1 ? checked_mul(ceil_div(rows, grid.pk), cols * element) : 0);
    const std::int64_t thickness_bytes = checked_mul(kPanelsInMemory * element, checked_add(rows, cols));
    const std::int64_t thickest =
        memory_bytes < fixed_bytes ? 0 : (memory_bytes - fixed_bytes) / std::max<std::int64_t>(1, thickness_bytes);
    fail_if(thickest < 1 && inner > 0, ErrorCode::resource,
            "a rank of a {}x{}x{} grid holds {} bytes of C and panels beside it, but may use {} bytes; use more ranks, "
            "another --grid or a larger --memory",
            grid.pm, grid.pk, grid.pn, fixed_bytes, memory_bytes);
    const std::int64_t wanted = std::clamp<std::int64_t>(inner / kThinnestPanel, 1, kEnoughPanels);
    return std::max(wanted, inner > 0 ? ceil_div(inner, thickest) : 1);
}

HeldWindows held_windows(const ProductPlan& plan, std::int64_t rank) {
    if (plan.rank->algorithm == ClusterAlgorithm::grid) {
        return held_in_grid(plan, rank);
    }
    if (plan.rank->algorithm == ClusterAlgorithm::caps) {
        return held_by_caps(plan, rank);
    }
    const Window a = window_of(split_range(plan.m, plan.rank->ranks, rank), {0, plan.k});
    const bool all_of_b = plan.rank->algorithm == ClusterAlgorithm::pegmm;
    const Window b =
        window_of({0, plan.k}, all_of_b ? IndexRange{0, plan.n} : split_range(plan.n, plan.rank->ranks, rank));
    return {cut(a, plan.rank->block.x, plan.rank->block.y, true),
            cut(b, plan.rank->block.y, plan.rank->block.z, false)};
}

Window result_window(const ProductPlan& plan, std::int64_t rank) {
    if (plan.rank->algorithm == ClusterAlgorithm::caps) {
        return {};
    }
    if (plan.rank->algorithm != ClusterAlgorithm::grid) {
        return window_of(split_range(plan.m, plan.rank->ranks, rank), {0, plan.n});
    }
    if (rank >= plan.rank->grid.ranks()) {
        return {};
    }
    const GridPlace place = place_in_grid(plan.rank->grid, rank);
    const IndexRange rows = split_range(plan.m, plan.rank->grid.pm, place.i);
    return window_of(split_range(rows, plan.rank->grid.pk, place.l), split_range(plan.n, plan.rank->grid.pn, place.j));
}

std::vector<Window> result_units(const ProductPlan& plan, std::int64_t rank) {
    const Window part = result_window(plan, rank);
    if (plan.rank->algorithm == ClusterAlgorithm::caps) {
        return results_of_caps(plan, rank);
    }
    if (part.elements() == 0) {
        return {};
    }
    if (plan.rank->algorithm == ClusterAlgorithm::grid) {
        return {part};
    }
    if (plan.rank->algorithm == ClusterAlgorithm::pegmm) {
        return cut(part, plan.rank->block.x, plan.rank->block.z, true);
    }
    std::vector<Window> columns;
    for (std::int64_t q = 1; q <= plan.rank->ranks; ++q) {
        const IndexRange cols = split_range(plan.n, plan.rank->ranks, (rank + q - 1) % plan.rank->ranks);
        const std::vector<Window> of_rank =
            cut({part.row, cols.begin, part.rows, cols.size()}, part.rows, plan.rank->block.z, true);
        columns.insert(columns.end(), of_rank.begin(), of_rank.end());
    }
    return columns;
}

std::int64_t received_bytes(const ProductPlan& plan, std::int64_t rank) {
    const auto element = static_cast<std::int64_t>(element_bytes(plan.type));
    switch (plan.rank->algorithm) {
        case ClusterAlgorithm::pegmm:
            return 0;
        case ClusterAlgorithm::mod_pegmm:
            return split_range(plan.m, plan.rank->ranks, rank).size() == 0
                       ? 0
                       : element * plan.k * (plan.n - split_range(plan.n, plan.rank->ranks, rank).size());
        case ClusterAlgorithm::caps:
            return element * received_by_caps(plan, rank);
        default:
            break;
    }
    if (rank >= plan.rank->grid.ranks()) {
        return 0;
    }
    const GridPlace place = place_in_grid(plan.rank->grid, rank);
    const std::int64_t rows = split_range(plan.m, plan.rank->grid.pm, place.i).size();
    const std::int64_t inner = split_range(plan.k, plan.rank->grid.pk, place.l).size();
    const std::int64_t cols = split_range(plan.n, plan.rank->grid.pn, place.j).size();
    const HeldWindows held = held_in_grid(plan, rank);
    // Each of the others in the sum adds its share of the rank's own part of C.
    const std::int64_t partial = (plan.rank->grid.pk - 1) * result_window(plan, rank).elements();
    return element * (rows * inner - elements(held.a) + inner * cols - elements(held.b) + partial);
}

std::int64_t idle_ranks(const ProductPlan& plan) {
    return plan.rank->algorithm == ClusterAlgorithm::caps   ? plan.rank->ranks - caps_shape(plan).ranks
           : plan.rank->algorithm == ClusterAlgorithm::grid ? plan.rank->ranks - plan.rank->grid.ranks()
                                                            : std::max<std::int64_t>(0, plan.rank->ranks - plan.m);
}

ProductPlan make_cluster_plan(const ProblemSize& size, Type type, std::int64_t ranks, const ClusterRequest& request,
                              const ClusterRates& rates) {
    fail_if(ranks < 1, ErrorCode::usage, "a cluster of {} ranks cannot multiply; give at least 1", ranks);
    ProductPlan plan = plan_among_ranks(size, type, {.ranks = ranks});
    plan.rank->algorithm =
        request.algorithm == "auto" ? ClusterAlgorithm::grid : cluster_algorithm_from_name(request.algorithm);
    if (plan.rank->algorithm == ClusterAlgorithm::caps) {
        fail_if(request.whole_k, ErrorCode::usage,
                "caps is Strassen's algorithm, which rounds sums of blocks, and --accuracy exact rounds once; use "
                "--algorithm grid");
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
        ClusterGrid& grid = plan.rank->grid;
        grid =
            request.grid ? requested_grid(*request.grid, ranks) : best_grid(size, type, ranks, rates, request.whole_k);
        if (request.whole_k) {
            require_whole_k(plan, request.memory_bytes);
        } else {
            plan.rank->panels = panel_count(size, type, grid, request.memory_bytes);
        }
        return plan;
    }
    fail_if(request.grid.has_value(), ErrorCode::usage, "--grid is for --algorithm grid; {} takes --block",
            request.algorithm);
    plan.rank->block = request.block ? *request.block : default_block(size, ranks, plan.rank->algorithm);
    fail_if(plan.rank->block.x < 1 || plan.rank->block.y < 1 || plan.rank->block.z < 1, ErrorCode::usage,
            "blocks of {}x{}x{} hold nothing; give --block sizes of at least 1", plan.rank->block.x, plan.rank->block.y,
            plan.rank->block.z);
    if (request.whole_k && !request.block) {
        take_whole_k(plan, request.memory_bytes);
    }
    fail_if(
        request.whole_k && plan.rank->block.y < size.k, ErrorCode::usage,
        "--accuracy exact rounds once, after all of k = {}, and blocks of {}x{}x{} cut k; leave out --block, or give "
        "one with y = {}",
        size.k, plan.rank->block.x, plan.rank->block.y, plan.rank->block.z, size.k);
    require_memory_for_blocks(plan, request.memory_bytes);
    return plan;
}

}  // namespace heptad
