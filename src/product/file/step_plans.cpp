#include "product/file/step_plans.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/types.hpp"
#include "plan/predict/error_bound.hpp"

namespace heptad {

StepPlans::StepPlans(const FileSchedule& schedule, const FilePlan& plan, const StageProducts& stage) {
    const bool accumulate = schedule.panels() > 1 || plan.adds;
    const std::int64_t last_row = schedule.tiles() - 1, across = schedule.tiles_across();
    for (const std::int64_t tile : {std::int64_t{0}, across - 1, last_row - across + 1, last_row}) {
        for (const std::int64_t panel :
             {std::int64_t{0}, std::min<std::int64_t>(1, schedule.panels() - 1), schedule.panels() - 1}) {
            for (const std::int64_t strip : {std::int64_t{0}, schedule.strips(tile) - 1}) {
                const FileWindow left = schedule.left_window(tile, panel, strip);
                const FileWindow right = schedule.right_window(tile, panel);
                add({left.rows, left.cols, right.cols, accumulate, plan.workspace_bytes, plan.tile_bytes,
                     plan.panel_bytes},
                    plan.type, stage);
            }
        }
    }
    const std::int64_t last_panel = schedule.panels() - 1, last_strip = schedule.strips(last_row) - 1;
    const std::int64_t depth = schedule.right_window(last_row, last_panel).rows;
    for (const FileWindow& piece : schedule.result_pieces(last_row, last_strip)) {
        add({piece.rows, depth, piece.cols, accumulate, plan.workspace_bytes, plan.tile_bytes, plan.panel_bytes},
            plan.type, stage);
    }
}

StepPlans::StepPlans(const std::vector<ProductPlan>& kept) {
    for (const ProductPlan& plan : kept) {
        plans_[{plan.m, plan.k, plan.n}] = plan;
    }
}

const ProductPlan& StepPlans::of(std::int64_t m, std::int64_t k, std::int64_t n) const {
    const auto found = plans_.find({m, k, n});
    if (found == plans_.end()) {
        fail(ErrorCode::internal, "there is no plan for a product of {} x {} x {}", m, k, n);
    }
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
    const auto work = [](const ProductPlan& p) {
        return static_cast<double>(p.m) * static_cast<double>(p.k) * static_cast<double>(p.n);
    };
    return std::max_element(plans_.begin(), plans_.end(),
                            [&](const auto& x, const auto& y) { return work(x.second) < work(y.second); })
        ->second;
}

std::int64_t StepPlans::most_workspace_bytes() const {
    std::int64_t most = 0;
    for (const auto& [key, plan] : plans_) {
        most = std::max(most, plan.workspace_bytes);
    }
    return most;
}

double StepPlans::largest_error_bound() const {
    double bound = 0;
    for (const auto& [key, plan] : plans_) {
        bound = std::max(bound, plan.error_bound);
    }
    return bound;
}

double StepPlans::largest_growth() const {
    double growth = 1;
    for (const auto& [key, plan] : plans_) {
        growth = std::max(growth, expected_growth(plan.levels));
    }
    return growth;
}

void StepPlans::add(const StageProduct& product, Type type, const StageProducts& stage) {
    const Shape key{product.m, product.k, product.n};
    if (!plans_.contains(key)) {
        plans_[key] = stage.plan(product, type);
    }
}

double whole_error_bound(const FilePlan& plan, std::int64_t panels, double of_panel) {
    const double additions = static_cast<double>(panels - 1) * static_cast<double>(plan.k) * unit_roundoff(plan.type);
    return static_cast<double>(panels) * of_panel + additions;
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

StepDeviceSizes step_device_sizes(const FileSchedule& schedule, const FilePlan& plan, const FileBuffers& buffers,
                                  const StepPlans& products) {
    StepDeviceSizes sizes;
    sizes.type = plan.type;
    sizes.left = {buffers.strips, plan.strip_m, plan.depth, schedule.left().by_columns};
    sizes.right = {buffers.panels, plan.depth, plan.tile_n, schedule.right().by_columns};
    sizes.tiles = {buffers.tiles, plan.tile_m, plan.tile_n, schedule.result().by_columns};
    sizes.strip_rows = plan.strip_m;
    sizes.workspace_bytes = products.most_workspace_bytes();
    return sizes;
}

}  // namespace heptad
