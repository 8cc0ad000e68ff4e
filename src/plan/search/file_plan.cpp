#include "plan/search/file_plan.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "base/size.hpp"
#include "plan/search/file_cuts.hpp"
#include "plan/search/file_schedule.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kUsualStrip = 256;  // fewer rows make poor products
constexpr std::int64_t kMostStrips = 16;   // of a tile, unless the device takes only lower ones
constexpr int kDepthsTried = 3;            // deep panels make good products, and leave them little workspace
constexpr double kClearlyFaster = 0.998;   // predictions that differ by less are alike
constexpr double kWideningAllowed = 1.01;  // direct I/O is given up where whole blocks move more than that

/// Of the memory, for what stays there and the thinnest panels. Where products need workspace in any case, not all.
constexpr std::array<double, 4> kSharesForCuts{1.0, 0.75, 0.5, 0.25};

/// Of these, where time decides: planning each takes a part of a second.
constexpr std::array<double, 3> kSharesByTime{1.0, 0.5, 0.25};

FilePlan plan_of_cut(const FileProblem& problem, const FileCut& cut) {
    FilePlan plan;
    plan.m = problem.m;
    plan.k = problem.k;
    plan.n = problem.n;
    plan.type = problem.type;
    plan.adds = problem.adds;
    plan.memory_bytes = problem.memory_bytes;
    plan.mirrored = cut.mirrored;
    plan.kept = !cut.keeps_left ? Kept::c : cut.mirrored ? Kept::b : Kept::a;
    plan.tile_m = cut.tile_m;
    plan.tile_n = cut.tile_n;
    plan.depth = plan.first_depth = problem.k;
    plan.strip_m = cut.tile_m;
    return plan;
}

/// The first panel ends where a block of the file ends, so that all others are whole blocks.
std::int64_t first_depth(const Oriented& o, std::int64_t depth, const FileCut& cut) {
    const bool a_along_k = !o.a.by_columns, b_along_k = o.b.by_columns;
    if (depth >= o.k || !cut.on_blocks || (!a_along_k && !b_along_k)) {
        return depth;
    }
    const FileLayout& along_k = a_along_k ? o.a : o.b;
    const std::int64_t head = along_k.data_offset % along_k.bytes_of(cut.unit);
    return head % along_k.element_bytes == 0 ? depth - along_k.elements_of(head) : depth;
}

/// Each file is read or written directly where whole blocks move hardly more than what is wanted.
void choose_blocks(const FileProblem& problem, FilePlan& plan) {
    plan.a_block = problem.a.block_bytes;
    plan.b_block = problem.b.block_bytes;
    plan.c_block = problem.c.block_bytes;
    const FileSchedule direct(plan, problem.a, problem.b, problem.c);
    const FileTraffic widened = direct.traffic();
    plan.a_block = plan.b_block = plan.c_block = 1;
    const FileTraffic exact = FileSchedule(plan, problem.a, problem.b, problem.c).traffic();
    const auto near = [](std::int64_t moved, std::int64_t wanted) {
        return static_cast<double>(moved) <= kWideningAllowed * static_cast<double>(wanted);
    };
    if (direct.may_read_a_directly() && near(widened.read_a_bytes, exact.read_a_bytes)) {
        plan.a_block = problem.a.block_bytes;
    }
    if (direct.may_read_b_directly() && near(widened.read_b_bytes, exact.read_b_bytes)) {
        plan.b_block = problem.b.block_bytes;
    }
    if (direct.may_write_directly()) {
        plan.c_block = problem.c.block_bytes;
    }
    const FileTraffic traffic = FileSchedule(plan, problem.a, problem.b, problem.c).traffic();
    plan.read_a_bytes = traffic.read_a_bytes;
    plan.read_b_bytes = traffic.read_b_bytes;
    plan.read_c0_bytes = traffic.read_c0_bytes;
    plan.written_bytes = traffic.written_bytes;
}

/// Memory of the panels and tiles of a plan whose cuts are known; the blocks are those of the problem.
void count_memory(const FileProblem& problem, FilePlan& plan) {
    const FileBuffers buffers = file_buffers(plan, problem.a, problem.b, problem.c);
    plan.tile_bytes = buffers.tiles * buffers.tile_bytes;
    plan.panel_bytes =
        buffers.panels * buffers.panel_bytes + buffers.strips * buffers.strip_bytes + buffers.turning_bytes;
    plan.check_bytes = check_bytes_of(plan, problem.line_bytes);
}

/// Predicted seconds of all products of the plan, and the workspace of the largest.
StagePrediction predict_all(const FilePlan& plan, std::int64_t m, std::int64_t n, const PredictStage& predict,
                            std::int64_t workspace_limit) {
    const std::int64_t panels = plan.depth >= plan.k ? 1 : ceil_div(plan.k - plan.first_depth, plan.depth) + 1;
    const StagePrediction one = predict({plan.strip_m, plan.depth, plan.tile_n, panels > 1 || plan.adds,
                                         workspace_limit, plan.tile_bytes, plan.panel_bytes});
    // Edges are smaller: time goes by volume.
    const double share =
        static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(plan.k) /
        (static_cast<double>(plan.strip_m) * static_cast<double>(plan.tile_n) * static_cast<double>(plan.depth));
    return {one.seconds * std::max(share, 1.0), one.workspace_bytes};
}

double wall_s(const FileProblem& problem, const FilePlan& plan, double read_bytes, double written_bytes) {
    const FileSchedule schedule(plan, problem.a, problem.b, problem.c);
    const auto seconds = [&](std::int64_t rows, std::int64_t cols, double rate) {
        return static_cast<double>(problem.a.bytes_of(rows * cols)) / rate;
    };
    const auto tiles = static_cast<double>(schedule.tiles()), panels = static_cast<double>(schedule.panels());
    const auto strips = static_cast<double>(schedule.strips(0));
    const double read = problem.read_bytes_per_s, write = problem.write_bytes_per_s;
    const double first = seconds(plan.first_depth, plan.tile_n + plan.strip_m, read);
    const double between_panels =
        plan.panel_buffers == 1 ? (tiles * panels - 1) * seconds(plan.depth, plan.tile_n, read) : 0;
    // A tile of one strip is not filled anew before all of it was written.
    const bool waits_for_writer = plan.kept == Kept::c && strips == 1;
    const double between_tiles = waits_for_writer ? (tiles - 1) * seconds(plan.strip_m, plan.tile_n, write) : 0;
    const std::int64_t last_tile = schedule.tiles() - 1;
    const FileWindow last = schedule.result_pieces(last_tile, schedule.strips(last_tile) - 1).back();
    const double products =
        first + plan.multiply_s + between_panels + between_tiles + seconds(last.rows, last.cols, write);
    const double disk = read_bytes / read + written_bytes / write + plan.multiply_s / (tiles * panels * strips);
    return std::max(products, disk);
}

/// How a tile is gone through: depth of panels (or width of pieces, where k is not cut) and height of strips, by the
/// predicted time of the run with the products that fit in what the kept matrix leaves free.
struct Settled {
    std::optional<FilePlan> plan;
    double wall_s = 0;
    bool stage_refused = false;  // steps that fit in the memory, and not in that of the device that multiplies
};
Settled settle(const FileProblem& problem, const FileCut& cut, const PredictStage& predict) {
    const Oriented o = oriented(problem, cut.mirrored);
    Settled settled;
    std::optional<FilePlan>& best = settled.plan;
    const auto consider = [&](FilePlan plan) {
        count_memory(problem, plan);
        const std::int64_t free = problem.memory_bytes - plan.tile_bytes - plan.panel_bytes - plan.check_bytes;
        if (free < 0) {
            return false;
        }
        const StagePrediction predicted = predict_all(plan, o.m, o.n, predict, free);
        if (!std::isfinite(predicted.seconds)) {
            settled.stage_refused = true;
            return false;
        }
        plan.workspace_bytes = predicted.workspace_bytes;
        plan.multiply_s = predicted.seconds;
        if (plan.workspace_bytes <= free) {
            const auto written = static_cast<double>(problem.c.total_bytes());
            const double wall = wall_s(problem, plan, static_cast<double>(cut.exact_bytes) - written, written);
            if (!best || wall < kClearlyFaster * settled.wall_s) {
                best = plan;
                settled.wall_s = wall;
            }
        }
        return true;
    };
    // Whole k, and a whole row of tiles, where that fits; then ever less.
    const std::int64_t longest = cut.keeps_left ? o.n : o.k;
    const auto may_have = [&](std::int64_t strips) {
        const bool too_large_for_stage = settled.stage_refused && !best;
        return strips <= kMostStrips || (too_large_for_stage && part_size(cut.tile_m, strips / 2, cut.row_unit) >
                                                                    least_cut(cut.tile_m, cut.row_unit));
    };
    const auto try_lengths = [&](FilePlan plan) {
        int fitting = 0;
        for (std::int64_t parts = 1; fitting < kDepthsTried;
             parts += std::max<std::int64_t>(1, parts / (fitting > 0 ? 3 : 8))) {
            const std::int64_t length = std::max(part_size(longest, parts, cut.unit), least_cut(longest, cut.unit));
            if (cut.keeps_left) {
                plan.tile_n = length;
            } else {
                plan.depth = length;
                plan.first_depth = first_depth(o, length, cut);
            }
            fitting += consider(plan) ? 1 : 0;
            if (length <= least_cut(longest, cut.unit)) {
                break;
            }
        }
    };
    FilePlan plan = plan_of_cut(problem, cut);
    for (std::int64_t strips = 1; may_have(strips); strips *= 2) {
        plan.strip_m = part_size(cut.tile_m, strips, cut.row_unit);
        if (strips > 1 && (plan.strip_m < std::min(cut.tile_m, kUsualStrip) && best)) {
            break;
        }
        const std::optional<FilePlan> before = best;
        try_lengths(plan);
        if (before && *best == *before) {  // still lower strips would be no better
            break;
        }
    }
    if (best && !cut.keeps_left) {
        plan.strip_m = best->strip_m;
        plan.panel_buffers = 1;
        try_lengths(plan);
    }
    return settled;
}

/// Of each kind and size of what stays in memory the cut with the fewest bytes, and of those the shortest run.
std::optional<FilePlan> fastest_plan(const FileProblem& problem, const PredictStage& predict) {
    std::optional<FilePlan> best;
    double best_s = 0;
    std::vector<FileCut> seen;
    for (const double share : kSharesByTime) {
        FileProblem narrower = problem;
        narrower.memory_bytes = static_cast<std::int64_t>(share * static_cast<double>(problem.memory_bytes));
        const std::vector<FileCut> cuts = all_cuts(narrower);
        for (const bool keeps_left : {false, true}) {
            std::vector<FileCut> of_kind = cuts;
            std::erase_if(of_kind,
                          [keeps_left](const FileCut& cut) { return cut.keeps_left != keeps_left || cut.mirrored; });
            if (of_kind.empty()) {
                continue;
            }
            const FileCut chosen = best_cut(of_kind);
            if (std::any_of(seen.begin(), seen.end(), [&](const FileCut& cut) { return same_cut(cut, chosen); })) {
                continue;
            }
            seen.push_back(chosen);
            const FileProblem as_cut = chosen.on_blocks ? problem : without_blocks(problem);
            Settled settled = settle(as_cut, chosen, predict);
            if (settled.plan && (!best || settled.wall_s < kClearlyFaster * best_s)) {
                choose_blocks(as_cut, *settled.plan);
                best = settled.plan;
                best_s = settled.wall_s;
            }
        }
    }
    return best;
}

/// Are even the smallest steps too large for the device that multiplies?
bool stage_takes_nothing(const FileProblem& problem, const PredictStage& predict) {
    const std::int64_t depth = may_cut_k(problem.type) ? least_cut(problem.k, 1) : problem.k;
    const StagePrediction smallest = predict({.m = least_cut(problem.m, 1),
                                              .k = depth,
                                              .n = least_cut(problem.n, 1),
                                              .accumulate = true,
                                              .workspace_limit_bytes = problem.memory_bytes});
    return !std::isfinite(smallest.seconds);
}

std::int64_t least_memory(const FileProblem& problem, const PredictStage& predict) {
    FileProblem larger = problem;
    for (larger.memory_bytes = std::max<std::int64_t>(problem.memory_bytes, 1024);; larger.memory_bytes *= 2) {
        for (const double share : kSharesForCuts) {
            FileProblem narrower = larger;
            narrower.memory_bytes = static_cast<std::int64_t>(share * static_cast<double>(larger.memory_bytes));
            for (const FileCut& cut : all_cuts(narrower)) {
                const FileProblem as_cut = cut.on_blocks ? larger : without_blocks(larger);
                if (settle(as_cut, cut, predict).plan) {
                    return larger.memory_bytes;
                }
            }
        }
    }
}

[[noreturn]] void fail_for_device(const FileProblem& problem) {
    fail(ErrorCode::resource,
         "no step of a product of {} x {} x {} {} in {} bytes of memory fits in the device memory that is free; free "
         "some, give a larger --device-memory, or multiply with --device cpu",
         problem.m, problem.k, problem.n, type_name(problem.type), problem.memory_bytes);
}

}  // namespace

std::int64_t check_bytes_of(const FilePlan& plan, std::int64_t line_bytes) {
    return check_bytes(line_bytes, plan.tile_m, plan.tile_n, plan.depth, plan.strip_m);
}

const char* kept_name(Kept kept) {
    return kept == Kept::a ? "A" : kept == Kept::b ? "B" : "C";
}

FilePlan plan_files(const FileProblem& problem, const PredictStage& predict) {
    if (problem.m == 0 || problem.n == 0 || problem.k == 0) {
        fail(ErrorCode::input,
             "a product of {} x {} x {} has nothing to read piece by piece, and so no plan; 'heptad mul' makes it at "
             "once",
             problem.m, problem.k, problem.n);
    }
    if (problem.by_time) {
        if (const std::optional<FilePlan> fastest = fastest_plan(problem, predict)) {
            return *fastest;
        }
    }
    bool stage_refused = false;
    for (const double share : kSharesForCuts) {
        FileProblem narrower = problem;
        narrower.memory_bytes = static_cast<std::int64_t>(share * static_cast<double>(problem.memory_bytes));
        std::vector<FileCut> cuts = all_cuts(narrower);
        while (!cuts.empty()) {
            const FileCut chosen = best_cut(cuts);
            const FileProblem as_cut = chosen.on_blocks ? problem : without_blocks(problem);
            Settled settled = settle(as_cut, chosen, predict);
            if (settled.plan) {
                choose_blocks(as_cut, *settled.plan);
                return *settled.plan;
            }
            if (settled.stage_refused && !stage_refused && stage_takes_nothing(problem, predict)) {
                fail_for_device(problem);
            }
            stage_refused = stage_refused || settled.stage_refused;
            std::erase_if(cuts, [&](const FileCut& cut) { return same_cut(cut, chosen); });
        }
    }
    if (stage_refused) {
        fail_for_device(problem);
    }
    fail(
        ErrorCode::resource,
        "a product of {} x {} x {} {} from file to file needs about {} bytes of memory, and {} bytes are allowed; give "
        "a larger --memory",
        problem.m, problem.k, problem.n, type_name(problem.type), least_memory(problem, predict), problem.memory_bytes);
}

double predicted_wall_s(const FileProblem& problem, const FilePlan& plan) {
    const std::int64_t read = plan.read_a_bytes + plan.read_b_bytes + plan.read_c0_bytes;
    return wall_s(problem, plan, static_cast<double>(read), static_cast<double>(plan.written_bytes));
}

std::int64_t reference_bytes(const FileProblem& problem) {
    const auto room = static_cast<double>(problem.memory_bytes) * 0.9;
    const double element = problem.a.packed ? 0.125 : static_cast<double>(problem.a.element_bytes);
    const auto fits = [&](std::int64_t rows, std::int64_t cols) {
        return static_cast<double>(rows) * static_cast<double>(cols) * element <= room;
    };
    const std::int64_t a = problem.a.total_bytes(), b = problem.b.total_bytes(), c = problem.c.total_bytes();
    std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t p = 1; p <= problem.m; ++p) {
        const std::int64_t rows = ceil_div(problem.m, p);
        if (fits(rows, problem.k)) {  // keep A
            fewest = std::min(fewest, a + p * b + c);
        }
        const auto widest = static_cast<std::int64_t>(room / (static_cast<double>(rows) * element));
        if (widest >= 1) {
            fewest = std::min(fewest, ceil_div(problem.n, std::min(widest, problem.n)) * a + p * b + c);
            if (widest >= problem.n) {
                break;
            }
        }
    }
    for (std::int64_t q = 1; q <= problem.n; ++q) {
        if (fits(problem.k, ceil_div(problem.n, q))) {  // keep B
            fewest = std::min(fewest, q * a + b + c);
            break;
        }
    }
    return fewest + (problem.adds ? c : 0);
}

std::int64_t lower_bound_bytes(const FileProblem& problem) {
    const auto a = static_cast<double>(problem.a.total_bytes()), b = static_cast<double>(problem.b.total_bytes()),
               c = static_cast<double>(problem.c.total_bytes());
    const double read = std::max(a + b, 2 * std::sqrt(a * b * c / static_cast<double>(problem.memory_bytes)));
    return static_cast<std::int64_t>(read + c + (problem.adds ? c : 0));
}

}  // namespace heptad
