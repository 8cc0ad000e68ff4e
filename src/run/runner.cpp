#include "run/runner.hpp"

#include <cmath>
#include <limits>

#include "algorithm/catalogue.hpp"
#include "run/level_runner.hpp"

namespace heptad {
namespace {

double largest_finite(Type type) {
    switch (type) {
        case Type::f64:
            return std::numeric_limits<double>::max();
        case Type::f16:
            return 65504;
        default:
            return std::numeric_limits<float>::max();  // bf16's range is f32's
    }
}

/// May the sums of this plan be formed? Not if an entry is NaN or infinite (it would spread beyond its row), nor if a
/// sum of finite entries could overflow where the classical product does not.
/// `old_c` is beta times the largest entry of C: it may take part in sums too.
bool sums_are_safe(const ProductPlan& plan, double max_a, double max_b, double alpha, double old_c) {
    if (!std::isfinite(max_a) || !std::isfinite(max_b) || !std::isfinite(alpha) || !std::isfinite(old_c)) {
        return false;
    }
    double growth_a = 1;
    double growth_b = 1;
    double growth_c = 1;
    for (const LevelPlan& level : plan.levels) {
        const AlgorithmFacts& facts = find_algorithm(level.algorithm).facts;
        // A sum on the way to another one, or in an alternative basis, stays within this slack.
        constexpr double kSlack = 4;
        growth_a *= kSlack * facts.largest_sum_a;
        growth_b *= kSlack * facts.largest_sum_b;
        growth_c *= kSlack * facts.largest_sum_c;
    }
    const double limit = largest_finite(plan.type) / 4;
    const double sums_a = growth_a * max_a;
    const double sums_b = growth_b * max_b;
    const double products = static_cast<double>(plan.k) * growth_c * std::max(1.0, std::abs(alpha));
    return sums_a < limit && sums_b < limit && std::abs(old_c) * growth_c < limit &&
           sums_a < limit / products / std::max(sums_b, 1e-300);
}

bool is_float(Type type) {
    return type != Type::i32 && type != Type::gf2 && type != Type::boolean;
}

}  // namespace

RunReport run_plan(const ProductPlan& plan, Backend& backend, double alpha, const ConstView& a, const ConstView& b,
                   double beta, const View& c, void* workspace, const RunHooks& hooks) {
    RunReport report;
    if (c.rows == 0 || c.cols == 0) {
        return report;
    }
    start_product(hooks);
    const auto classical = [&](const std::string& leaf) {
        backend.multiply(std::vector<Product>{{alpha, a, b, beta, c}}, leaf);
        finish_product(hooks);
    };
    if (plan.levels.empty() || alpha == 0 || a.cols == 0) {
        classical(plan.leaf);
        return report;
    }
    if (is_float(plan.type) && !sums_are_safe(plan, backend.scan(a).max_abs, backend.scan(b).max_abs, alpha,
                                              beta == 0 ? 0 : beta * backend.scan(c).max_abs)) {
        classical(plan.fringe_leaf);
        report.fell_back = true;
        return report;
    }
    Arena arena(workspace, plan.workspace_bytes);
    // Work is counted in multiplications.
    const auto volume = [](std::int64_t m, std::int64_t k, std::int64_t n) {
        return static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);
    };
    const LeafSize leaf = leaf_size(plan);
    const double fringe_work = volume(plan.m, plan.k, plan.n) - volume(plan.core_m, plan.core_k, plan.core_n);
    ProgressMeter meter(hooks, static_cast<double>(leaf.count) * volume(leaf.m, leaf.k, leaf.n) + fringe_work);
    LevelRunner runner(plan, backend, arena, meter);
    const ConstView core_a = block(a, 0, 0, plan.core_m, plan.core_k);
    const ConstView core_b = block(b, 0, 0, plan.core_k, plan.core_n);
    const View core_c = block(c, 0, 0, plan.core_m, plan.core_n);
    if (plan.change_basis) {
        runner.run_in_changed_basis(alpha, core_a, core_b, beta, core_c);
    } else {
        runner.run(0, alpha, core_a, core_b, beta, core_c);
    }
    // What was peeled off: the rest of k for the core, then the last rows, then the last columns of the upper part.
    const std::int64_t rest_m = plan.m - plan.core_m;
    const std::int64_t rest_k = plan.k - plan.core_k;
    const std::int64_t rest_n = plan.n - plan.core_n;
    std::vector<Product> fringes;
    if (rest_k > 0) {
        fringes.push_back({alpha, block(a, 0, plan.core_k, plan.core_m, rest_k),
                           block(b, plan.core_k, 0, rest_k, plan.core_n), 1, core_c});
    }
    if (rest_m > 0) {
        fringes.push_back(
            {alpha, block(a, plan.core_m, 0, rest_m, plan.k), b, beta, block(c, plan.core_m, 0, rest_m, plan.n)});
    }
    if (rest_n > 0) {
        fringes.push_back({alpha, block(a, 0, 0, plan.core_m, plan.k), block(b, 0, plan.core_n, plan.k, rest_n), beta,
                           block(c, 0, plan.core_n, plan.core_m, rest_n)});
    }
    if (!fringes.empty()) {
        meter.check_cancelled();
        backend.multiply(fringes, plan.fringe_leaf);
    }
    finish_product(hooks);
    report.workspace_used_bytes = arena.most_used_bytes();
    return report;
}

}  // namespace heptad
