#include "plan/search/file_cuts.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/fail_if.hpp"
#include "base/size.hpp"
#include "base/types.hpp"
#include "plan/predict/error_bound.hpp"
#include "plan/search/file_schedule.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kLeastCut = 16;
constexpr std::int64_t kWord_bits = 64;
constexpr double kDirectPreferred = 1.01;  // cuts on blocks are given up where they cost more than that

/// Bytes of so many elements of the files, packed or not.
std::int64_t area_bytes(const FileProblem& o, std::int64_t elements) {
    return o.a.bytes_of(elements);
}

std::int64_t exact_bytes(const FileProblem& o, const FileCut& cut) {
    const std::int64_t down = ceil_div(o.m, cut.tile_m);
    const std::int64_t across = cut.keeps_left ? 1 : ceil_div(o.n, cut.tile_n);
    return checked_add(checked_add(checked_mul(across, o.a.total_bytes()), checked_mul(down, o.b.total_bytes())),
                       o.c.total_bytes());
}

constexpr std::int64_t kPanelsOfB = 2;
constexpr std::int64_t kStripsOfA = 2;

/// A window of whole lines may begin anywhere in a block.
std::int64_t whole_line_slack(const FileProblem& o) {
    return 2 * (kStripsOfA * o.a.block_bytes + kPanelsOfB * o.b.block_bytes + o.c.block_bytes);
}

/// Memory that a kept C needs at least: the tile, two panels of B and two strips of A, all as thin as allowed.
std::int64_t least_beside_tile(const FileProblem& o, const FileCut& cut, std::int64_t tile_m, std::int64_t tile_n) {
    const std::int64_t depth = least_cut(o.k, cut.unit), row_unit = cut.row_unit;
    const std::int64_t strip = std::min(tile_m, std::max(row_unit, kLeastCut));
    return area_bytes(o, (kPanelsOfB * tile_n + kStripsOfA * strip) * depth) + whole_line_slack(o) +
           check_bytes(o.line_bytes, tile_m, tile_n, depth, strip);
}

/// Keep C: for every p the widest tile that fits; more tiles down cost B again, more across cost A again.
void search_kept_c(const FileProblem& o, FileCut cut, std::int64_t memory, std::vector<FileCut>& found) {
    for (std::int64_t p = 1;; ++p) {
        cut.tile_m = part_size(o.m, p, cut.row_unit);
        const std::int64_t narrow = least_cut(o.n, cut.unit);
        // tile_m * w * e + (2 w + 2 strip) * depth * e <= memory, solved for w
        const std::int64_t fixed = least_beside_tile(o, cut, cut.tile_m, 0);
        const std::int64_t per_column =
            area_bytes(o, cut.tile_m + kPanelsOfB * least_cut(o.k, cut.unit)) + o.line_bytes;
        const std::int64_t widest = memory > fixed ? (memory - fixed) / per_column : 0;
        if (widest >= narrow) {
            const std::int64_t whole = widest >= o.n ? o.n : std::max(narrow, widest / cut.unit * cut.unit);
            cut.tile_n = part_size(o.n, ceil_div(o.n, whole), cut.unit);
            cut.kept_bytes = area_bytes(o, cut.tile_m * cut.tile_n);
            cut.exact_bytes = exact_bytes(o, cut);
            found.push_back(cut);
            if (cut.tile_n >= o.n) {
                return;
            }
        }
        if (cut.tile_m <= least_cut(o.m, cut.row_unit)) {
            return;
        }
    }
}

/// Keep A: blocks of rows with the whole of k. The first that fits is the best.
void search_kept_left(const FileProblem& o, FileCut cut, std::int64_t memory, std::vector<FileCut>& found) {
    const std::int64_t narrow = least_cut(o.n, cut.unit);
    cut.keeps_left = true;
    for (std::int64_t p = 1;; ++p) {
        cut.tile_m = part_size(o.m, p, cut.row_unit);
        cut.tile_n = narrow;
        cut.kept_bytes = area_bytes(o, cut.tile_m * o.k);
        const std::int64_t streamed = area_bytes(o, kPanelsOfB * (o.k + cut.tile_m) * narrow);
        const std::int64_t strip = std::min(cut.tile_m, std::max(cut.row_unit, kLeastCut));
        const std::int64_t checks = check_bytes(o.line_bytes, cut.tile_m, narrow, o.k, strip);
        if (cut.kept_bytes + streamed + whole_line_slack(o) + checks <= memory) {
            cut.exact_bytes = exact_bytes(o, cut);
            found.push_back(cut);
            return;
        }
        if (cut.tile_m <= least_cut(o.m, cut.row_unit)) {
            return;
        }
    }
}

}  // namespace

std::int64_t part_size(std::int64_t size, std::int64_t parts, std::int64_t unit) {
    return std::min(size, round_up(ceil_div(size, parts), unit));
}

std::int64_t least_cut(std::int64_t size, std::int64_t unit) {
    return std::min(size, std::max(unit, kLeastCut));
}

std::int64_t check_bytes(std::int64_t line_bytes, std::int64_t tile_m, std::int64_t tile_n, std::int64_t depth,
                         std::int64_t strip) {
    return line_bytes * (tile_m + tile_n + 2 * depth + 2 * strip);
}

bool may_cut_k(const FileProblem& problem) {
    return !problem.whole_k && problem.type != Type::bf16 && problem.type != Type::f16;
}

FileProblem without_blocks(FileProblem problem) {
    problem.a.block_bytes = problem.b.block_bytes = problem.c.block_bytes = 1;
    return problem;
}

std::vector<FileCut> all_cuts(const FileProblem& problem) {
    const std::int64_t block = std::max({problem.a.block_bytes, problem.b.block_bytes, problem.c.block_bytes});
    std::vector<std::pair<std::int64_t, bool>> units{{problem.a.packed ? kWord_bits : 1, false}};
    if (block > problem.a.element_bytes) {
        units.emplace_back(problem.a.elements_of(block), true);
    }
    const std::int64_t memory = problem.memory_bytes - turning_bytes(problem.memory_bytes, problem.a, problem.b);
    std::vector<FileCut> found;
    for (const auto& [unit, on_blocks] : units) {
        for (const bool mirrored : {false, true}) {
            if (mirrored && problem.a.packed) {  // bits lie by rows
                continue;
            }
            const FileProblem o = oriented(on_blocks ? problem : without_blocks(problem), mirrored);
            // Cuts between rows of bits are cuts between bytes, unless A lies the other way round.
            const bool any_row = problem.a.packed && !problem.a.by_columns;
            const FileCut start{
                .mirrored = mirrored, .unit = unit, .row_unit = any_row ? 1 : unit, .on_blocks = on_blocks};
            if (may_cut_k(problem)) {
                search_kept_c(o, start, memory, found);
            }
            search_kept_left(o, start, memory, found);
        }
    }
    return found;
}

const FileCut& best_cut(const std::vector<FileCut>& cuts) {
    std::int64_t fewest = cuts.front().exact_bytes;
    for (const FileCut& cut : cuts) {
        fewest = std::min(fewest, cut.exact_bytes);
    }
    const bool aligned_is_near = std::ranges::any_of(cuts, [&](const FileCut& cut) {
        return cut.on_blocks && static_cast<double>(cut.exact_bytes) <= kDirectPreferred * static_cast<double>(fewest);
    });
    return *std::ranges::min_element(cuts, {}, [&](const FileCut& cut) {
        return std::tuple(aligned_is_near && !cut.on_blocks, cut.exact_bytes, cut.kept_bytes, cut.mirrored);
    });
}

// Whether a plan that was read can be carried out on the files at hand: every number that decides what is read, written
// or taken of the memory.

namespace {

constexpr double kMostSteps = 1 << 26;  // more do not fit in memory as a list
constexpr std::int64_t kMostBuffers = 2;

[[noreturn]] void refuse(const std::string& why) {
    fail(ErrorCode::input, "the plan's cut of files cannot be carried out: {}", why);
}

/// A piece of `size` that is at least as large as any that is planned, and ends between units.
bool is_part(std::int64_t part, std::int64_t size, std::int64_t unit) {
    return part <= size && part >= least_cut(size, unit) && (part == size || part % unit == 0);
}

}  // namespace

void check_disk_plan(const FileProblem& problem, const ProductPlan& plan) {
    fail_if(!plan.disk, ErrorCode::input, "the plan is not for a product from file to file: disk={{...}} is missing");
    fail_if(plan.m != problem.m || plan.k != problem.k || plan.n != problem.n || plan.type != problem.type,
            ErrorCode::input,
            "the plan is for a product of {} x {} x {} in {}, and the files hold one of {} x {} x {} in {}", plan.m,
            plan.k, plan.n, type_name(plan.type), problem.m, problem.k, problem.n, type_name(problem.type));
    fail_if(problem.adds && !plan.accumulate, ErrorCode::input,
            "the plan is for a product that is not added to a matrix; plan it with --beta");
    if (plan.disk->algorithm.empty() != (plan.disk->levels == 0)) {
        refuse("outer levels have an algorithm, and an algorithm has levels");
    }
    if (rounds_once(plan) && is_float(plan.type) && (plan.disk->depth < problem.k || plan.disk->levels > 0)) {
        refuse("it rounds every number of C once, and panels of k or outer levels would round in between");
    }
}

void check_disk_cut(const FileProblem& problem, const DiskCut& cut) {
    const std::int64_t rows = cut.mirrored ? problem.n : problem.m, cols = cut.mirrored ? problem.m : problem.n;
    const std::int64_t unit = problem.a.packed ? kWord_bits : 1, row_unit = problem.a.by_columns ? unit : 1;
    if (!is_part(cut.tile_m, rows, row_unit) || !is_part(cut.tile_n, cols, unit)) {
        refuse(fmt::format("tiles of {} x {} of a result of {} x {}", cut.tile_m, cut.tile_n, rows, cols));
    }
    const bool cuts_k = cut.depth < problem.k;
    if (!is_part(cut.depth, problem.k, unit) || cut.first_depth < 1 || cut.first_depth > cut.depth ||
        (cuts_k && cut.first_depth % unit != 0) || (!cuts_k && cut.first_depth != problem.k) ||
        (cuts_k && (cut.kept != Kept::c || !may_cut_k(problem)))) {
        refuse(fmt::format("panels of {}, the first of {}, of k = {}", cut.depth, cut.first_depth, problem.k));
    }
    if (cut.strip_m < 1 || cut.strip_m > cut.tile_m || (cut.strip_m < cut.tile_m && cut.strip_m % row_unit != 0)) {
        refuse(fmt::format("strips of {} of tiles of {} rows", cut.strip_m, cut.tile_m));
    }
    if (cut.mirrored ? problem.a.packed || cut.kept == Kept::a : cut.kept == Kept::b) {
        refuse(fmt::format("it keeps {} and is {}mirrored", kept_name(cut.kept), cut.mirrored ? "" : "not "));
    }
    if (cut.panel_buffers < 1 || cut.panel_buffers > kMostBuffers) {
        refuse(fmt::format("{} buffers of panels", cut.panel_buffers));
    }
    const auto pieces = [](std::int64_t size, std::int64_t piece) {
        return static_cast<double>(ceil_div(size, piece));
    };
    if (pieces(rows, cut.strip_m) * pieces(cols, cut.tile_n) * (1 + pieces(problem.k, cut.depth)) > kMostSteps) {
        refuse("it has more steps than can be listed");
    }
}

}  // namespace heptad
