#include "plan/search/host_plan.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/size.hpp"
#include "base/types.hpp"
#include "plan/predict/error_bound.hpp"
#include "plan/search/planner.hpp"

namespace heptad {
namespace {

/// The Kronecker form reads every operand block again for each product it is part of, so beyond this the host binds.
constexpr int kMostAutoLevels = 3;
/// Its twelve terms a side are the fewest of all <2,2,2>:7 in the standard basis (P3's and Winograd's have 14).
constexpr const char* kAutoAlgorithm = "strassen";
/// P3 cuts Boolean products down to 131072 a side; far more cuts than that, and none of the devices is busy.
constexpr int kMostCuts = 18;
/// With so many tasks for each pipeline none waits long for the last of the others: smaller blocks gain nothing more.
constexpr std::int64_t kEnoughTasks = 32;
constexpr int kMostAutoPipelines = 2;
constexpr int kMostPipelines = 16;
/// What runs beside the stage that binds takes memory and power from it, a little: of cuts that are equal otherwise the
/// one with the fewest transfers wins.
constexpr double kShareOfWhatRunsBeside = 0.05;
/// Levels at the host must be predicted this much faster than segments to be taken.
constexpr double kLeastGain = 1.02;

bool is_half(Type type) {
    return type == Type::bf16 || type == Type::f16;
}

/// A way to cut, and how many blocks its sums read and write.
struct Cut {
    std::string algorithm = "classical";
    int levels = 0;
    BlockGrid grid;
    std::int64_t groups = 0;
    int steps = 1;
    std::int64_t left_terms = 0, right_terms = 0, result_terms = 0;
    LayerGrowth growth;
};

Cut segments(const BlockGrid& grid) {
    Cut cut;
    cut.grid = grid;
    cut.groups = checked_mul(grid.m, grid.n);
    cut.steps = grid.k;
    cut.left_terms = cut.right_terms = checked_mul(cut.groups, grid.k);
    cut.result_terms = cut.groups;
    return cut;
}

Cut levels_of(const std::string& algorithm, int levels, Type type) {
    const HostLayer layer = algorithm_layer(algorithm, levels, type);
    Cut cut;
    cut.algorithm = algorithm;
    cut.levels = levels;
    cut.grid = layer.grid;
    cut.groups = layer.groups();
    for (const BlockProduct& instance : layer.instances) {
        cut.left_terms += static_cast<std::int64_t>(instance.left.size());
        cut.right_terms += static_cast<std::int64_t>(instance.right.size());
        cut.result_terms += static_cast<std::int64_t>(instance.result.size());
    }
    cut.growth = layer_growth(layer);
    return cut;
}

/// Sides of blocks are multiples of these: words of bits, and rows that kernels like.
constexpr std::int64_t kDenseUnit = 8;
constexpr std::int64_t kBitUnit = 64;

ProblemSize block_of(const HostProblem& problem, const BlockGrid& grid) {
    const std::int64_t unit = problem.packed ? kBitUnit : kDenseUnit;
    const auto side = [&](std::int64_t size, int parts) {
        return round_up(std::max<std::int64_t>(1, ceil_div(size, parts)), unit);
    };
    return {side(problem.size.m, grid.m), side(problem.size.k, grid.k), side(problem.size.n, grid.n)};
}

/// The grid without blocks that lie outside.
BlockGrid trimmed(const HostProblem& problem, const BlockGrid& grid) {
    const ProblemSize block = block_of(problem, grid);
    const auto parts = [](std::int64_t size, std::int64_t side) {
        return static_cast<int>(std::max<std::int64_t>(1, ceil_div(size, side)));
    };
    return {parts(problem.size.m, block.m), parts(problem.size.k, block.k), parts(problem.size.n, block.n)};
}

/// Segments, from one to small ones: the longest side is halved again and again, with k among the sides and without.
std::vector<BlockGrid> segment_grids(const HostProblem& problem) {
    std::vector<BlockGrid> grids;
    // The 16-bit types would round the sum of every step.
    const bool may_cut_k = !is_half(problem.result_type);
    for (const bool cut_k : {false, true}) {
        if (cut_k && !may_cut_k) {
            break;
        }
        BlockGrid grid;
        for (int cuts = 0; cuts <= kMostCuts; ++cuts) {
            if (const BlockGrid next = trimmed(problem, grid); grids.empty() || next != grids.back()) {
                grids.push_back(next);
            }
            const ProblemSize block = block_of(problem, grid);
            if (cut_k && block.k >= std::max(block.m, block.n)) {
                grid.k *= 2;
            } else if (block.m >= block.n) {
                grid.m *= 2;
            } else {
                grid.n *= 2;
            }
        }
    }
    return grids;
}

std::vector<Cut> candidates(const HostProblem& problem) {
    const HostOptions& constraints = problem.constraints;
    std::vector<Cut> cuts;
    if (constraints.levels <= 0) {
        for (const BlockGrid& grid : segment_grids(problem)) {
            cuts.push_back(segments(grid));
        }
    }
    const bool named = constraints.algorithm != "auto";
    const std::string algorithm = named ? constraints.algorithm : kAutoAlgorithm;
    const bool without_levels = problem.type == Type::boolean || is_half(problem.type) ||
                                problem.accuracy == Accuracy::strict || problem.type != problem.result_type;
    // A name says which algorithm, not that levels are wanted at any price.
    const bool forbidden = is_half(problem.type) || problem.type != problem.result_type ||
                           (problem.accuracy == Accuracy::strict && unit_roundoff(problem.type) > 0);
    if (constraints.levels > 0) {
        if (is_half(problem.type)) {
            fail(ErrorCode::usage,
                 "levels at the host would round the sums of {} to 16 bits; leave the host's levels to auto",
                 type_name(problem.type));
        }
        cuts.push_back(levels_of(algorithm, constraints.levels, problem.type));
    } else if (constraints.levels < 0 && !forbidden && (named || !without_levels)) {
        for (int levels = 1; levels <= kMostAutoLevels; ++levels) {
            try {
                cuts.push_back(levels_of(algorithm, levels, problem.type));
            } catch (const Error&) {
                if (levels == 1) {
                    throw;
                }
                break;  // more than the host deals out
            }
        }
    }
    return cuts;
}

double bound_of(const HostProblem& problem, const Cut& cut, const ProblemSize& block, double block_bound) {
    const double u = unit_roundoff(problem.type);
    if (u == 0) {
        return 0;
    }
    const auto k = static_cast<double>(problem.size.k);
    // Each step of a segment is one more sum of results; and Q is rounded before it is added to C.
    const double rest = k * u * (cut.steps - 1 + (problem.accumulate ? 1 : 0));
    return cut.levels == 0
               ? cut.steps * block_bound + rest
               : cut.growth.growth * (block_bound + cut.growth.roundings * u * static_cast<double>(block.k)) + rest;
}

/// The least that was missing so far.
struct Shortage {
    std::int64_t device_bytes = std::numeric_limits<std::int64_t>::max();
    std::int64_t host_bytes = std::numeric_limits<std::int64_t>::max();
};

/// Blocks that lie in the matrices as they are needed: whole words of bits, nothing to add up or to fill with zeros.
bool lies_in_place(const HostProblem& problem, const Cut& cut, const ProblemSize& block) {
    const ProblemSize& size = problem.size;
    return problem.packed && !problem.shifted && !problem.accumulate && cut.levels == 0 &&
           size.m == block.m * cut.grid.m && size.k == block.k * cut.grid.k && size.n == block.n * cut.grid.n;
}

/// A block of A stays on a device for all segments of its row, if nothing takes its place in between.
std::int64_t uploads_of_left(const Cut& cut, int devices) {
    const std::int64_t all = cut.groups * cut.steps;
    return cut.levels == 0 && cut.steps == 1 ? std::min(all, std::int64_t{cut.grid.m} * devices) : all;
}

/// The blocks of B that the pipelines of a device had last are those that its next row of segments begins with. Which
/// of several devices gets there is not known.
std::int64_t uploads_of_right(const Cut& cut, int devices, int pipelines) {
    const std::int64_t all = cut.groups * cut.steps;
    return cut.levels == 0 && cut.steps == 1 && devices == 1
               ? all - (std::int64_t{cut.grid.m} - 1) * std::min(pipelines, cut.grid.n)
               : all;
}

double measured_more(const std::vector<BitHostSample>& measured, int levels, int pipelines) {
    double of_all = 0, of_alike = 0;
    int alike = 0;
    for (const BitHostSample& sample : measured) {
        const double more_s = sample.seconds - sample.predicted_s;
        of_all += more_s;
        if (sample.host_levels == levels && sample.pipelines == pipelines) {
            of_alike += more_s;
            ++alike;
        }
    }
    if (alike > 0) {
        return of_alike / alike;
    }
    return measured.empty() ? 0 : of_all / static_cast<double>(measured.size());
}

std::optional<HostPlan> plan_cut(const HostProblem& problem, const DeviceFacts& devices, const HostFacts& host,
                                 const SolveForecaster& forecast, const Cut& cut, int pipelines, Shortage& shortage) {
    const ProblemSize block = block_of(problem, cut.grid);
    const std::int64_t left = padded_block_bytes(problem.type, problem.packed, block.m, block.k);
    const std::int64_t right = padded_block_bytes(problem.type, problem.packed, block.k, block.n);
    const std::int64_t result = padded_block_bytes(problem.result_type, problem.packed, block.m, block.n);
    const std::int64_t blocks = checked_mul(pipelines, checked_add(checked_add(left, right), result));
    const std::int64_t limit = std::min(devices.memory_bytes, problem.constraints.device_memory_bytes);
    if (blocks > limit) {
        shortage.device_bytes = std::min(shortage.device_bytes, blocks);
        return std::nullopt;
    }
    const SolveForecast solve = forecast(block, cut.steps > 1, limit - blocks);
    HostPlan plan;
    plan.workspace_bytes = solve.workspace_bytes;
    plan.device_bytes = checked_add(blocks, solve.workspace_bytes);
    const std::int64_t staging = std::max({left, right, result}) < devices.least_staged_bytes
                                     ? 0
                                     : checked_mul(checked_mul(devices.devices, pipelines), devices.staging_bytes);
    const std::int64_t in_place_bytes = checked_add(problem.copied_bytes, staging);
    plan.in_place = lies_in_place(problem, cut, block) && in_place_bytes <= host.memory_bytes;
    plan.host_bytes =
        plan.in_place ? in_place_bytes : checked_add(problem.copied_bytes, checked_mul(devices.devices, blocks));
    const std::int64_t needed_on_host =
        checked_add(plan.host_bytes, devices.in_host_memory ? checked_mul(devices.devices, plan.device_bytes) : 0);
    if (plan.device_bytes > limit) {
        shortage.device_bytes = std::min(shortage.device_bytes, plan.device_bytes);
        return std::nullopt;
    }
    if (needed_on_host > host.memory_bytes) {
        shortage.host_bytes = std::min(shortage.host_bytes, needed_on_host);
        return std::nullopt;
    }
    if (problem.accuracy == Accuracy::balanced && problem.constraints.levels < 0 && cut.levels > 0 &&
        unit_roundoff(problem.type) > 0) {
        LevelPlan level;
        level.algorithm = cut.algorithm;
        const std::vector<LevelPlan> at_host(static_cast<std::size_t>(cut.levels), level);
        if (solve.growth * expected_growth(at_host) > PlannerLimits{}.balanced_growth) {
            return std::nullopt;
        }
    }
    plan.size = problem.size;
    plan.type = problem.type;
    plan.packed = problem.packed;
    plan.devices = devices.name;
    plan.device_count = devices.devices;
    plan.algorithm = cut.algorithm;
    plan.levels = cut.levels;
    plan.grid = cut.grid;
    plan.block = block;
    plan.tasks = checked_mul(cut.groups, cut.steps);
    plan.pipelines = pipelines;
    plan.error_bound = bound_of(problem, cut, block, solve.error_bound);

    const std::int64_t left_uploads = uploads_of_left(cut, devices.devices);
    const std::int64_t right_uploads = uploads_of_right(cut, devices.devices, pipelines);
    plan.upload_bytes = checked_add(checked_mul(left_uploads, left), checked_mul(right_uploads, right));
    plan.download_bytes = checked_mul(cut.groups, result);
    const std::int64_t turns = ceil_div(cut.groups, devices.devices);
    const double share = static_cast<double>(turns) / static_cast<double>(cut.groups);
    plan.solve_s = static_cast<double>(turns * cut.steps) * (solve.seconds + devices.task_s);
    plan.upload_s = share * static_cast<double>(plan.upload_bytes) / devices.upload_bytes_per_s;
    plan.download_s = share * static_cast<double>(plan.download_bytes) / devices.download_bytes_per_s;
    // Blocks that sums read, buffers that they write, and for each update of C two reads and a write.
    // Every pipeline makes its own, whatever another one has brought.
    const std::int64_t lefts_made = cut.levels == 0 && cut.steps == 1
                                        ? std::min(plan.tasks, std::int64_t{cut.grid.m} * devices.devices * pipelines)
                                        : plan.tasks;
    const double host_bytes = static_cast<double>(cut.left_terms + lefts_made) * static_cast<double>(left) +
                              static_cast<double>(cut.right_terms + plan.tasks) * static_cast<double>(right) +
                              static_cast<double>(cut.result_terms) * (cut.levels == 0 && !problem.accumulate ? 2 : 3) *
                                  static_cast<double>(result);
    // In place, transfers go through small buffers: what is moved is read and written once.
    const auto moved_bytes = static_cast<double>(plan.upload_bytes + plan.download_bytes);
    plan.host_s = (plan.in_place ? 2 * moved_bytes : host_bytes) / host.sum_bytes_per_s;
    const double on_device = pipelines > 1 ? std::max({plan.solve_s, plan.upload_s, plan.download_s})
                                           : plan.solve_s + plan.upload_s + plan.download_s;
    // The first operands are waited for, and the last result.
    const auto groups = static_cast<double>(cut.groups);
    double ends = (plan.upload_s + plan.download_s + plan.host_s) / std::max(1.0, groups / devices.devices);
    if (plan.in_place) {  // one pipeline of every device brings a T and an S, and one puts a Q away, all at a time
        const double host_s_per_byte = 2.0 * devices.devices / host.sum_bytes_per_s;
        ends = static_cast<double>(left + right) * std::max(1 / devices.upload_bytes_per_s, host_s_per_byte) +
               static_cast<double>(result) * std::max(1 / devices.download_bytes_per_s, host_s_per_byte) +
               kShareOfWhatRunsBeside * (plan.upload_s + plan.download_s + plan.host_s);
    }
    const double before = static_cast<double>(plan.host_bytes) / devices.buffer_bytes_per_s;
    const double predicted_s = std::max(on_device, plan.host_s) + ends + before;
    // A sample that was faster than predicted does not make a smaller product free.
    plan.measured_more_s = std::max(measured_more(problem.measured, cut.levels, pipelines), -predicted_s / 2);
    plan.predicted_s = predicted_s + plan.measured_more_s;
    return plan;
}

void check_constraints(const HostOptions& constraints) {
    if (constraints.levels < -1) {
        fail(ErrorCode::usage, "{} levels at the host cannot be; say 0 and up, or -1 for what pays",
             constraints.levels);
    }
    if (constraints.pipelines < 0 || constraints.pipelines > kMostPipelines) {
        fail(ErrorCode::usage, "{} pipelines per device cannot be; say 1 to {}, or 0 for what pays",
             constraints.pipelines, kMostPipelines);
    }
    if (const std::int64_t least = std::min(constraints.device_memory_bytes, constraints.host_memory_bytes);
        least < 0) {
        fail(ErrorCode::usage, "{} bytes of memory cannot be used; say 0 and up", least);
    }
}

[[noreturn]] void refuse(const HostProblem& problem, const DeviceFacts& devices, const HostFacts& host,
                         const Shortage& shortage) {
    const ProblemSize& size = problem.size;
    if (shortage.host_bytes != std::numeric_limits<std::int64_t>::max()) {
        fail(ErrorCode::resource,
             "a product of {} x {} x {} in {} over {} needs {} bytes of buffers in host memory, and {} can be had; use "
             "fewer devices or pipelines, or smaller blocks by less device memory",
             size.m, size.k, size.n, type_name(problem.type), devices.name, shortage.host_bytes, host.memory_bytes);
    }
    fail(ErrorCode::resource,
         "a product of {} x {} x {} in {} over {} needs {} bytes on each device, and {} can be had; allow more device "
         "memory, or leave the host's levels and the pipelines to auto",
         size.m, size.k, size.n, type_name(problem.type), devices.name, shortage.device_bytes,
         std::min(devices.memory_bytes, problem.constraints.device_memory_bytes));
}

}  // namespace

std::int64_t padded_block_bytes(Type type, bool packed, std::int64_t rows, std::int64_t cols) {
    if (packed) {
        return checked_mul(rows, round_up(ceil_div(cols, 8), 64));
    }
    const auto element = static_cast<std::int64_t>(element_bytes(type));
    return std::max(checked_mul(rows, round_up(checked_mul(cols, element), 64)),
                    checked_mul(cols, round_up(checked_mul(rows, element), 64)));
}

double HostPlan::bound_s() const {
    return std::max({solve_s, upload_s, download_s, host_s});
}

const char* HostPlan::binds() const {
    const std::array<std::pair<double, const char*>, 4> stages{
        {{solve_s, "solve"}, {upload_s, "upload"}, {download_s, "download"}, {host_s, "host"}}};
    return std::max_element(stages.begin(), stages.end(),
                            [](const auto& x, const auto& y) { return x.first < y.first; })
        ->second;
}

std::string to_string(const HostPlan& plan) {
    return fmt::format(
        "devices {} {}x{}x{} {}{} host={}{} d_h={} grid={}x{}x{} block={}x{}x{} tasks={} pipelines={} device-bytes={} "
        "workspace={} host-bytes={} upload-bytes={} download-bytes={} solve_s={:.3g} upload_s={:.3g} download_s={:.3g} "
        "host_s={:.3g} binds={} predicted_s={:.3g} error-bound={:.3g}{}",
        plan.devices, plan.size.m, plan.size.k, plan.size.n, type_name(plan.type), plan.packed ? " packed" : "",
        plan.algorithm, plan.in_place ? " in-place" : "", plan.levels, plan.grid.m, plan.grid.k, plan.grid.n,
        plan.block.m, plan.block.k, plan.block.n, plan.tasks, plan.pipelines, plan.device_bytes, plan.workspace_bytes,
        plan.host_bytes, plan.upload_bytes, plan.download_bytes, plan.solve_s, plan.upload_s, plan.download_s,
        plan.host_s, plan.binds(), plan.predicted_s, plan.error_bound,
        plan.measured_more_s == 0 ? "" : fmt::format(" measured-more_s={:.3g}", plan.measured_more_s));
}

std::string bits_decided_by(const HostPlan& plan) {
    // The workspace and the bound are those of the plan that a device makes for a block, and tell it from others.
    return fmt::format(
        "devices {} {}x{}x{} {}{} host={}{} d_h={} grid={}x{}x{} block={}x{}x{} workspace={} error-bound={:a}",
        plan.devices, plan.size.m, plan.size.k, plan.size.n, type_name(plan.type), plan.packed ? " packed" : "",
        plan.algorithm, plan.in_place ? " in-place" : "", plan.levels, plan.grid.m, plan.grid.k, plan.grid.n,
        plan.block.m, plan.block.k, plan.block.n, plan.workspace_bytes, plan.error_bound);
}

HostPlan make_host_plan(const HostProblem& problem, const DeviceFacts& devices, const HostFacts& host,
                        const SolveForecaster& forecast) {
    check_constraints(problem.constraints);
    const int fewest = problem.constraints.pipelines > 0 ? problem.constraints.pipelines : 1;
    int most = problem.constraints.pipelines > 0 ? problem.constraints.pipelines : kMostAutoPipelines;
    if (problem.constraints.pipelines == 0) {
        for (const BitHostSample& sample : problem.measured) {
            most = std::clamp(sample.pipelines, most, kMostPipelines);
        }
    }
    std::optional<HostPlan> best;
    Shortage shortage;
    for (const Cut& cut : candidates(problem)) {
        for (int pipelines = fewest; pipelines <= most; ++pipelines) {
            if (best && cut.levels == 0 && cut.groups * cut.steps > kEnoughTasks * devices.devices * pipelines) {
                continue;
            }
            const std::optional<HostPlan> plan = plan_cut(problem, devices, host, forecast, cut, pipelines, shortage);
            const double gain = best && plan && plan->levels != best->levels ? kLeastGain : 1;
            if (plan && (!best || gain * plan->predicted_s < best->predicted_s)) {
                best = plan;
            }
        }
    }
    if (!best) {
        refuse(problem, devices, host, shortage);
    }
    return *best;
}

HostLayer layer_of(const HostPlan& plan) {
    return plan.levels == 0 ? segment_layer(plan.grid) : algorithm_layer(plan.algorithm, plan.levels, plan.type);
}

}  // namespace heptad
