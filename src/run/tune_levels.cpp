#include "run/tune_levels.hpp"

#include <algorithm>
#include <thread>

#include "plan/planner.hpp"
#include "run/runner.hpp"
#include "run/tune_batches.hpp"

namespace heptad {

double measure_level_factor(cpu::CpuBackend& backend, const Machine& machine, const Operands& operands, Type type,
                            double most_s) {
    Problem problem{kLargest, kLargest, kLargest, type, machine.threads, {}};
    const LevelPlan level{"winograd", LevelMode::parallel, ""};
    const ProductPlan classical = plan_with_levels(problem, machine, {});
    const ProductPlan levels = plan_with_levels(problem, machine, {level, level});
    const double turn_s = classical.predicted_s + levels.predicted_s + std::chrono::duration<double>(kSettle).count();
    constexpr double kMostTurns = 5;
    const int turns = static_cast<int>(std::min(kMostTurns, most_s / turn_s));
    const Product product = operands.product({kLargest, kLargest, kLargest});
    const Operands::Memory workspace = Operands::huge_pages(static_cast<std::size_t>(levels.workspace_bytes));
    const int leaf = cpu::CpuBackend::leaf_id(classical.leaf);
    std::vector<double> ratios;
    for (int turn = 0; turn < turns; ++turn) {
        std::this_thread::sleep_for(kSettle);  // threads of a library may still be spinning
        const double levels_s = time_calls(
            1, 0, [&] { run_plan(levels, backend, 1, product.a, product.b, 0, product.c, workspace.get()); });
        ratios.push_back(levels_s / time_calls(1, 0, [&] { backend.multiply_one(product, leaf); }));
    }
    if (ratios.empty()) {
        return 1;
    }
    return std::clamp(median(ratios) * classical.predicted_s / levels.predicted_s, 0.8, 1.5);
}

}  // namespace heptad
