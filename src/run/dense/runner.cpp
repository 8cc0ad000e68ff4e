#include "run/dense/runner.hpp"

#include <cmath>
#include <limits>

#include "algorithm/catalogue.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "plan/search/fused_instances.hpp"
#include "plan/search/planner.hpp"
#include "run/dense/evenness.hpp"
#include "run/dense/level_runner.hpp"
#include "run/residue/residue_runner.hpp"

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

/// How much larger than A, B and the products the sums of a plan can be.
struct Growth {
    double a = 1, b = 1, c = 1;
};
Growth plan_growth(const ProductPlan& plan) {
    Growth growth;
    for (const LevelPlan& level : plan.levels) {
        const AlgorithmFacts& facts = find_algorithm(level.algorithm).facts;
        // A sum on the way to another one, or in an alternative basis, stays within this slack.
        constexpr double kSlack = 4;
        growth.a *= kSlack * facts.largest_sum_a;
        growth.b *= kSlack * facts.largest_sum_b;
        growth.c *= kSlack * facts.largest_sum_c;
    }
    return growth;
}

/// Bounds on A and B within which no sum of the plan overflows where the classical product does not. All zero, which
/// nothing is below, if alpha itself is not finite.
GuardLimits operand_limits(const ProductPlan& plan, double alpha) {
    if (!std::isfinite(alpha)) {
        return {};
    }
    if (plan.scaled_sums) {
        // Sums of A and B, made before they are scaled, have room in f32; powers of two put back with alpha have too.
        // Beyond what f16 holds (or f32, which holds any product of scaled sums), and near the limit of the result,
        // the classical product answers.
        constexpr double kLargestOperand = 0x1p100, kLargestAlpha = 0x1p60;
        const bool moderate = std::abs(alpha) < kLargestAlpha && std::abs(alpha) > 1 / kLargestAlpha;
        return moderate ? GuardLimits{kLargestOperand, kLargestOperand, std::numeric_limits<double>::infinity(),
                                      largest_finite(products_type(plan.type, true)), largest_finite(plan.type) / 4}
                        : GuardLimits{};
    }
    const Growth growth = plan_growth(plan);
    const double limit = largest_finite(plan.type) / 4;
    const double products = static_cast<double>(plan.k) * growth.c * std::max(1.0, std::abs(alpha));
    return {limit / growth.a, limit / growth.b, limit / products / growth.a / growth.b};
}

/// Far enough above the subnormal numbers for sums with them to keep their digits.
double smallest_product(Type type) {
    return type == Type::f64 ? 0x1p-960 : type == Type::f16 ? 0x1p-6 : 0x1p-96;
}

/// What `balanced` asks for, whatever the plan does about it.
double even_enough(const ProductPlan& plan) {
    return plan.least_evenness > 0 ? plan.least_evenness : least_evenness_of(plan.levels);
}

/// Does the outermost level add its products to C one by one? Then C takes part in sums, of which the first ones may
/// overflow where the last one does not.
bool adds_to_c_at_once(const ProductPlan& plan, double beta) {
    return beta != 0 && !plan.padded && plan.levels.front().mode == LevelMode::fused;
}

/// With beta = 0 a fused level need not look at A and B where they may be uneven: what is not finite in them, and every
/// sum or product that overflows, makes some entry of C infinite or NaN, and no later addition makes that finite again.
bool is_judged_by_result(const ProductPlan& plan, double beta) {
    return beta == 0 && !plan.padded && plan.levels.front().mode == LevelMode::fused && plan.least_evenness == 0;
}

/// The same for a backend that judges by itself, with what it is to see of C.
GuardLimits guard_limits(const ProductPlan& plan, double alpha, double beta) {
    if (is_judged_by_result(plan, beta)) {
        constexpr double any = std::numeric_limits<double>::infinity();  // any finite value is below it
        return {any, any, any, any, any};
    }
    GuardLimits limits = operand_limits(plan, alpha);
    limits.least_evenness = plan.least_evenness;
    limits.even_enough = even_enough(plan);
    limits.may_scale = can_scale(plan, beta);
    limits.smallest_product = smallest_product(plan.type);
    if (adds_to_c_at_once(plan, beta)) {
        limits.result = largest_finite(plan.type) / 4 / plan_growth(plan).c / std::max(1.0, std::abs(beta));
    }
    return limits;
}

/// May the sums of this plan be formed? Not if an entry is NaN or infinite (it would spread beyond its row), nor if a
/// sum of finite entries could overflow. `old_c` is beta times the largest entry of C: it may take part in sums too.
bool sums_are_safe(const ProductPlan& plan, double max_a, double max_b, double alpha, double old_c) {
    const GuardLimits limits = operand_limits(plan, alpha);
    return max_a < limits.a && max_b < limits.b && max_a * max_b < limits.product &&  // false for NaN
           std::abs(old_c) * plan_growth(plan).c < largest_finite(plan.type) / 4;
}

/// Levels would lose more than a digit to a classical product that rounds next to nothing.
bool is_too_short(const ProductPlan& plan, const Evenness& even) {
    return plan.least_evenness > 0 && only_levels_round(even, plan.k, plan.levels);
}

bool is_uneven(const ProductPlan& plan, const Evenness& even) {
    return even.value < even_enough(plan);
}

/// The least of those that are not zero.
double least_line(const std::vector<double>& largest) {
    double least = std::numeric_limits<double>::infinity();
    for (const double x : largest) {
        least = x > 0 ? std::min(least, x) : least;
    }
    return least;
}

/// Looks at A and B before anything is made of them. False: the classical product must answer.
bool judge(const ProductPlan& plan, Backend& backend, const Product& product, double share, Evenness& even) {
    const auto& [alpha, a, b, beta, c, imaginary] = product;
    const ScanResult of_a = backend.scan(a), of_b = backend.scan(b);
    const double old_c = beta == 0 ? 0 : beta * backend.scan(c).max_abs;
    even.value = std::numeric_limits<double>::infinity();
    if (!sums_are_safe(plan, of_a.max_abs, of_b.max_abs, alpha, old_c)) {
        return false;
    }
    const std::vector<LevelPlan> none, &levels = plan.least_evenness > 0 ? plan.levels : none;
    even = judge_evenness(backend, a, of_a, b, of_b, levels, can_scale(plan, beta), share);
    if (is_uneven(plan, even) && even.scales() && plan.least_evenness == 0) {
        // What no powers make even may be worse with them.
        even = judge_evenness(backend, a, of_a, b, of_b, levels, false, share);
    }
    if (!(even.value >= plan.least_evenness) || is_too_short(plan, even)) {
        return false;
    }
    if (!even.scales()) {
        return true;
    }
    // Sums are kept with powers along k beside them, and products with those of rows and columns, where a block is
    // multiplied as it lies there: neither may leave the range of the type, nor fall among its subnormal numbers.
    const double small = std::min(least_line(of_a.rows), even.max_a) * std::min(least_line(of_b.cols), even.max_b);
    const int room = plan.type == Type::f16 ? kMostInnerOfF16 : kMostInner;
    return even.most_inner <= room && small >= smallest_product(plan.type) &&
           sums_are_safe(plan, std::ldexp(even.max_a, even.most_inner), std::ldexp(even.max_b, even.most_inner), alpha,
                         0);
}

/// A, B and C in workspace with zeros appended. The caller's C is written at the end, if the sums could be trusted.
class ExtendedOperands {
public:
    ExtendedOperands(const ProductPlan& plan, Backend& backend, Arena& arena, const ConstView& a, const ConstView& b,
                     const View& c)
        : backend_(backend),
          a_(take(plan, arena, a, plan.core_m, plan.core_k, Shape::a)),
          b_(take(plan, arena, b, plan.core_k, plan.core_n, Shape::b)),
          c_(take(plan, arena, c, plan.core_m, plan.core_n, Shape::c)) {
        fill(a, a_);
        fill(b, b_);
    }
    const View& a() const { return a_; }
    const View& b() const { return b_; }
    const View& c() const { return c_; }

    void give_back(double beta, const View& c) const {
        const View result = block(c_, 0, 0, c.rows, c.cols);
        CombinePass pass{{c, result}, {{0, {{1, 1}}}}};
        if (beta != 0) {
            pass.statements.front().terms.push_back({0, beta});
        }
        pass.only_if_safe = true;
        backend_.combine(pass);
    }

private:
    static View take(const ProductPlan& plan, Arena& arena, const ConstView& like, std::int64_t rows, std::int64_t cols,
                     Shape shape) {
        const ProblemSize size{plan.core_m, plan.core_k, plan.core_n};
        const bool padded = is_on_device(plan);
        return storage_view(arena.take(block_bytes(shape, size, plan.type, padded)), like, rows, cols, padded);
    }
    void fill(const ConstView& from, const View& to) const {
        backend_.copy(from, block(to, 0, 0, from.rows, from.cols));
        clear(block(to, 0, from.cols, from.rows, to.cols - from.cols));
        clear(block(to, from.rows, 0, to.rows - from.rows, to.cols));
    }
    void clear(const View& view) const {
        if (view.rows > 0 && view.cols > 0) {
            backend_.combine({{view}, {{0, {}}}});
        }
    }

    Backend& backend_;
    View a_, b_, c_;
};

void require_fused_kernels(const ProductPlan& plan, const Backend& backend) {
    if (is_fused(plan)) {
        const std::string& algorithm = plan.levels.back().algorithm;
        const OperandCounts most = fused_instances(algorithm).most;
        if (!backend.fuses(plan.type, most.a, most.b, most.c)) {
            fail(ErrorCode::usage,
                 "the {} backend has no kernel that adds up to {} blocks of A and {} of B of {} inside, as the fused "
                 "level of {} needs; use a plan without it",
                 backend.name(), most.a, most.b, type_name(plan.type), algorithm);
        }
    }
}

}  // namespace

RunReport run_plan(const ProductPlan& plan, Backend& backend, const Product& product, void* workspace,
                   const RunHooks& hooks) {
    if (is_by_residues(plan)) {
        hooks.result_changes(product.beta != 0);
        return run_residue_plan(plan, backend, product, workspace, hooks);
    }
    const double alpha = product.alpha, beta = product.beta;
    const ConstView &a = product.a, &b = product.b;
    const View& c = product.c;
    RunReport report;
    if (c.rows == 0 || c.cols == 0) {
        return report;
    }
    start_product(hooks);
    require_fused_kernels(plan, backend);
    const auto classical = [&](const std::string& leaf) {
        hooks.result_changes(beta != 0);
        backend.multiply({&product, 1}, leaf);
        finish_product(hooks);
    };
    if ((plan.levels.empty() && !plan.padded) || !product.reads_operands()) {
        backend.begin_product(workspace, plan.levels.empty() ? reserved_bytes(plan) : 0);
        classical(plan.levels.empty() ? plan.leaf : plan.fringe_leaf);
        return report;
    }
    const std::int64_t reserved = reserved_bytes(plan);
    backend.begin_product(workspace, reserved);
    const bool judges = is_float(plan.type) && !plan.levels.empty();
    DeferredGuard* const guard = judges ? backend.deferred_guard() : nullptr;
    Evenness even;
    if (judges && guard == nullptr) {
        if (!judge(plan, backend, {alpha, a, b, beta, c}, hooks.error_share, even)) {
            report.uneven = is_uneven(plan, even);
            report.short_numbers = !report.uneven && is_too_short(plan, even);
            classical(plan.fringe_leaf);
            report.fell_back = true;
            return report;
        }
        report.uneven = is_uneven(plan, even);
        report.scaled = even.scales();
    }
    const std::span<std::byte> free(
        static_cast<std::byte*>(workspace) + reserved,
        static_cast<std::size_t>(plan.workspace_bytes - plan.vendor_workspace_bytes - reserved));
    Arena arena(free.data(), static_cast<std::int64_t>(free.size()));
    // Work is counted in multiplications.
    const auto volume = [](std::int64_t m, std::int64_t k, std::int64_t n) {
        return static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);
    };
    const LeafSize leaf = leaf_size(plan);
    const double fringe_work =
        plan.padded ? 0 : volume(plan.m, plan.k, plan.n) - volume(plan.core_m, plan.core_k, plan.core_n);
    WorkMeter meter =
        dense_meter(hooks, static_cast<double>(leaf.count) * volume(leaf.m, leaf.k, leaf.n) + fringe_work);
    LevelRunner runner(plan, backend, arena, meter);
    ProductExponents lines;
    if (even.scales()) {  // zeros for what is appended
        even.rows.resize(static_cast<std::size_t>(std::max(plan.m, plan.core_m)));
        even.inner.resize(static_cast<std::size_t>(std::max(plan.k, plan.core_k)));
        even.minus_inner.resize(even.inner.size());
        even.cols.resize(static_cast<std::size_t>(std::max(plan.n, plan.core_n)));
        lines = {even.of_a(), even.of_b()};
    }
    const auto run_levels = [&](const ConstView& left, const ConstView& right, double old, const View& result) {
        const LinedProduct whole{{alpha, left, right, old, result}, lines.a, lines.b, lines.c()};
        if (plan.change_basis) {
            runner.run_in_changed_basis(whole);
        } else {
            runner.run(0, whole, plan.overwrite_inputs);
        }
    };
    if (plan.padded) {
        const ExtendedOperands operands(plan, backend, arena, a, b, c);
        if (guard != nullptr) {
            guard->start(guard_limits(plan, alpha, beta), plan.core_m, plan.core_k, plan.core_n);
            lines = guard->judge_evenness(a, b);
            guard->watch(0, a);
            guard->watch(1, b);
        }
        run_levels(operands.a(), operands.b(), 0, operands.c());
        hooks.result_changes(beta != 0);
        operands.give_back(beta, c);
        if (guard != nullptr) {
            guard->answer_if_unsafe({alpha, a, b, beta, c}, free);
            guard->finish();
        }
        finish_product(hooks);
        report.workspace_used_bytes = arena.most_used_bytes();
        return report;
    }
    const ConstView core_a = block(a, 0, 0, plan.core_m, plan.core_k);
    const ConstView core_b = block(b, 0, 0, plan.core_k, plan.core_n);
    const View core_c = block(c, 0, 0, plan.core_m, plan.core_n);
    if (guard != nullptr) {
        guard->start(guard_limits(plan, alpha, beta), plan.core_m, plan.core_k, plan.core_n);
        if (!is_judged_by_result(plan, beta)) {
            lines = guard->judge_evenness(core_a, core_b);
        }
        if (plan.levels.front().mode == LevelMode::parallel && !plan.change_basis && !plan.scaled_sums) {
            runner.watch_operands();
        } else if (!is_judged_by_result(plan, beta)) {
            guard->watch(0, core_a);
            guard->watch(1, core_b);
        }
        if (adds_to_c_at_once(plan, beta)) {
            guard->watch(kWatchedC, core_c);
        }
    }
    // What is peeled off: the rest of k for the core, the last rows, then the last columns of the upper part.
    const std::int64_t rest_m = plan.m - plan.core_m;
    const std::int64_t rest_k = plan.k - plan.core_k;
    const std::int64_t rest_n = plan.n - plan.core_n;
    std::vector<Product> fringes;
    if (rest_m > 0) {
        fringes.push_back(
            {alpha, block(a, plan.core_m, 0, rest_m, plan.k), b, beta, block(c, plan.core_m, 0, rest_m, plan.n)});
    }
    if (rest_n > 0) {
        fringes.push_back({alpha, block(a, 0, 0, plan.core_m, plan.k), block(b, 0, plan.core_n, plan.k, rest_n), beta,
                           block(c, 0, plan.core_n, plan.core_m, rest_n)});
    }
    const auto multiply_fringes = [&] {
        if (!fringes.empty()) {
            meter.stop_if_cancelled();
            hooks.result_changes(beta != 0);
            backend.multiply(fringes, plan.fringe_leaf);
            fringes.clear();
        }
    };
    if (plan.overwrite_inputs) {  // while A and B are still whole
        multiply_fringes();
    }
    run_levels(core_a, core_b, beta, core_c);
    if (guard != nullptr) {
        if (is_judged_by_result(plan, beta)) {
            guard->watch(kWatchedC, core_c);
        }
        guard->answer_if_unsafe({alpha, core_a, core_b, beta, core_c}, free);
        guard->finish();
    }
    if (rest_k > 0) {
        fringes.push_back({alpha, block(a, 0, plan.core_k, plan.core_m, rest_k),
                           block(b, plan.core_k, 0, rest_k, plan.core_n), 1, core_c});
    }
    multiply_fringes();
    finish_product(hooks);
    report.workspace_used_bytes = arena.most_used_bytes();
    return report;
}

}  // namespace heptad
