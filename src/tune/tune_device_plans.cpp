#include "tune/device_tuning.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "base/thread_pool.hpp"
#include "base/timing.hpp"
#include "base/workspace.hpp"
#include "io/device_kernels.hpp"
#include "io/device_machine.hpp"
#include "run/dense/runner.hpp"
#include "tune/plan_candidates.hpp"
#include "tune/plan_errors.hpp"
#include "tune/plan_rounds.hpp"

namespace heptad {
namespace {

constexpr double kWarmSeconds = 0.1;
/// Shorter products come in rows, as they do in practice; longer ones have the card to themselves.
constexpr double kAloneFrom_s = 0.001, kRow_s = 0.005;

/// How long one problem may take, and with how many plans with levels.
struct Effort {
    std::size_t with_levels;
    bool with_other_kernel;
    int rounds;
    double seconds;
};
Effort effort_for(double predicted_s) {
    constexpr double kLong_s = 0.05;
    return predicted_s < kLong_s ? Effort{6, true, 7, 2.5} : Effort{3, false, 5, 6};
}

struct DeviceOperands {
    View a, b, c;
};

std::optional<DeviceOperands> square_operands(Type type, std::int64_t n, const DeviceGround& ground) {
    const std::int64_t matrix = n * n * static_cast<std::int64_t>(element_bytes(type));
    if (3 * matrix > ground.bytes) {
        return std::nullopt;
    }
    const auto at = [&](std::int64_t offset) { return View(ground.memory + offset, type, n, n, n, 1); };
    // C at the end, where no larger problem has A or B: results of results would grow beyond what f16 holds.
    return DeviceOperands{at(0), at(matrix), at(ground.bytes - matrix)};
}

}  // namespace

bool measure_device_plans_on(Type type, std::int64_t n, const DeviceGround& ground, const Machine& usual,
                             Machine& machine) {
    const std::optional<DeviceOperands> operands = square_operands(type, n, ground);
    if (!operands) {
        return false;
    }
    Problem problem{n, n, n, type, 1, {}};
    problem.options.device = "cuda";
    problem.options.accuracy = Accuracy::fast;
    problem.options.workspace_limit_bytes = workspace_share(cuda::free_bytes(ground.backend.device()));
    const Effort effort = effort_for(plan_with_shape(problem, machine, {{}, "cublas"}).predicted_s);
    std::vector<ProductPlan> plans;
    std::int64_t workspace_bytes = 0;
    for (const PlanShape& candidate : device_plan_candidates(problem, machine, usual, effort.with_levels)) {
        const bool is_other_kernel = candidate.levels.empty() && !is_whole_call(candidate.leaf);
        if (!is_other_kernel || effort.with_other_kernel) {
            plans.push_back(plan_with_shape(problem, machine, candidate));
            workspace_bytes = std::max(workspace_bytes, plans.back().workspace_bytes);
        }
    }
    if (plans.size() < 2) {
        return false;
    }
    const cuda::DeviceMemory workspace(ground.backend.device(), workspace_bytes, ground.stream.handle());
    cuda::Timer timer(ground.stream.device());
    const auto run = [&](const ProductPlan& plan) {
        run_plan(plan, ground.backend, 1, operands->a, operands->b, 0, operands->c, workspace.data());
    };
    const auto seconds_of = [&](const ProductPlan& plan) {
        const auto calls = static_cast<int>(
            plan.predicted_s >= kAloneFrom_s ? 1 : std::ceil(kRow_s / std::max(plan.predicted_s, kRow_s / 1000)));
        timer.start(ground.stream.handle());
        for (int i = 0; i < calls; ++i) {
            run(plan);
        }
        timer.stop(ground.stream.handle());
        return timer.seconds() / calls;
    };
    // The first calls load kernels, and a card that was idle is faster than it will ever be again.
    const Clock::time_point warming = Clock::now();
    do {
        for (const ProductPlan& plan : plans) {
            seconds_of(plan);
        }
    } while (seconds_since(warming) < kWarmSeconds);
    // How much power is left for a product depends on the one before it, so everybody runs behind the library, and is
    // compared with that run of it.
    std::vector<RoundRunner> runners{{[] { return 1.0; }, true}};
    for (std::size_t i = 1; i < plans.size(); ++i) {
        runners.push_back({[&seconds_of, &plans, i] {
                               const double library_s = seconds_of(plans.front());
                               return seconds_of(plans[i]) / library_s;
                           },
                           false,
                           balanced_takes_measured_levels(type) && is_balanced(plans[i], machine, device_limits())});
    }
    RoundRules rules;
    rules.most_rounds = effort.rounds;
    rules.most_s = effort.seconds;
    rules.clock_s = [start = Clock::now()] { return seconds_since(start); };
    const bool trusted = ground.watch.measure(false, [&] { run_rounds(runners, rules); });
    if (!trusted) {
        keep_rows_of(ground.before, type, n, n, n, machine);
        return true;
    }
    const RoundResults results = compare_with_library(runners);
    if (results.times.front().rounds < kFewestRounds) {
        return false;
    }
    const PlanErrors::CopyWindow to_host = [&](const ConstView& window, void* to) {
        const auto element = static_cast<std::int64_t>(element_bytes(type));
        cuda::copy_rows(window.data, window.row_stride * element, to, window.cols * element, window.cols * element,
                        window.rows, ground.stream.handle());
        ground.stream.synchronize();
    };
    std::optional<PlanErrors> errors;  // where there are levels
    const auto error_of = [&](const ProductPlan& plan) {
        if (!errors) {
            errors.emplace(operands->a, operands->b, to_host, shared_pool(threads_or_default()));
        }
        run(plan);
        return errors->of(operands->c);
    };
    record_plans(plans, results, error_of, machine);
    return true;
}

void measure_device_plans(Type type, const DeviceGround& ground, Machine& machine,
                          const std::function<void(const std::string&)>& note) {
    const bool on_tensor_cores = type == Type::tf32 || type == Type::bf16 || type == Type::f16;
    const std::int64_t largest = on_tensor_cores ? 32768 : 16384;
    const Machine usual = default_device_machine();
    ground.backend.set_vendor_kernels(vendor_kernels(machine));
    ground.backend.set_pass_shapes(pass_shapes(machine));
    for (std::int64_t n = 2048; n <= largest; n *= 2) {
        note(fmt::format("{} {}x{}x{} with levels and without", type_name(type), n, n, n));
        try {
            measure_device_plans_on(type, n, ground, usual, machine);
        } catch (const Error& error) {
            if (error.code() != ErrorCode::resource) {
                throw;
            }
        }
    }
    ground.backend.set_vendor_kernels(nullptr);
    ground.backend.set_pass_shapes({});
}

}  // namespace heptad
