#include "tune/device_contests.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "io/device_machine.hpp"
#include "plan/predict/contest_choice.hpp"
#include "plan/predict/contest_factor.hpp"
#include "plan/search/device_entrants.hpp"
#include "run/dense/runner.hpp"
#include "tune/contest_turns.hpp"

namespace heptad {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A device's clock is the same for all who take turns; what is left of noise is below this.
constexpr double kNoticeableOnDevice = 0.985;
/// Between contests the cost model decides, with what they say of levels at the sizes around.
constexpr double kReachOnDevice = 0.15;

constexpr double kWarmSeconds = 0.1;
/// Shorter products come in rows, as they do in practice; longer ones have the card to themselves.
constexpr double kAloneFrom_s = 0.001, kRow_s = 0.005;

/// How long one contest may take, and with how many plans with levels.
struct Effort {
    std::size_t with_levels;
    bool with_other_kernel;
    int turns;
    double seconds;
};
Effort effort_for(double predicted_s) {
    constexpr double kLong_s = 0.05;
    return predicted_s < kLong_s ? Effort{6, true, 7, 2.5} : Effort{3, false, 5, 6};
}

struct Operands {
    View a, b, c;
};

std::optional<Operands> square_operands(Type type, std::int64_t n, const ContestGround& ground) {
    const std::int64_t matrix = n * n * static_cast<std::int64_t>(element_bytes(type));
    if (3 * matrix > ground.bytes) {
        return std::nullopt;
    }
    const auto at = [&](std::int64_t offset) { return View(ground.memory + offset, type, n, n, n, 1); };
    // C at the end, where no later contest has A or B: results of results would grow beyond what f16 holds.
    return Operands{at(0), at(matrix), at(ground.bytes - matrix)};
}

}  // namespace

std::optional<Contest> hold_device_contest(Type type, std::int64_t n, const ContestGround& ground,
                                           const Machine& machine, const Machine& usual) {
    const std::optional<Operands> operands = square_operands(type, n, ground);
    if (!operands) {
        return std::nullopt;
    }
    Problem problem{n, n, n, type, 1, {}};
    problem.options.device = "cuda";
    problem.options.accuracy = Accuracy::fast;
    const Effort effort = effort_for(plan_of({{}, "cublas"}, problem, machine).predicted_s);
    std::vector<ContestTurns> turns;
    std::vector<ProductPlan> plans;
    std::int64_t workspace_bytes = 0;
    for (const ContestPlan& entrant : device_entrants(problem, machine, usual, effort.with_levels)) {
        const bool is_other_kernel = entrant.algorithms.empty() && !is_whole_call(entrant.leaf);
        if (is_other_kernel && !effort.with_other_kernel) {
            continue;
        }
        turns.push_back({entrant, {}});
        plans.push_back(plan_of(entrant, problem, machine));
        workspace_bytes = std::max(workspace_bytes, plans.back().workspace_bytes);
    }
    if (plans.size() < 2) {
        return std::nullopt;
    }
    const cuda::DeviceMemory workspace(ground.backend.device(), workspace_bytes, ground.stream.handle());
    cuda::Timer timer(ground.stream.device());
    const auto seconds_of = [&](const ProductPlan& plan) {
        const auto calls = static_cast<int>(
            plan.predicted_s >= kAloneFrom_s ? 1 : std::ceil(kRow_s / std::max(plan.predicted_s, kRow_s / 1000)));
        timer.start(ground.stream.handle());
        for (int i = 0; i < calls; ++i) {
            run_plan(plan, ground.backend, 1, operands->a, operands->b, 0, operands->c, workspace.data());
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
    std::vector<double> library_s;
    std::vector<TurnTaker> takers{{[] { return 1.0; }, true}};
    for (std::size_t i = 1; i < plans.size(); ++i) {
        takers.push_back({[&library_s, &seconds_of, &plans, i] {
                              library_s.push_back(seconds_of(plans.front()));
                              return seconds_of(plans[i]) / library_s.back();
                          },
                          false,
                          balanced_follows_levels_of_contests(type) && is_balanced(plans[i].levels, device_limits())});
    }
    TurnRules rules;
    rules.most_turns = effort.turns;
    rules.most_s = effort.seconds;
    rules.clock_s = [start = Clock::now()] { return seconds_since(start); };
    take_turns(takers, rules);
    std::nth_element(library_s.begin(), library_s.begin() + static_cast<std::ptrdiff_t>(library_s.size() / 2),
                     library_s.end());
    for (std::size_t i = 0; i < turns.size(); ++i) {
        for (const double ratio : takers[i].seconds) {
            turns[i].seconds.push_back(ratio * library_s[library_s.size() / 2]);
        }
    }
    Contest contest = judge(type, n, n, n, turns);
    contest.noticeable = kNoticeableOnDevice;
    contest.reach = kReachOnDevice;
    return contest.trials.front().turns >= kFewestTurns ? std::optional(std::move(contest)) : std::nullopt;
}

void measure_device_contests(Type type, const ContestGround& ground, Machine& machine,
                             const std::function<void(const std::string&)>& note) {
    const bool on_tensor_cores = type == Type::tf32 || type == Type::bf16 || type == Type::f16;
    const std::int64_t largest = on_tensor_cores ? 32768 : 16384;
    const Machine parts = machine, usual = default_device_machine();
    ground.backend.set_vendor_kernels(vendor_kernels(machine));
    ground.backend.set_pass_shapes(pass_shapes(machine));
    for (std::int64_t n = 2048; n <= largest; n *= 2) {
        note(fmt::format("{} {}x{}x{} with levels and without", type_name(type), n, n, n));
        std::optional<Contest> contest;
        try {
            contest = hold_device_contest(type, n, ground, parts, usual);
        } catch (const Error& error) {
            if (error.code() != ErrorCode::resource) {
                throw;
            }
        }
        if (contest) {
            if (const std::optional<LevelFactor> factor = level_factor_of(*contest, parts, "cuda")) {
                machine.level_factors.push_back(*factor);
            }
            machine.contests.push_back(*std::move(contest));
        }
    }
    ground.backend.set_vendor_kernels(nullptr);
    ground.backend.set_pass_shapes({});
}

}  // namespace heptad
