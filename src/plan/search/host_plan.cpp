#include "plan/search/host_plan.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <optional>
#include <utility>

#include "base/fail_if.hpp"
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
/// Levels at the host must be predicted this much faster than segments to be taken.
constexpr double kHostLeastGain = 1.02;
constexpr const char* kNoLevels = "classical";

bool is_half(Type type) {
    return type == Type::bf16 || type == Type::f16;
}

void set_block(HostCut& cut, const ProblemSize& block) {
    cut.block_m = block.m;
    cut.block_k = block.k;
    cut.block_n = block.n;
}

std::vector<LevelPlan> levels_at_host(const HostCut& cut) {
    return same_levels(cut.algorithm, cut.levels, LevelMode::serial);
}

/// Segments, from one to small ones: the longest side is halved again and again, with k among the sides and without.
std::vector<HostCut> segments(const HostProblem& problem) {
    std::vector<HostCut> cuts;
    // The 16-bit types would round the sum of every step, and what is rounded once has one.
    const bool may_cut_k = !is_half(problem.result_type) && !takes_whole_k(problem);
    for (const bool cut_k : {false, true}) {
        if (cut_k && !may_cut_k) {
            break;
        }
        BlockGrid grid;
        for (int times = 0; times <= kMostCuts; ++times) {
            const ProblemSize block = block_of(problem.size, grid, problem.packed);
            HostCut next;
            set_block(next, block);
            if (cuts.empty() || next != cuts.back()) {
                cuts.push_back(next);
            }
            if (cut_k && block.k >= std::max(block.m, block.n)) {
                grid.k *= 2;
            } else if (block.m >= block.n) {
                grid.m *= 2;
            } else {
                grid.n *= 2;
            }
        }
    }
    return cuts;
}

struct HostCandidate {
    HostCut cut;
    CutShape shape;
};

HostCandidate levels_of(const std::string& algorithm, int levels, const HostProblem& problem) {
    HostCandidate candidate;
    candidate.cut.algorithm = algorithm;
    candidate.cut.levels = levels;
    candidate.shape = cut_shape(candidate.cut, problem.size, problem.type);
    set_block(candidate.cut, block_of(problem.size, candidate.shape.grid, problem.packed));
    return candidate;
}

std::vector<HostCandidate> candidates(const HostProblem& problem) {
    const HostOptions& constraints = problem.constraints;
    std::vector<HostCandidate> cuts;
    if (constraints.levels <= 0) {
        for (const HostCut& cut : segments(problem)) {
            cuts.push_back({cut, cut_shape(cut, problem.size, problem.type)});
        }
    }
    const bool named = constraints.algorithm != "auto";
    const std::string algorithm = named ? constraints.algorithm : kAutoAlgorithm;
    const bool without_levels = problem.type == Type::boolean || is_half(problem.type) ||
                                problem.accuracy == Accuracy::strict || takes_whole_k(problem) ||
                                problem.type != problem.result_type;
    // A name says which algorithm, not that levels are wanted at any price.
    const bool forbidden = is_half(problem.type) || is_complex(problem.type) || problem.type != problem.result_type ||
                           takes_whole_k(problem) ||
                           (problem.accuracy == Accuracy::strict && unit_roundoff(problem.type) > 0);
    if (constraints.levels > 0) {
        fail_if(is_complex(problem.type), ErrorCode::usage,
                "levels at the host are for real numbers, and these are {}; set the host's levels to auto",
                type_name(problem.type));
        fail_if(takes_whole_k(problem), ErrorCode::usage,
                "levels at the host would round sums of blocks, and accuracy exact rounds once; set the host's levels "
                "to auto");
        fail_if(is_half(problem.type), ErrorCode::usage,
                "levels at the host would round the sums of {} to 16 bits; set the host's levels to auto",
                type_name(problem.type));
        cuts.push_back(levels_of(algorithm, constraints.levels, problem));
    } else if (constraints.levels < 0 && !forbidden && (named || !without_levels)) {
        for (int levels = 1; levels <= kMostAutoLevels; ++levels) {
            try {
                cuts.push_back(levels_of(algorithm, levels, problem));
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

/// The least that was missing so far.
struct Shortage {
    std::int64_t device_bytes = std::numeric_limits<std::int64_t>::max();
    std::int64_t host_bytes = std::numeric_limits<std::int64_t>::max();
    std::exception_ptr of_block;  // that has no plan without more workspace
};

/// All of it: the cut around the plan of a block.
ProductPlan whole_plan(const HostProblem& problem, const HostCut& cut, const HostForecast& forecast,
                       const ProductPlan& block) {
    ProductPlan plan = block;
    set_size(plan, problem.size);
    plan.type = problem.type;
    plan.host = cut;
    plan.accumulate = problem.accumulate;
    plan.workspace_bytes = forecast.host_bytes;
    plan.predicted_s = forecast.predicted_s;
    plan.error_bound = forecast.error_bound;
    if (cut.levels > 0 && problem.accuracy == Accuracy::balanced && is_float(problem.type)) {
        plan.least_evenness = least_evenness_of(levels_at_host(cut));
    }
    return plan;
}

std::optional<HostDecision> plan_cut(const HostProblem& problem, const DeviceFacts& devices, const HostFacts& host,
                                     const BlockPlanner& plan_block, const HostCandidate& candidate, int pipelines,
                                     Shortage& shortage) {
    HostCut cut = candidate.cut;
    cut.devices = devices.name;
    cut.pipelines = pipelines;
    const std::int64_t blocks = block_bytes_of_device(problem, cut);
    const std::int64_t limit = std::min(devices.memory_bytes, problem.constraints.device_memory_bytes);
    if (blocks > limit) {
        shortage.device_bytes = std::min(shortage.device_bytes, blocks);
        return std::nullopt;
    }
    ProductPlan block;
    try {
        const bool adds = candidate.shape.steps > 1 || brings_result(problem);
        block = plan_block({cut.block_m, cut.block_k, cut.block_n}, adds, limit - blocks);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::resource) {
            throw;
        }
        shortage.of_block = std::current_exception();
        return std::nullopt;
    }
    cut.workspace_bytes = block.workspace_bytes;
    cut.in_place = lies_in_place(problem, cut);
    cut.in_place = cut.in_place && host_buffer_bytes(problem, cut, devices) <= host.memory_bytes;
    const HostForecast forecast = host_forecast(problem, cut, candidate.shape, devices, host, block);
    const std::int64_t needed_on_host = checked_add(
        forecast.host_bytes, devices.in_host_memory ? checked_mul(devices.devices, forecast.device_bytes) : 0);
    if (forecast.device_bytes > limit) {
        shortage.device_bytes = std::min(shortage.device_bytes, forecast.device_bytes);
        return std::nullopt;
    }
    if (needed_on_host > host.memory_bytes) {
        shortage.host_bytes = std::min(shortage.host_bytes, needed_on_host);
        return std::nullopt;
    }
    const bool chosen_by_growth = problem.accuracy == Accuracy::balanced && problem.constraints.levels < 0 &&
                                  cut.levels > 0 && unit_roundoff(problem.type) > 0;
    if (chosen_by_growth &&
        expected_growth(block.levels) * expected_growth(levels_at_host(cut)) > PlannerLimits{}.balanced_growth) {
        return std::nullopt;
    }
    return HostDecision{whole_plan(problem, cut, forecast, block), forecast};
}

void check_constraints(const HostOptions& constraints) {
    fail_if(constraints.levels < -1, ErrorCode::usage,
            "{} levels at the host are not possible; use 0 or more, or -1 for the predicted best", constraints.levels);
    fail_if(constraints.pipelines < 0 || constraints.pipelines > kMostPipelines, ErrorCode::usage,
            "{} pipelines per device are not possible; use 1 to {}, or 0 for the predicted best", constraints.pipelines,
            kMostPipelines);
    if (const std::int64_t least = std::min(constraints.device_memory_bytes, constraints.host_memory_bytes);
        least < 0) {
        fail(ErrorCode::usage, "{} bytes of memory cannot be used; give 0 or more", least);
    }
}

[[noreturn]] void refuse(const HostProblem& problem, const DeviceFacts& devices, const HostFacts& host,
                         const Shortage& shortage) {
    const ProblemSize& size = problem.size;
    if (shortage.of_block) {
        std::rethrow_exception(shortage.of_block);
    }
    fail_if(shortage.host_bytes != std::numeric_limits<std::int64_t>::max(), ErrorCode::resource,
            "a product of {} x {} x {} in {} over {} needs {} bytes of buffers in host memory, and {} are available; "
            "use fewer devices or pipelines, or less device memory, which makes smaller blocks",
            size.m, size.k, size.n, type_name(problem.type), devices.name, shortage.host_bytes, host.memory_bytes);
    fail(ErrorCode::resource,
         "a product of {} x {} x {} in {} over {} needs {} bytes on each device, and {} are available; allow more "
         "device "
         "memory, or set the host's levels and the pipelines to auto",
         size.m, size.k, size.n, type_name(problem.type), devices.name, shortage.device_bytes,
         std::min(devices.memory_bytes, problem.constraints.device_memory_bytes));
}

}  // namespace

HostDecision make_host_plan(const HostProblem& problem, const DeviceFacts& devices, const HostFacts& host,
                            const BlockPlanner& plan_block) {
    check_constraints(problem.constraints);
    if (is_complex(problem.type)) {
        refuse_exact(problem.accuracy, problem.type, "of complex matrices over several devices");
    }
    const int fewest = problem.constraints.pipelines > 0 ? problem.constraints.pipelines : 1;
    int most = problem.constraints.pipelines > 0 ? problem.constraints.pipelines : kMostAutoPipelines;
    if (problem.constraints.pipelines == 0) {
        for (const BitHostSample& sample : problem.measured) {
            most = std::clamp(sample.pipelines, most, kMostPipelines);
        }
    }
    std::optional<HostDecision> best;
    Shortage shortage;
    for (const HostCandidate& candidate : candidates(problem)) {
        const CutShape& shape = candidate.shape;
        for (int pipelines = fewest; pipelines <= most; ++pipelines) {
            if (best && candidate.cut.levels == 0 &&
                shape.groups * shape.steps > kEnoughTasks * devices.devices * pipelines) {
                continue;
            }
            std::optional<HostDecision> made =
                plan_cut(problem, devices, host, plan_block, candidate, pipelines, shortage);
            const double gain = best && made && made->plan.host->levels != best->plan.host->levels ? kHostLeastGain : 1;
            if (made && (!best || gain * made->forecast.predicted_s < best->forecast.predicted_s)) {
                best = std::move(made);
            }
        }
    }
    if (!best) {
        refuse(problem, devices, host, shortage);
    }
    return *best;
}

void check_host_cut(const ProductPlan& plan) {
    const bool packed = is_packed(plan);
    const auto require = [&](bool right, const char* what) {
        if (!right) {
            fail(ErrorCode::input, "the plan is inconsistent: {}; use one as `heptad plan` printed it, not '{}'", what,
                 to_string(plan));
        }
    };
    require(plan.host && !plan.disk && !plan.rank && !plan.transfers, "the host of devices and nobody else divides it");
    require(plan.threads == 1 && !plan.overwrite_inputs && !plan.count && (packed || !plan.panels),
            "a block is multiplied by one thread of the host, its operands serve again, and ones are not counted");
    const HostCut& cut = *plan.host;
    const ProblemSize size = problem_size(plan);
    require(cut.pipelines >= 1 && cut.pipelines <= kMostPipelines, "a device has 1 to 16 pipelines");
    std::int64_t parts = 1;
    for (const auto& [side, block] : {std::pair{size.m, cut.block_m}, {size.k, cut.block_k}, {size.n, cut.block_n}}) {
        const std::int64_t unit = block_unit(packed);
        require(block > 0 && block % unit == 0 && block <= round_up(std::max<std::int64_t>(side, 1), unit),
                "sides of blocks are multiples of 8 (of 64 for packed bits), and no longer than the product's");
        parts = checked_mul(parts, std::max<std::int64_t>(1, ceil_div(side, block)));
    }
    require(parts <= kMostHostParts, "the host deals out up to 2^20 parts");
    require((cut.levels == 0) == (cut.algorithm == kNoLevels), "classical is without levels, and others have some");
    if (cut.levels > 0) {
        require(!is_half(plan.type) && !is_complex(plan.type), "levels at the host are for real numbers above 16 bits");
        HostCut expected = cut;
        try {
            set_block(expected, block_of(size, cut_shape(cut, size, plan.type).grid, packed));
        } catch (const Error& error) {
            require(false, error.what());
        }
        require(expected == cut, "its blocks are not those of its levels");
    }
    require(!takes_whole_k(host_problem(plan)) || (cut.levels == 0 && cut.block_k >= plan.k && !is_complex(plan.type)),
            "products that are rounded once are cut into segments with all of k, and of real numbers");
    require(!cut.in_place || lies_in_place(host_problem(plan), cut), "its blocks do not lie in place");
    require(plan.workspace_bytes >= 0 && cut.workspace_bytes >= 0, "memory is not negative");
}

HostProblem host_problem(const ProductPlan& plan) {
    return {problem_size(plan), plan.type,       plan.type,
            is_packed(plan),    plan.accumulate, rounds_once(plan) ? Accuracy::exact : Accuracy::balanced};
}

HostLayer layer_of(const ProductPlan& plan) {
    const HostCut& cut = *plan.host;
    return cut.levels == 0 ? segment_layer(cut_shape(cut, problem_size(plan), plan.type).grid)
                           : algorithm_layer(cut.algorithm, cut.levels, plan.type);
}

ProductPlan block_plan(const ProductPlan& plan) {
    const HostCut& cut = *plan.host;
    ProductPlan block = plan;
    block.host.reset();
    block.m = cut.block_m;
    block.k = cut.block_k;
    block.n = cut.block_n;
    block.accumulate = (cut.levels == 0 && cut.block_k < plan.k) || brings_result(host_problem(plan));
    block.workspace_bytes = cut.workspace_bytes;
    block.predicted_s = 0;
    block.error_bound = error_bound(block);
    // balanced: the levels at the host have a limit of their own, and residues keep theirs
    if (plan.least_evenness > 0 && !is_by_residues(plan)) {
        block.least_evenness = least_evenness_of(block.levels);
    }
    return block;
}

std::string bits_decided_by(ProductPlan plan) {
    plan.predicted_s = 0;
    plan.workspace_bytes = 0;
    plan.host->pipelines = 1;
    return to_string(plan);
}

}  // namespace heptad
