// One product plan for every shape that the steps of a product from file to file multiply.
#pragma once

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "plan/search/file_schedule.hpp"
#include "product/file/file_product.hpp"

namespace heptad {

class StepPlans {
public:
    /// As the plan says where it says how its steps are multiplied. Throws Error(input) where the stage cannot.
    StepPlans(const FileSchedule& schedule, const FileChoice& choice, const StageProducts& stage);
    explicit StepPlans(const std::vector<ProductPlan>& kept);

    const ProductPlan& of(std::int64_t m, std::int64_t k, std::int64_t n) const;
    std::vector<ProductPlan> all() const;
    /// The one with the most work.
    const ProductPlan& largest() const;
    /// The largest of a figure of all.
    template <class Figure>
    Figure largest_of(Figure ProductPlan::*figure) const {
        Figure most = 0;
        for (const auto& [shape, plan] : plans_) {
            most = std::max(most, plan.*figure);
        }
        return most;
    }
    /// Of errors, on random data (plan/predict/error_bound.hpp).
    double largest_growth() const;

private:
    using Shape = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
    std::map<Shape, ProductPlan> plans_;
};

/// The plan with what its steps are: how the largest is multiplied, and the bound that the whole result keeps.
ProductPlan with_steps(const FileProblem& problem, const FileLaunch& launch, const FileSchedule& schedule,
                       const StepPlans& products);

/// The levels of steps and the outer ones together keep an accuracy word.
StageProducts within_levels(StageProducts stage, const OuterLevels& outer);

/// What a device must hold to carry out the steps of a plan.
StepDeviceSizes step_device_sizes(const FileSchedule& schedule, const ProductPlan& plan, const FileBuffers& buffers,
                                  const StepPlans& products);

}  // namespace heptad
