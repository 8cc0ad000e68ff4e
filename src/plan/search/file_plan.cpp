#include "plan/search/file_plan.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/size.hpp"
#include "plan/search/file_schedule.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kLeastCut = 16;     // no dimension is cut finer than that
constexpr std::int64_t kUsualStrip = 256;  // fewer rows make poor products
constexpr std::int64_t kMostStrips = 16;   // of a tile, unless the device takes only lower ones
constexpr int kDepthsTried = 3;            // deep panels make good products, and leave them little workspace
constexpr double kClearlyFaster = 0.998;   // predictions that differ by less are alike
constexpr double kWideningAllowed = 1.01;  // direct I/O is given up where whole blocks move more than that
constexpr double kDirectPreferred = 1.01;  // and cuts on blocks where they cost more than that

/// Of the memory, for what stays there and the thinnest panels. Where products need workspace in any case, not all.
constexpr std::array<double, 4> kSharesForCuts{1.0, 0.75, 0.5, 0.25};

/// Of these, where time decides: planning each takes a part of a second.
constexpr std::array<double, 3> kSharesByTime{1.0, 0.5, 0.25};

/// The product as carried out; mirrored ones are transposed.
struct Oriented {
    std::int64_t m, k, n;
    FileLayout a, b, c;
    std::int64_t line_bytes;
};

Oriented oriented(const FileProblem& problem, bool mirrored) {
    if (mirrored) {
        return {problem.n,
                problem.k,
                problem.m,
                transposed(problem.b),
                transposed(problem.a),
                transposed(problem.c),
                problem.line_bytes};
    }
    return {problem.m, problem.k, problem.n, problem.a, problem.b, problem.c, problem.line_bytes};
}

/// A cut of `size` into `parts` nearly equal parts, each but the last a multiple of `unit`.
std::int64_t part_size(std::int64_t size, std::int64_t parts, std::int64_t unit) {
    return std::min(size, round_up(ceil_div(size, parts), unit));
}

std::int64_t least_cut(std::int64_t size, std::int64_t unit) {
    return std::min(size, std::max(unit, kLeastCut));
}

/// Tiles before the details: what decides the bytes that are moved.
struct Cut {
    bool mirrored = false;
    bool keeps_left = false;  // of the product as carried out; else C
    std::int64_t unit = 1, row_unit = 1;
    bool on_blocks = false;  // else the files are read and written through the cache
    std::int64_t tile_m = 0, tile_n = 0;
    std::int64_t exact_bytes = 0;  // without widening
    std::int64_t kept_bytes = 0;
};

/// Bytes of so many elements of the files, packed or not.
std::int64_t area_bytes(const Oriented& o, std::int64_t elements) {
    return o.a.bytes_of(elements);
}

std::int64_t exact_bytes(const Oriented& o, const Cut& cut) {
    const std::int64_t down = ceil_div(o.m, cut.tile_m);
    const std::int64_t across = cut.keeps_left ? 1 : ceil_div(o.n, cut.tile_n);
    return checked_add(checked_add(checked_mul(across, o.a.total_bytes()), checked_mul(down, o.b.total_bytes())),
                       o.c.total_bytes());
}

constexpr std::int64_t kPanelsOfB = 2;
constexpr std::int64_t kStripsOfA = 2;

/// A window of whole lines may begin anywhere in a block.
std::int64_t whole_line_slack(const Oriented& o) {
    return 2 * (kStripsOfA * o.a.block_bytes + kPanelsOfB * o.b.block_bytes + o.c.block_bytes);
}

/// Memory to check with: vectors for the tile, a panel and a strip, and what becomes of the latter two.
std::int64_t check_bytes(std::int64_t line_bytes, std::int64_t tile_m, std::int64_t tile_n, std::int64_t depth,
                         std::int64_t strip) {
    return line_bytes * (tile_m + tile_n + 2 * depth + 2 * strip);
}

/// Memory that a kept C needs at least: the tile, two panels of B and two strips of A, all as thin as allowed.
std::int64_t least_beside_tile(const Oriented& o, const Cut& cut, std::int64_t tile_m, std::int64_t tile_n) {
    const std::int64_t depth = least_cut(o.k, cut.unit), row_unit = cut.row_unit;
    const std::int64_t strip = std::min(tile_m, std::max(row_unit, kLeastCut));
    return area_bytes(o, (kPanelsOfB * tile_n + kStripsOfA * strip) * depth) + whole_line_slack(o) +
           check_bytes(o.line_bytes, tile_m, tile_n, depth, strip);
}

/// Keep C: for every p the widest tile that fits; more tiles down cost B again, more across cost A again.
void search_kept_c(const Oriented& o, Cut cut, std::int64_t memory, std::vector<Cut>& found) {
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
void search_kept_left(const Oriented& o, Cut cut, std::int64_t memory, std::vector<Cut>& found) {
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

/// Sums in f32 would lose what 16-bit floats cannot hold between panels: there k is never cut.
bool may_cut_k(Type type) {
    return type != Type::bf16 && type != Type::f16;
}

/// Cuts anywhere, not only on blocks, mean files that are read and written through the cache.
FileProblem without_blocks(FileProblem problem) {
    problem.a.block_bytes = problem.b.block_bytes = problem.c.block_bytes = 1;
    return problem;
}

std::vector<Cut> all_cuts(const FileProblem& problem) {
    const std::int64_t block = std::max({problem.a.block_bytes, problem.b.block_bytes, problem.c.block_bytes});
    constexpr std::int64_t kWord_bits = 64;
    std::vector<std::pair<std::int64_t, bool>> units{{problem.a.packed ? kWord_bits : 1, false}};
    if (block > problem.a.element_bytes) {
        units.emplace_back(problem.a.elements_of(block), true);
    }
    const std::int64_t memory = problem.memory_bytes - turning_bytes(problem.memory_bytes, problem.a, problem.b);
    std::vector<Cut> found;
    for (const auto& [unit, on_blocks] : units) {
        for (const bool mirrored : {false, true}) {
            if (mirrored && problem.a.packed) {  // bits lie by rows
                continue;
            }
            const Oriented o = oriented(on_blocks ? problem : without_blocks(problem), mirrored);
            // Cuts between rows of bits are cuts between bytes, unless A lies the other way round.
            const bool any_row = problem.a.packed && !problem.a.by_columns;
            const Cut start{.mirrored = mirrored, .unit = unit, .row_unit = any_row ? 1 : unit, .on_blocks = on_blocks};
            if (may_cut_k(problem.type)) {
                search_kept_c(o, start, memory, found);
            }
            search_kept_left(o, start, memory, found);
        }
    }
    return found;
}

bool same_cut(const Cut& x, const Cut& y) {
    return x.mirrored == y.mirrored && x.keeps_left == y.keeps_left && x.on_blocks == y.on_blocks &&
           x.tile_m == y.tile_m && x.tile_n == y.tile_n;
}

/// Fewest bytes; then cuts on blocks, the smallest kept matrix (what is free makes panels deep), and not mirrored.
const Cut& best_cut(const std::vector<Cut>& cuts) {
    std::int64_t fewest = cuts.front().exact_bytes;
    for (const Cut& cut : cuts) {
        fewest = std::min(fewest, cut.exact_bytes);
    }
    const bool aligned_is_near = std::any_of(cuts.begin(), cuts.end(), [&](const Cut& cut) {
        return cut.on_blocks && static_cast<double>(cut.exact_bytes) <= kDirectPreferred * static_cast<double>(fewest);
    });
    const Cut* best = nullptr;
    for (const Cut& cut : cuts) {
        if (aligned_is_near && !cut.on_blocks) {
            continue;
        }
        const auto rank = [](const Cut& c) { return std::tuple(c.exact_bytes, c.kept_bytes, c.mirrored); };
        if (best == nullptr || rank(cut) < rank(*best)) {
            best = &cut;
        }
    }
    return *best;
}

FilePlan plan_of_cut(const FileProblem& problem, const Cut& cut) {
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
std::int64_t first_depth(const Oriented& o, std::int64_t depth, const Cut& cut) {
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
Settled settle(const FileProblem& problem, const Cut& cut, const PredictStage& predict) {
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
    std::vector<Cut> seen;
    for (const double share : kSharesByTime) {
        FileProblem narrower = problem;
        narrower.memory_bytes = static_cast<std::int64_t>(share * static_cast<double>(problem.memory_bytes));
        const std::vector<Cut> cuts = all_cuts(narrower);
        for (const bool keeps_left : {false, true}) {
            std::vector<Cut> of_kind = cuts;
            std::erase_if(of_kind,
                          [keeps_left](const Cut& cut) { return cut.keeps_left != keeps_left || cut.mirrored; });
            if (of_kind.empty()) {
                continue;
            }
            const Cut chosen = best_cut(of_kind);
            if (std::any_of(seen.begin(), seen.end(), [&](const Cut& cut) { return same_cut(cut, chosen); })) {
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
            for (const Cut& cut : all_cuts(narrower)) {
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
        std::vector<Cut> cuts = all_cuts(narrower);
        while (!cuts.empty()) {
            const Cut chosen = best_cut(cuts);
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
            std::erase_if(cuts, [&](const Cut& cut) { return same_cut(cut, chosen); });
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
