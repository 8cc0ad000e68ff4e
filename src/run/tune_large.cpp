#include "run/tune_large.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <thread>

#include "plan/planner.hpp"
#include "run/runner.hpp"
#include "run/tune_batches.hpp"

namespace heptad {
namespace {

constexpr double kMostTurns = 6;

/// Runs `action` after a pause, so that nobody's threads are still spinning, and keeps its least time.
void take_turn(double& least_s, const std::function<void()>& action) {
    std::this_thread::sleep_for(kSettle);
    least_s = std::min(least_s, time_calls(1, 0, action));
}

struct LeafInContest {
    LeafProfile* profile = nullptr;
    double least_s = std::numeric_limits<double>::infinity();
};

}  // namespace

void measure_large_products(cpu::CpuBackend& backend, const Operands& operands, Type type, double most_s,
                            Machine& machine) {
    const LeafProfile* reference = fastest_profile(machine.leaves, type, LeafThreads::ours, kTypical);
    if (reference == nullptr || !std::isfinite(sample_at(reference->in_batches, kTypical))) {
        return;
    }
    const std::vector<Product> batch = batch_of(operands, kTypical, machine.threads);
    const double batch_s = sample_at(reference->in_batches, kTypical) * static_cast<double>(batch.size());
    const int batch_leaf = cpu::CpuBackend::leaf_id(reference->leaf);

    std::vector<LeafInContest> leaves;
    const double growth = std::pow(static_cast<double>(kLongest) / kLargest, 3);
    double turn_s = batch_s;
    for (const LeafThreads threads : {LeafThreads::ours, LeafThreads::its_own}) {
        if (LeafProfile* profile = fastest_profile(machine.leaves, type, threads, kLargest)) {
            leaves.push_back({profile});
            turn_s += growth * sample_at(profile->samples, kLargest);
        }
    }
    const Problem problem{kLongest, kLongest, kLongest, type, machine.threads, {}};
    const LevelPlan level{"winograd", LevelMode::parallel, ""};
    const ProductPlan levels = plan_with_levels(problem, machine, {level, level});
    turn_s +=
        levels.predicted_s + static_cast<double>(leaves.size() + 2) * std::chrono::duration<double>(kSettle).count();

    const int turns = static_cast<int>(std::min(kMostTurns, most_s / turn_s));
    if (turns == 0) {
        return;
    }
    const Product product = operands.product({kLongest, kLongest, kLongest});
    const Operands::Memory workspace = Operands::huge_pages(static_cast<std::size_t>(levels.workspace_bytes));
    double least_batch_s = std::numeric_limits<double>::infinity(), least_levels_s = least_batch_s;
    for (int turn = 0; turn < turns; ++turn) {
        take_turn(least_batch_s, [&] { backend.multiply(batch, batch_leaf); });
        for (LeafInContest& leaf : leaves) {
            const int id = cpu::CpuBackend::leaf_id(leaf.profile->leaf);
            backend.multiply_one(operands.product({512, 512, 512}), id);  // wakes its threads
            take_turn(leaf.least_s, [&] { backend.multiply_one(product, id); });
        }
        take_turn(least_levels_s,
                  [&] { run_plan(levels, backend, 1, product.a, product.b, 0, product.c, workspace.get()); });
    }
    const double scale = batch_s / least_batch_s;  // to the clock of the other samples
    for (const LeafInContest& leaf : leaves) {
        leaf.profile->samples.push_back({kLongest, kLongest, kLongest, scale * leaf.least_s});
    }
    machine.level_factors.push_back({type, std::clamp(scale * least_levels_s / levels.predicted_s, 0.8, 1.5)});
}

}  // namespace heptad
