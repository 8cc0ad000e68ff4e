#include "plan/search/file_plan.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/fail_if.hpp"
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

/// A way to go through the files, and what it takes.
struct Candidate {
    DiskCut cut;
    FileTraffic traffic;
    bool operator==(const Candidate&) const = default;
};

DiskCut start_of(const FileProblem& problem, const FileCut& cut) {
    DiskCut start{.memory_bytes = problem.memory_bytes, .mirrored = cut.mirrored};
    start.kept = !cut.keeps_left ? Kept::c : cut.mirrored ? Kept::b : Kept::a;
    start.tile_m = cut.tile_m;
    start.tile_n = cut.tile_n;
    start.depth = start.first_depth = problem.k;
    start.strip_m = cut.tile_m;
    return start;
}

DiskCut with_blocks(DiskCut cut, std::int64_t a, std::int64_t b, std::int64_t c) {
    cut.a_block = a;
    cut.b_block = b;
    cut.c_block = c;
    return cut;
}
/// As if all files were read and written directly.
DiskCut on_all_blocks(const FileProblem& problem, const DiskCut& cut) {
    return with_blocks(cut, problem.a.block_bytes, problem.b.block_bytes, problem.c.block_bytes);
}

/// The first panel ends where a block of the file ends, so that all others are whole blocks.
std::int64_t first_depth(const FileProblem& o, std::int64_t depth, const FileCut& cut) {
    const bool a_along_k = !o.a.by_columns, b_along_k = o.b.by_columns;
    if (depth >= o.k || !cut.on_blocks || (!a_along_k && !b_along_k)) {
        return depth;
    }
    const FileLayout& along_k = a_along_k ? o.a : o.b;
    const std::int64_t head = along_k.data_offset % along_k.bytes_of(cut.unit);
    return head % along_k.element_bytes == 0 ? depth - along_k.elements_of(head) : depth;
}

/// Each file is read or written directly where whole blocks move hardly more than what is wanted.
DiskCut choose_blocks(const FileProblem& problem, const DiskCut& cut) {
    const FileSchedule direct(problem, on_all_blocks(problem, cut));
    const FileTraffic widened = direct.traffic();
    const FileTraffic exact = FileSchedule(problem, with_blocks(cut, 1, 1, 1)).traffic();
    const auto near = [](std::int64_t moved, std::int64_t wanted) {
        return static_cast<double>(moved) <= kWideningAllowed * static_cast<double>(wanted);
    };
    const bool a = direct.may_read_a_directly() && near(widened.read_a_bytes, exact.read_a_bytes);
    const bool b = direct.may_read_b_directly() && near(widened.read_b_bytes, exact.read_b_bytes);
    return with_blocks(cut, a ? problem.a.block_bytes : 1, b ? problem.b.block_bytes : 1,
                       direct.may_write_directly() ? problem.c.block_bytes : 1);
}

/// Memory of the panels and tiles of a cut.
void count_memory(const FileProblem& problem, const DiskCut& cut, FileTraffic& traffic) {
    const FileBuffers buffers = file_buffers(problem, cut);
    traffic.tile_bytes = buffers.tiles * buffers.tile_bytes;
    traffic.panel_bytes =
        buffers.panels * buffers.panel_bytes + buffers.strips * buffers.strip_bytes + buffers.turning_bytes;
    traffic.check_bytes = check_bytes(problem.line_bytes, cut.tile_m, cut.tile_n, cut.depth, cut.strip_m);
}

/// Predicted seconds of all products of the cut, and the workspace of the largest.
StagePrediction predict_all(const FileProblem& o, const Candidate& candidate, const PredictStage& predict,
                            std::int64_t workspace_limit) {
    const auto& [cut, traffic] = candidate;
    const std::int64_t panels = cut.depth >= o.k ? 1 : ceil_div(o.k - cut.first_depth, cut.depth) + 1;
    const StagePrediction one = predict({cut.strip_m, cut.depth, cut.tile_n, panels > 1 || o.adds, workspace_limit,
                                         traffic.tile_bytes, traffic.panel_bytes});
    // Edges are smaller: time goes by volume.
    const double share =
        static_cast<double>(o.m) * static_cast<double>(o.n) * static_cast<double>(o.k) /
        (static_cast<double>(cut.strip_m) * static_cast<double>(cut.tile_n) * static_cast<double>(cut.depth));
    return {one.seconds * std::max(share, 1.0), one.workspace_bytes};
}

double wall_s(const FileProblem& problem, const DiskCut& cut, double multiply_s, double read_bytes,
              double written_bytes) {
    const FileSchedule schedule(problem, cut);
    const auto seconds = [&](std::int64_t rows, std::int64_t cols, double rate) {
        return static_cast<double>(problem.a.bytes_of(rows * cols)) / rate;
    };
    const auto tiles = static_cast<double>(schedule.tiles()), panels = static_cast<double>(schedule.panels());
    const auto strips = static_cast<double>(schedule.strips(0));
    const double read = problem.read_bytes_per_s, write = problem.write_bytes_per_s;
    const double first = seconds(cut.first_depth, cut.tile_n + cut.strip_m, read);
    const double between_panels =
        cut.panel_buffers == 1 ? (tiles * panels - 1) * seconds(cut.depth, cut.tile_n, read) : 0;
    // A tile of one strip is not filled anew before all of it was written.
    const bool waits_for_writer = cut.kept == Kept::c && strips == 1;
    const double between_tiles = waits_for_writer ? (tiles - 1) * seconds(cut.strip_m, cut.tile_n, write) : 0;
    const std::int64_t last_tile = schedule.tiles() - 1;
    const FileWindow last = schedule.result_pieces(last_tile, schedule.strips(last_tile) - 1).back();
    const double products = first + multiply_s + between_panels + between_tiles + seconds(last.rows, last.cols, write);
    const double disk = read_bytes / read + written_bytes / write + multiply_s / (tiles * panels * strips);
    return std::max(products, disk);
}

/// How a tile is gone through: depth of panels (or width of pieces, where k is not cut) and height of strips, by the
/// predicted time of the run with the products that fit in what the kept matrix leaves free.
struct Settled {
    std::optional<Candidate> best;
    double wall_s = 0;
    bool stage_refused = false;  // steps that fit in the memory, and not in that of the device that multiplies
};
Settled settle(const FileProblem& problem, const FileCut& cut, const PredictStage& predict) {
    const FileProblem o = oriented(problem, cut.mirrored);
    Settled settled;
    std::optional<Candidate>& best = settled.best;
    const auto consider = [&](const DiskCut& way) {
        Candidate candidate{way, {}};
        FileTraffic& traffic = candidate.traffic;
        count_memory(problem, on_all_blocks(problem, way), traffic);
        const std::int64_t free = problem.memory_bytes - traffic.tile_bytes - traffic.panel_bytes - traffic.check_bytes;
        if (free < 0) {
            return false;
        }
        const StagePrediction predicted = predict_all(o, candidate, predict, free);
        if (!std::isfinite(predicted.seconds)) {
            settled.stage_refused = true;
            return false;
        }
        if (predicted.workspace_bytes > free) {
            return false;
        }
        traffic.workspace_bytes = predicted.workspace_bytes;
        traffic.multiply_s = predicted.seconds;
        const auto written = static_cast<double>(problem.c.total_bytes());
        const double wall =
            wall_s(problem, way, traffic.multiply_s, static_cast<double>(cut.exact_bytes) - written, written);
        if (!best || wall < kClearlyFaster * settled.wall_s) {
            best = candidate;
            settled.wall_s = wall;
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
    const auto try_lengths = [&](DiskCut way) {
        int fitting = 0;
        for (std::int64_t parts = 1; fitting < kDepthsTried;
             parts += std::max<std::int64_t>(1, parts / (fitting > 0 ? 3 : 8))) {
            const std::int64_t length = std::max(part_size(longest, parts, cut.unit), least_cut(longest, cut.unit));
            if (cut.keeps_left) {
                way.tile_n = length;
            } else {
                way.depth = length;
                way.first_depth = first_depth(o, length, cut);
            }
            fitting += consider(way) ? 1 : 0;
            if (length <= least_cut(longest, cut.unit)) {
                break;
            }
        }
    };
    DiskCut way = start_of(problem, cut);
    for (std::int64_t strips = 1; may_have(strips); strips *= 2) {
        way.strip_m = part_size(cut.tile_m, strips, cut.row_unit);
        if (strips > 1 && (way.strip_m < std::min(cut.tile_m, kUsualStrip) && best)) {
            break;
        }
        const std::optional<Candidate> before = best;
        try_lengths(way);
        if (before && *best == *before) {  // still lower strips would be no better
            break;
        }
    }
    if (best && !cut.keeps_left) {
        way.strip_m = best->cut.strip_m;
        way.panel_buffers = 1;
        try_lengths(way);
    }
    return settled;
}

/// The plan of what was settled, and what it takes.
FileChoice choice_of(const FileProblem& problem, const FileProblem& as_cut, const Candidate& settled) {
    FileChoice choice{plan_of_size(problem_size(problem), problem.type), {}};
    ProductPlan& plan = choice.plan;
    plan.accumulate = problem.adds;
    plan.leaf = kAutomaticLeaf;
    plan.disk = choose_blocks(as_cut, settled.cut);
    plan.workspace_bytes = settled.traffic.workspace_bytes;
    choice.traffic = file_traffic(problem, *plan.disk, plan.workspace_bytes);
    choice.traffic.multiply_s = settled.traffic.multiply_s;
    plan.predicted_s = predicted_wall_s(problem, *plan.disk, choice.traffic);
    return choice;
}

/// Of each kind and size of what stays in memory the cut with the fewest bytes, and of those the shortest run.
std::optional<FileChoice> fastest_plan(const FileProblem& problem, const PredictStage& predict) {
    std::optional<FileChoice> best;
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
            if (std::ranges::find(seen, chosen) != seen.end()) {
                continue;
            }
            seen.push_back(chosen);
            const FileProblem as_cut = chosen.on_blocks ? problem : without_blocks(problem);
            const Settled settled = settle(as_cut, chosen, predict);
            if (settled.best && (!best || settled.wall_s < kClearlyFaster * best_s)) {
                best = choice_of(problem, as_cut, *settled.best);
                best_s = settled.wall_s;
            }
        }
    }
    return best;
}

/// Are even the smallest steps too large for the device that multiplies?
bool stage_takes_nothing(const FileProblem& problem, const PredictStage& predict) {
    const std::int64_t depth = may_cut_k(problem) ? least_cut(problem.k, 1) : problem.k;
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
                if (settle(as_cut, cut, predict).best) {
                    return larger.memory_bytes;
                }
            }
        }
    }
}

[[noreturn]] void fail_for_device(const FileProblem& problem) {
    fail(ErrorCode::resource,
         "no step of a product of {} x {} x {} {} in {} bytes of memory fits in the free device memory; free "
         "some, give a larger --device-memory, or multiply with --device cpu",
         problem.m, problem.k, problem.n, type_name(problem.type), problem.memory_bytes);
}

}  // namespace

FileProblem oriented(FileProblem problem, bool mirrored) {
    if (mirrored) {
        std::swap(problem.m, problem.n);
        std::swap(problem.a, problem.b);
        for (FileLayout* const layout : {&problem.a, &problem.b, &problem.c}) {
            *layout = transposed(*layout);
        }
    }
    return problem;
}

FileChoice plan_files(const FileProblem& problem, const PredictStage& predict) {
    fail_if(problem.m == 0 || problem.n == 0 || problem.k == 0, ErrorCode::input,
            "a product of {} x {} x {} has nothing to read piece by piece, so it has no such plan; 'heptad mul' "
            "multiplies it at once",
            problem.m, problem.k, problem.n);
    if (problem.by_time || problem.whole_k) {  // products that are made at once gain much by workspace
        if (const std::optional<FileChoice> fastest = fastest_plan(problem, predict)) {
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
            const Settled settled = settle(as_cut, chosen, predict);
            if (settled.best) {
                return choice_of(problem, as_cut, *settled.best);
            }
            if (settled.stage_refused && !stage_refused && stage_takes_nothing(problem, predict)) {
                fail_for_device(problem);
            }
            stage_refused = stage_refused || settled.stage_refused;
            std::erase(cuts, chosen);
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

FileTraffic file_traffic(const FileProblem& problem, const DiskCut& cut, std::int64_t workspace_bytes) {
    FileTraffic traffic = FileSchedule(problem, cut).traffic();
    count_memory(problem, cut, traffic);
    traffic.workspace_bytes = workspace_bytes;
    checked_add(traffic.tile_bytes + traffic.panel_bytes + traffic.check_bytes, workspace_bytes);
    return traffic;
}

FileChoice file_choice(const FileProblem& problem, ProductPlan plan) {
    check_disk_plan(problem, plan);
    check_disk_cut(problem, *plan.disk);
    plan.disk = with_fitting_blocks(problem, *plan.disk);
    return {plan, file_traffic(problem, *plan.disk, plan.workspace_bytes)};
}

DiskCut with_fitting_blocks(const FileProblem& problem, const DiskCut& cut) {
    const DiskCut chosen = choose_blocks(problem, cut);
    return with_blocks(cut, cut.a_block > 1 ? chosen.a_block : 1, cut.b_block > 1 ? chosen.b_block : 1,
                       cut.c_block > 1 ? chosen.c_block : 1);
}

double predicted_wall_s(const FileProblem& problem, const DiskCut& cut, const FileTraffic& traffic) {
    return wall_s(problem, cut, traffic.multiply_s, static_cast<double>(traffic.read_bytes()),
                  static_cast<double>(traffic.written_bytes));
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
