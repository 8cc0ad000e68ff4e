#include "place/devices/device_contests.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "place/devices/device_machine.hpp"
#include "place/devices/pass_tuning.hpp"
#include "plan/contest_choice.hpp"
#include "plan/contest_factor.hpp"
#include "plan/device_entrants.hpp"
#include "run/contest_turns.hpp"
#include "run/runner.hpp"

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
constexpr double kLongTurn_s = 0.1;

/// How long one contest may take, and with how many plans with levels.
struct Effort {
    std::size_t with_levels;
    int turns;
    double seconds;
};
Effort effort_for(double predicted_s) {
    return predicted_s < kLongTurn_s / 4 ? Effort{6, 9, 1.5} : Effort{3, 5, 4};
}

struct Operands {
    View a, b, c;
};

std::optional<Operands> square_operands(Type type, std::int64_t n, const ContestGround& ground) {
    const std::int64_t matrix = n * n * static_cast<std::int64_t>(element_bytes(type));
    if (3 * matrix > ground.bytes) {
        return std::nullopt;
    }
    const auto nth = [&](int i) { return View(ground.memory + i * matrix, type, n, n, n, 1); };
    return Operands{nth(0), nth(1), nth(2)};
}

std::optional<Contest> hold_contest(Type type, std::int64_t n, const ContestGround& ground, const Machine& machine,
                                    const Machine& usual) {
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
        turns.push_back({entrant, {}});
        plans.push_back(plan_of(entrant, problem, machine));
        workspace_bytes = std::max(workspace_bytes, plans.back().workspace_bytes);
    }
    const cuda::DeviceMemory workspace(ground.backend.device(), workspace_bytes, ground.stream.handle());
    cuda::Timer timer(ground.stream.device());
    std::vector<TurnTaker> takers;
    for (const ProductPlan& plan : plans) {
        const auto calls = static_cast<int>(
            plan.predicted_s >= kAloneFrom_s ? 1 : std::ceil(kRow_s / std::max(plan.predicted_s, kRow_s / 1000)));
        const auto run = [&ground, &timer, &workspace, &plan, operands, calls] {
            timer.start(ground.stream.handle());
            for (int i = 0; i < calls; ++i) {
                run_plan(plan, ground.backend, 1, operands->a, operands->b, 0, operands->c, workspace.data());
            }
            timer.stop(ground.stream.handle());
            return timer.seconds() / calls;
        };
        takers.push_back({run, plan.levels.empty() && is_whole_call(plan.leaf)});
    }
    // The first calls load kernels, and a card that was idle is faster than it will ever be again.
    const Clock::time_point warming = Clock::now();
    do {
        for (const TurnTaker& taker : takers) {
            taker.run();
        }
    } while (seconds_since(warming) < kWarmSeconds);
    TurnRules rules;
    rules.most_turns = effort.turns;
    rules.most_s = effort.seconds;
    rules.clock_s = [start = Clock::now()] { return seconds_since(start); };
    take_turns(takers, rules);
    for (std::size_t i = 0; i < turns.size(); ++i) {
        turns[i].seconds = std::move(takers[i].seconds);
    }
    Contest contest = judge(type, n, n, n, turns);
    contest.noticeable = kNoticeableOnDevice;
    contest.reach = kReachOnDevice;
    return contest.trials.front().turns >= kFewestTurns ? std::optional(std::move(contest)) : std::nullopt;
}

}  // namespace

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
            contest = hold_contest(type, n, ground, parts, usual);
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
