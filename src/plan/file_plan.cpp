#include "plan/file_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

#include "base/error.hpp"
#include "base/size.hpp"
#include "plan/file_schedule.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kLeastCut = 16;     // no dimension is cut finer than that
constexpr std::int64_t kUsualStrip = 256;  // fewer rows make poor products
constexpr std::int64_t kMostStrips = 16;   // of a tile, unless the device takes only lower ones
constexpr int kDepthsTried = 3;            // deep panels make good products, and leave them little workspace
constexpr double kWideningAllowed = 1.01;  // direct I/O is given up where whole blocks move more than that
constexpr double kDirectPreferred = 1.01;  // and cuts on blocks where they cost more than that

/// The product as carried out; mirrored ones are transposed.
struct Oriented {
    std::int64_t m, k, n;
    FileLayout a, b, c;
};

Oriented oriented(const FileProblem& problem, bool mirrored) {
    if (mirrored) {
        return {problem.n, problem.k, problem.m, transposed(problem.b), transposed(problem.a), transposed(problem.c)};
    }
    return {problem.m, problem.k, problem.n, problem.a, problem.b, problem.c};
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
    std::int64_t unit = 1;
    std::int64_t tile_m = 0, tile_n = 0;
    std::int64_t exact_bytes = 0;  // without widening
    std::int64_t kept_bytes = 0;
};

std::int64_t exact_bytes(const Oriented& o, const Cut& cut) {
    const std::int64_t down = ceil_div(o.m, cut.tile_m);
    const std::int64_t across = cut.keeps_left ? 1 : ceil_div(o.n, cut.tile_n);
    return checked_add(checked_add(checked_mul(across, o.a.total_bytes()), checked_mul(down, o.b.total_bytes())),
                       o.c.total_bytes());
}

constexpr std::int64_t kPanelsOfB = 2;
constexpr std::int64_t kStripsOfA = 3;

/// A window of whole lines may begin anywhere in a block.
std::int64_t whole_line_slack(const Oriented& o) {
    return 2 * (kStripsOfA * o.a.block_bytes + kPanelsOfB * o.b.block_bytes + o.c.block_bytes);
}

/// Memory that a kept C needs at least: the tile, two panels of B and three strips of A, all as thin as allowed.
std::int64_t least_beside_tile(const Oriented& o, std::int64_t unit, std::int64_t tile_m, std::int64_t tile_n) {
    const std::int64_t depth = least_cut(o.k, unit);
    const std::int64_t strip = std::min(tile_m, std::max(unit, kLeastCut));
    return (kPanelsOfB * tile_n + kStripsOfA * strip) * depth * o.a.element_bytes + whole_line_slack(o);
}

/// Keep C: for every p the widest tile that fits; more tiles down cost B again, more across cost A again.
void search_kept_c(const Oriented& o, Cut cut, std::int64_t memory, std::vector<Cut>& found) {
    const std::int64_t element = o.a.element_bytes;
    for (std::int64_t p = 1;; ++p) {
        cut.tile_m = part_size(o.m, p, cut.unit);
        const std::int64_t narrow = least_cut(o.n, cut.unit);
        // tile_m * w * e + (2 w + 3 strip) * depth * e <= memory, solved for w
        const std::int64_t fixed = least_beside_tile(o, cut.unit, cut.tile_m, 0);
        const std::int64_t per_column = (cut.tile_m + kPanelsOfB * least_cut(o.k, cut.unit)) * element;
        const std::int64_t widest = memory > fixed ? (memory - fixed) / per_column : 0;
        if (widest >= narrow) {
            const std::int64_t whole = widest >= o.n ? o.n : std::max(narrow, widest / cut.unit * cut.unit);
            cut.tile_n = part_size(o.n, ceil_div(o.n, whole), cut.unit);
            cut.kept_bytes = cut.tile_m * cut.tile_n * element;
            cut.exact_bytes = exact_bytes(o, cut);
            found.push_back(cut);
            if (cut.tile_n >= o.n) {
                return;
            }
        }
        if (cut.tile_m <= least_cut(o.m, cut.unit)) {
            return;
        }
    }
}

/// Keep A: blocks of rows with the whole of k. The first that fits is the best.
void search_kept_left(const Oriented& o, Cut cut, std::int64_t memory, std::vector<Cut>& found) {
    const std::int64_t element = o.a.element_bytes;
    const std::int64_t narrow = least_cut(o.n, cut.unit);
    cut.keeps_left = true;
    for (std::int64_t p = 1;; ++p) {
        cut.tile_m = part_size(o.m, p, cut.unit);
        cut.tile_n = narrow;
        cut.kept_bytes = cut.tile_m * o.k * element;
        const std::int64_t streamed = kPanelsOfB * (o.k + cut.tile_m) * narrow * element;
        if (cut.kept_bytes + streamed + whole_line_slack(o) <= memory) {
            cut.exact_bytes = exact_bytes(o, cut);
            found.push_back(cut);
            return;
        }
        if (cut.tile_m <= least_cut(o.m, cut.unit)) {
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
    std::vector<std::int64_t> units{1};
    if (block > problem.a.element_bytes) {
        units.push_back(block / problem.a.element_bytes);
    }
    std::vector<Cut> found;
    for (const std::int64_t unit : units) {
        for (const bool mirrored : {false, true}) {
            const Oriented o = oriented(unit == 1 ? without_blocks(problem) : problem, mirrored);
            const Cut start{.mirrored = mirrored, .unit = unit};
            if (may_cut_k(problem.type)) {
                search_kept_c(o, start, problem.memory_bytes, found);
            }
            search_kept_left(o, start, problem.memory_bytes, found);
        }
    }
    return found;
}

/// Fewest bytes; then cuts on blocks, the smallest kept matrix (what is free makes panels deep), and not mirrored.
const Cut& best_cut(const std::vector<Cut>& cuts) {
    std::int64_t fewest = cuts.front().exact_bytes;
    for (const Cut& cut : cuts) {
        fewest = std::min(fewest, cut.exact_bytes);
    }
    const bool aligned_is_near = std::any_of(cuts.begin(), cuts.end(), [&](const Cut& cut) {
        return cut.unit > 1 && static_cast<double>(cut.exact_bytes) <= kDirectPreferred * static_cast<double>(fewest);
    });
    const Cut* best = nullptr;
    for (const Cut& cut : cuts) {
        if (aligned_is_near && cut.unit == 1) {
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
std::int64_t first_depth(const Oriented& o, std::int64_t depth, std::int64_t unit) {
    const bool a_along_k = !o.a.by_columns, b_along_k = o.b.by_columns;
    if (depth >= o.k || unit == 1 || (!a_along_k && !b_along_k)) {
        return depth;
    }
    const FileLayout& along_k = a_along_k ? o.a : o.b;
    const std::int64_t head = along_k.data_offset % (unit * along_k.element_bytes);
    return head % along_k.element_bytes == 0 ? depth - head / along_k.element_bytes : depth;
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
    plan.panel_bytes = buffers.panels * buffers.panel_bytes + buffers.strips * buffers.strip_bytes;
}

/// Predicted seconds of all products of the plan, and the workspace of the largest.
StagePrediction predict_all(const FilePlan& plan, std::int64_t m, std::int64_t n, const PredictStage& predict,
                            std::int64_t workspace_limit) {
    const std::int64_t panels = plan.depth >= plan.k ? 1 : ceil_div(plan.k - plan.first_depth, plan.depth) + 1;
    const StagePrediction one =
        predict(plan.strip_m, plan.depth, plan.tile_n, panels > 1 || plan.adds, workspace_limit);
    // Edges are smaller: time goes by volume.
    const double share =
        static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(plan.k) /
        (static_cast<double>(plan.strip_m) * static_cast<double>(plan.tile_n) * static_cast<double>(plan.depth));
    return {one.seconds * std::max(share, 1.0), one.workspace_bytes};
}

/// How a tile is gone through: depth of panels (or width of pieces, where k is not cut) and height of strips, by the
/// predicted time of the products that fit in what the kept matrix leaves free.
struct Settled {
    std::optional<FilePlan> plan;
    bool stage_refused = false;  // steps that fit in the memory, and not in that of the device that multiplies
};
Settled settle(const FileProblem& problem, const Cut& cut, const PredictStage& predict) {
    const Oriented o = oriented(problem, cut.mirrored);
    Settled settled;
    std::optional<FilePlan>& best = settled.plan;
    const auto consider = [&](FilePlan plan) {
        count_memory(problem, plan);
        const std::int64_t free = problem.memory_bytes - plan.tile_bytes - plan.panel_bytes;
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
        if (plan.workspace_bytes <= free && (!best || plan.multiply_s < 0.99 * best->multiply_s)) {
            best = plan;
        }
        return true;
    };
    // Whole k, and a whole row of tiles, where that fits; then ever less.
    const std::int64_t longest = cut.keeps_left ? o.n : o.k;
    const auto may_have = [&](std::int64_t strips) {
        const bool too_large_for_stage = settled.stage_refused && !best;
        return strips <= kMostStrips ||
               (too_large_for_stage && part_size(cut.tile_m, strips / 2, cut.unit) > least_cut(cut.tile_m, cut.unit));
    };
    for (std::int64_t strips = cut.tile_m >= 4 * kUsualStrip ? 2 : 1; may_have(strips); strips *= 2) {
        FilePlan plan = plan_of_cut(problem, cut);
        plan.strip_m = part_size(cut.tile_m, strips, cut.unit);
        if (strips > 1 && (plan.strip_m < std::min(cut.tile_m, kUsualStrip) && best)) {
            break;
        }
        int fitting = 0;
        for (std::int64_t parts = 1; fitting < kDepthsTried;
             parts += std::max<std::int64_t>(1, parts / (fitting > 0 ? 2 : 8))) {
            const std::int64_t length = std::max(part_size(longest, parts, cut.unit), least_cut(longest, cut.unit));
            if (cut.keeps_left) {
                plan.tile_n = length;
            } else {
                plan.depth = length;
                plan.first_depth = first_depth(o, length, cut.unit);
            }
            fitting += consider(plan) ? 1 : 0;
            if (length <= least_cut(longest, cut.unit)) {
                break;
            }
        }
    }
    return settled;
}

/// Are even the smallest steps too large for the device that multiplies?
bool stage_takes_nothing(const FileProblem& problem, const PredictStage& predict) {
    const std::int64_t depth = may_cut_k(problem.type) ? least_cut(problem.k, 1) : problem.k;
    const StagePrediction smallest = predict(least_cut(problem.m, 1), depth, least_cut(problem.n, 1), true, 0);
    return !std::isfinite(smallest.seconds);
}

std::int64_t least_memory(const FileProblem& problem) {
    FileProblem larger = problem;
    for (larger.memory_bytes = std::max<std::int64_t>(problem.memory_bytes, 1024);; larger.memory_bytes *= 2) {
        for (const Cut& cut : all_cuts(larger)) {
            const FileProblem as_cut = cut.unit == 1 ? without_blocks(larger) : larger;
            if (settle(as_cut, cut, [](auto...) { return StagePrediction{1, 0}; }).plan) {
                return larger.memory_bytes;
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

const char* kept_name(Kept kept) {
    return kept == Kept::a ? "A" : kept == Kept::b ? "B" : "C";
}

FilePlan plan_files(const FileProblem& problem, const PredictStage& predict) {
    if (problem.m == 0 || problem.n == 0 || problem.k == 0) {
        fail(ErrorCode::input, "a product of {} x {} x {} has nothing to read piece by piece; multiply it in memory",
             problem.m, problem.k, problem.n);
    }
    std::vector<Cut> cuts = all_cuts(problem);
    bool stage_refused = false;
    while (!cuts.empty()) {
        const Cut chosen = best_cut(cuts);
        const FileProblem as_cut = chosen.unit == 1 ? without_blocks(problem) : problem;
        Settled settled = settle(as_cut, chosen, predict);
        if (settled.plan) {
            choose_blocks(as_cut, *settled.plan);
            return *settled.plan;
        }
        if (settled.stage_refused && !stage_refused && stage_takes_nothing(problem, predict)) {
            fail_for_device(problem);
        }
        stage_refused = stage_refused || settled.stage_refused;
        std::erase_if(cuts, [&](const Cut& cut) {
            return cut.mirrored == chosen.mirrored && cut.keeps_left == chosen.keeps_left && cut.unit == chosen.unit &&
                   cut.tile_m == chosen.tile_m && cut.tile_n == chosen.tile_n;
        });
    }
    if (stage_refused) {
        fail_for_device(problem);
    }
    fail(
        ErrorCode::resource,
        "a product of {} x {} x {} {} from file to file needs about {} bytes of memory, and {} bytes are allowed; give "
        "a larger --memory",
        problem.m, problem.k, problem.n, type_name(problem.type), least_memory(problem), problem.memory_bytes);
}

std::int64_t reference_bytes(const FileProblem& problem) {
    const auto room = static_cast<double>(problem.memory_bytes) * 0.9;
    const std::int64_t element = problem.a.element_bytes;
    const auto fits = [&](std::int64_t rows, std::int64_t cols) {
        return static_cast<double>(rows) * static_cast<double>(cols) * static_cast<double>(element) <= room;
    };
    const std::int64_t a = problem.a.total_bytes(), b = problem.b.total_bytes(), c = problem.c.total_bytes();
    std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t p = 1; p <= problem.m; ++p) {
        const std::int64_t rows = ceil_div(problem.m, p);
        if (fits(rows, problem.k)) {  // keep A
            fewest = std::min(fewest, a + p * b + c);
        }
        const auto widest = static_cast<std::int64_t>(room / static_cast<double>(rows * element));
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
