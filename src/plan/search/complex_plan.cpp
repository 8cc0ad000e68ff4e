#include "plan/search/complex_plan.hpp"

#include <algorithm>

#include "base/fail_if.hpp"
#include "base/size.hpp"
#include "base/types.hpp"
#include "plan/predict/error_bound.hpp"
#include "plan/search/level_layout.hpp"

namespace heptad {
namespace {

int product_count(ComplexWay way) {
    return way == ComplexWay::three_products ? 3 : way == ComplexWay::in_place ? 4 : 1;
}

/// Do its real products add to what is there?
bool real_accumulates(ComplexWay way, bool accumulate) {
    return way == ComplexWay::in_place || (way == ComplexWay::one_product && accumulate);
}

Problem real_problem(const Problem& problem, ComplexWay way) {
    Problem real = problem;
    real.type = part_type(problem.type);
    if (way == ComplexWay::one_product) {
        real.k = checked_mul(2, problem.k);
        real.n = checked_mul(2, problem.n);
    } else if (way == ComplexWay::in_place) {
        real.options.algorithm = real.options.mode = "auto";
        real.options.levels = 0;
    }
    real.options.overwrite_inputs = false;
    real.options.accumulate = real_accumulates(way, problem.options.accumulate);
    return real;
}

/// Bytes that are read and written to make the copies and to put the parts of C together.
double copied_bytes(const Problem& problem, ComplexWay way) {
    const auto m = static_cast<double>(problem.m), k = static_cast<double>(problem.k),
               n = static_cast<double>(problem.n);
    const double parts = way == ComplexWay::three_products ? 5 * (m * k + k * n + m * n)
                         : way == ComplexWay::one_product  ? 6 * k * n
                                                           : 0;
    return parts * static_cast<double>(element_bytes(part_type(problem.type)));
}

ProductPlan made_of(const ProductPlan& real, const Problem& problem, const Machine& machine, ComplexWay way) {
    ProductPlan plan = real;
    set_size(plan, problem);
    plan.type = problem.type;
    plan.complex = way;
    plan.accumulate = problem.options.accumulate;
    plan.workspace_bytes = checked_add(real_copies_bytes(plan), real.workspace_bytes);
    plan.predicted_s = product_count(way) * real.predicted_s + copied_bytes(problem, way) / machine.combine_bytes_per_s;
    plan.error_bound = error_bound(plan);
    return plan;
}

}  // namespace

ProductPlan real_plan(const ProductPlan& plan) {
    ProductPlan real = plan;
    real.complex = ComplexWay::none;
    real.type = part_type(plan.type);
    if (plan.complex == ComplexWay::one_product) {
        real.k = checked_mul(2, plan.k);
        real.n = checked_mul(2, plan.n);
    }
    real.accumulate = real_accumulates(plan.complex, plan.accumulate);
    real.workspace_bytes = plan.workspace_bytes - real_copies_bytes(plan);
    real.predicted_s = plan.predicted_s / product_count(plan.complex);
    real.error_bound = error_bound(real);
    return real;
}

std::int64_t real_copies_bytes(const ProductPlan& plan) {
    if (plan.m == 0 || plan.k == 0 || plan.n == 0) {
        return 0;
    }
    const auto bytes = [&](std::int64_t parts, std::int64_t rows, std::int64_t cols) {
        const std::int64_t all = checked_mul(parts, checked_mul(rows, cols));
        return round_up(checked_mul(all, static_cast<std::int64_t>(element_bytes(part_type(plan.type)))),
                        kWorkspaceAlignment);
    };
    switch (plan.complex) {
        case ComplexWay::three_products:
            return checked_add(checked_add(bytes(3, plan.m, plan.k), bytes(3, plan.k, plan.n)),
                               bytes(3, plan.m, plan.n));
        case ComplexWay::one_product:
            return checked_add(checked_add(bytes(2, plan.m, plan.k), bytes(4, plan.k, plan.n)),
                               bytes(2, plan.m, plan.n));
        default:
            return 0;
    }
}

ProductPlan plan_complex_way(const Problem& problem, const Machine& machine, ComplexWay way,
                             const PlannerLimits& limits) {
    ProductPlan copies = empty_plan(problem);
    copies.complex = way;
    const std::int64_t left = problem.options.workspace_limit_bytes - real_copies_bytes(copies);
    if (left < 0 && problem.options.accuracy == Accuracy::exact) {
        fail(ErrorCode::resource,
             "an exact product of {} needs {} bytes of workspace for its real numbers, and {} are allowed; raise the "
             "limit or use accuracy strict",
             type_name(problem.type), real_copies_bytes(copies), problem.options.workspace_limit_bytes);
    }
    Problem real = real_problem(problem, way);
    real.options.workspace_limit_bytes = std::max<std::int64_t>(left, 0);
    return made_of(make_plan(real, machine, limits), problem, machine, way);
}

ProductPlan make_complex_plan(const Problem& problem, const Machine& machine, const PlannerLimits& limits) {
    const Accuracy accuracy = problem.options.accuracy;
    ProductPlan one = plan_complex_way(problem, machine, ComplexWay::one_product, limits);
    if (accuracy != Accuracy::strict && accuracy != Accuracy::exact) {
        ProductPlan three = plan_complex_way(problem, machine, ComplexWay::three_products, limits);
        if (fits_workspace(three, problem) && (!fits_workspace(one, problem) || three.predicted_s < one.predicted_s)) {
            return three;
        }
    }
    return fits_workspace(one, problem) ? one : plan_complex_way(problem, machine, ComplexWay::in_place, limits);
}

ProductPlan complex_library_plan(const Problem& problem, const Machine& machine, const PlannerLimits& limits) {
    const Problem real = real_problem(problem, ComplexWay::one_product);
    ProductPlan plan = made_of(library_plan(real, machine, limits), problem, machine, ComplexWay::one_product);
    plan.predicted_s = real_plan(plan).predicted_s;
    return plan;
}

void check_complex_plan(const ProductPlan& plan) {
    fail_if(!is_complex(plan.type) || plan.complex == ComplexWay::none || is_on_device(plan), ErrorCode::input,
            "only a plan of c64 or c128 on the processor says complex=three-products, one-product or in-place; this "
            "one is of {} on {} and says {}",
            type_name(plan.type), plan.backend, complex_way_name(plan.complex));
    check_plan(real_plan(plan));
    ProductPlan expected = plan;
    expected.error_bound = error_bound(plan);
    expected.overwrite_inputs = false;
    if (!(expected == plan)) {
        fail(ErrorCode::input, "the plan is inconsistent: with its levels it would read '{}'", to_string(expected));
    }
}

}  // namespace heptad
