#include "papers/p0/c1060.hpp"

#include <bit>

#include "base/error.hpp"
#include "plan/search/planner.hpp"

namespace heptad {
namespace {

// GPU8's half warps handle 16 elements: with smaller blocks the paper's formulas are no whole numbers.
constexpr std::int64_t smallest_leaf = 16;
// Counts of 2 n^3 arithmetics fit in 64 bits.
constexpr std::int64_t largest_size = std::int64_t{1} << 20;

void require_power_of_two(std::int64_t n) {
    if (n < smallest_leaf || n > largest_size || !std::has_single_bit(static_cast<std::uint64_t>(n))) {
        fail(ErrorCode::usage,
             "the counts of c1060 are for sizes that are a power of two, {} to {}, as the paper assumes; {} is not one",
             smallest_leaf, largest_size, n);
    }
}

}  // namespace

Machine c1060_machine() {
    Machine machine;
    machine.cpu = "c1060";
    machine.measured = true;
    machine.combine_bytes_per_s = 102.4e9;  // NVIDIA's peak of the memory
    machine.scan_bytes_per_s = 102.4e9;
    machine.call_s = 1e-5;  // a guess: next to nothing beside blocks of 1024
    LeafProfile gpu8{"gpu8", Type::f32, 1, {}};
    // Figure 16 has no times below 2048; the rate there is taken to be the same.
    constexpr double at_2048_s = 0.046;
    for (std::int64_t n = smallest_leaf; n < 2048; n *= 2) {
        const double fraction = static_cast<double>(n) / 2048;
        gpu8.samples.push_back({n, n, n, at_2048_s * fraction * fraction * fraction});
    }
    gpu8.samples.push_back({2048, 2048, 2048, at_2048_s});
    gpu8.samples.push_back({4096, 4096, 4096, 0.361});
    gpu8.samples.push_back({8192, 8192, 8192, 2.875});
    gpu8.samples.push_back({16384, 16384, 16384, 22.971});
    machine.leaves.push_back(gpu8);
    return machine;
}

P0Thresholds thresholds_for_levels(std::int64_t n, int levels) {
    require_power_of_two(n);
    if (levels < 0 || levels > std::countr_zero(static_cast<std::uint64_t>(n / smallest_leaf))) {
        fail(ErrorCode::usage, "{} levels of {} leave GPU8 blocks below {}; ask for fewer levels", levels, n,
             smallest_leaf);
    }
    return p0_thresholds(n, levels);
}

ProductPlan plan_for_c1060(ProblemSize size, const std::string& algorithm, const P0Thresholds& thresholds) {
    if (size.m != size.k || size.k != size.n) {
        fail(ErrorCode::usage, "the counts of c1060 are for square matrices, not for {}x{}x{}", size.m, size.k, size.n);
    }
    require_power_of_two(size.n);
    const std::vector<LevelPlan> levels = p0_levels(size.n, algorithm, thresholds);
    const std::int64_t leaf = size.n >> levels.size();
    if (leaf < smallest_leaf) {
        fail(ErrorCode::usage, "tau1 = {} and tau2 = {} leave GPU8 blocks of {}, below {}; raise them", thresholds.tau1,
             thresholds.tau2, leaf, smallest_leaf);
    }
    Problem problem;
    problem.m = problem.k = problem.n = size.n;
    problem.type = Type::f32;
    problem.options.device = "c1060";
    return plan_with_levels(problem, c1060_machine(), levels);
}

DeviceCounts counts_on_c1060(const ProductPlan& plan) {
    DeviceCounts counts = gpu8_counts();
    for (auto level = plan.levels.rbegin(); level != plan.levels.rend(); ++level) {
        const Schedule& schedule = find_schedule(level->schedule);
        counts = level == plan.levels.rbegin() ? counts_over_gpu8(schedule) : counts_over(schedule, counts);
    }
    return counts;
}

}  // namespace heptad
