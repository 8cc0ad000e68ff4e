#include "product/file/step_plans.hpp"

#include <algorithm>

#include "base/fail_if.hpp"
#include "base/types.hpp"
#include "plan/predict/error_bound.hpp"
#include "plan/predict/promised_error.hpp"
#include "plan/search/level_layout.hpp"

namespace heptad {

namespace {

double work_of(const ProductPlan& p) {
    return static_cast<double>(p.m) * static_cast<double>(p.k) * static_cast<double>(p.n);
}

/// The shapes that are multiplied, each once.
std::vector<StageProduct> shapes_of(const FileSchedule& schedule, const FileChoice& choice) {
    const FileTraffic& traffic = choice.traffic;
    std::vector<StageProduct> shapes;
    const auto add = [&](std::int64_t m, std::int64_t k, std::int64_t n) {
        if (std::none_of(shapes.begin(), shapes.end(),
                         [&](const StageProduct& s) { return s.m == m && s.k == k && s.n == n; })) {
            shapes.push_back({m, k, n, schedule.panels() > 1 || schedule.adds(), traffic.workspace_bytes,
                              traffic.tile_bytes, traffic.panel_bytes});
        }
    };
    const std::int64_t last_row = schedule.tiles() - 1, across = schedule.tiles_across();
    for (const std::int64_t tile : {std::int64_t{0}, across - 1, last_row - across + 1, last_row}) {
        for (const std::int64_t panel :
             {std::int64_t{0}, std::min<std::int64_t>(1, schedule.panels() - 1), schedule.panels() - 1}) {
            for (const std::int64_t strip : {std::int64_t{0}, schedule.strips(tile) - 1}) {
                const FileWindow left = schedule.left_window(tile, panel, strip);
                add(left.rows, left.cols, schedule.right_window(tile, panel).cols);
            }
        }
    }
    const std::int64_t last_panel = schedule.panels() - 1, last_strip = schedule.strips(last_row) - 1;
    const std::int64_t depth = schedule.right_window(last_row, last_panel).rows;
    for (const FileWindow& piece : schedule.result_pieces(last_row, last_strip)) {
        add(piece.rows, depth, piece.cols);
    }
    return shapes;
}

/// The plan of a product with how another one's blocks are multiplied.
ProductPlan with_step(const ProductPlan& plan, ProductPlan step) {
    step.m = plan.m;
    step.k = plan.k;
    step.n = plan.n;
    step.disk = plan.disk;
    step.accumulate = plan.accumulate;
    step.workspace_bytes = plan.workspace_bytes;
    step.predicted_s = plan.predicted_s;
    step.error_bound = plan.error_bound;
    return step;
}

/// What is promised of the largest step is promised of all, and smaller ones may have room for levels that it has not.
bool promises_less(const ProductPlan& step, const ProductPlan& than) {
    const ErrorPromise one = promised_error(step, 1, false), other = promised_error(than, 1, false);
    return one.over > other.over || (one.over == other.over && one.bound > other.bound);
}

/// The step as the plan says, where that is another one than the stage would make.
ProductPlan step_as_said(const ProductPlan& plan, const ProductPlan& planned, const StageProducts& stage) {
    const ProductPlan said = with_step(planned, plan);
    if (plan.leaf == kAutomaticLeaf || said == planned) {
        return planned;
    }
    if (!stage.check) {
        fail(ErrorCode::input,
             "the plan's steps of {} x {} x {} would be multiplied differently here: the plan says '{}', this machine "
             "'{}'; make the plan again here, with these options",
             planned.m, planned.k, planned.n, to_string(said), to_string(planned));
    }
    ProductPlan step = said;
    step.workspace_bytes = plan_workspace_bytes(step);
    step.error_bound = error_bound(step);
    stage.check(step);
    fail_if(step.workspace_bytes > plan.workspace_bytes, ErrorCode::input,
            "the plan has a workspace of {} bytes, and its steps need {}", plan.workspace_bytes, step.workspace_bytes);
    return step;
}

}  // namespace

StepPlans::StepPlans(const FileSchedule& schedule, const FileChoice& choice, const StageProducts& stage) {
    for (const StageProduct& shape : shapes_of(schedule, choice)) {
        plans_[{shape.m, shape.k, shape.n}] = stage.plan(shape, choice.plan.type);
    }
    const ProductPlan said = step_as_said(choice.plan, largest(), stage);
    plans_[{said.m, said.k, said.n}] = said;
    for (StageProduct shape : shapes_of(schedule, choice)) {
        ProductPlan& plan = plans_[{shape.m, shape.k, shape.n}];
        if (promises_less(plan, said)) {
            shape.by_definition = true;
            plan = stage.plan(shape, choice.plan.type);
        }
    }
}

StepPlans::StepPlans(const std::vector<ProductPlan>& kept) {
    for (const ProductPlan& plan : kept) {
        plans_[{plan.m, plan.k, plan.n}] = plan;
    }
}

const ProductPlan& StepPlans::of(std::int64_t m, std::int64_t k, std::int64_t n) const {
    const auto found = plans_.find({m, k, n});
    fail_if(found == plans_.end(), ErrorCode::internal, "there is no plan for a product of {} x {} x {}", m, k, n);
    return found->second;
}

std::vector<ProductPlan> StepPlans::all() const {
    std::vector<ProductPlan> list;
    for (const auto& [key, plan] : plans_) {
        list.push_back(plan);
    }
    return list;
}

const ProductPlan& StepPlans::largest() const {
    return std::max_element(plans_.begin(), plans_.end(),
                            [](const auto& x, const auto& y) { return work_of(x.second) < work_of(y.second); })
        ->second;
}

double StepPlans::largest_growth() const {
    double growth = 1;
    for (const auto& [key, plan] : plans_) {
        growth = std::max(growth, complex_growth(plan) * expected_growth(plan.levels));
    }
    return growth;
}

ProductPlan with_steps(const FileProblem& problem, const FileLaunch& launch, const FileSchedule& schedule,
                       const StepPlans& products) {
    ProductPlan plan = with_step(launch.plan, products.largest());
    // Sums of partial products: each has its bound, and each addition rounds what is there.
    const auto panels = static_cast<double>(schedule.panels());
    const std::int64_t k = launch.layers ? launch.layers->part.k : problem.k;
    plan.error_bound = panels * products.largest_of(&ProductPlan::error_bound) +
                       (panels - 1) * static_cast<double>(k) * unit_roundoff(problem.type);
    if (launch.layers) {
        plan.error_bound = layers_error_bound(*launch.layers, plan.error_bound);
    }
    return plan;
}

StageProducts within_levels(StageProducts stage, const OuterLevels& outer) {
    if (outer.levels > 0) {
        stage.plan = [plan = stage.plan, growth = expected_growth(outer)](StageProduct product, Type type) {
            product.outer_growth = growth;
            return plan(product, type);
        };
    }
    return stage;
}

StepDeviceSizes step_device_sizes(const FileSchedule& schedule, const ProductPlan& plan, const FileBuffers& buffers,
                                  const StepPlans& products) {
    const DiskCut& cut = *plan.disk;
    StepDeviceSizes sizes;
    sizes.type = plan.type;
    sizes.left = {buffers.strips, cut.strip_m, cut.depth, schedule.left().by_columns};
    sizes.right = {buffers.panels, cut.depth, cut.tile_n, schedule.right().by_columns};
    sizes.tiles = {buffers.tiles, cut.tile_m, cut.tile_n, schedule.result().by_columns};
    sizes.strip_rows = cut.strip_m;
    sizes.workspace_bytes = products.largest_of(&ProductPlan::workspace_bytes);
    return sizes;
}

}  // namespace heptad
