// How matrices in host memory are multiplied on a device that holds all of them: the schedule of their transfers, and
// what the products of its steps may take. Pure functions.
#pragma once

#include <array>
#include <functional>

#include "base/device_layout.hpp"
#include "plan/model/plan.hpp"
#include "plan/search/transfer_schedule.hpp"

namespace heptad {

struct TransferDecision {
    /// Levels, leaf and core are those of its largest steps. Not divided: sizes, type and nothing more.
    ProductPlan plan;
    TransferSchedule schedule;  // that it means
    Options options;            // with which a planner finds the best for each step

    bool is_divided() const { return plan.transfers.has_value(); }
};

/// The plan of one product on the device.
using PlanOnDevice = std::function<ProductPlan(const ProblemSize& size, Type type, const Options& options)>;

/// `room`: bytes on the device beside the matrices. `problem.most_levels`: 0 where the schedule may have none.
TransferDecision make_transfer_plan(TransferProblem problem, Type result_type, std::int64_t room,
                                    const Options& options, const PlanOnDevice& plan_on_device);

/// What is kept of A and B from step to step, of the largest part of k; nothing where the schedule keeps none.
std::array<KeptResidues, 2> kept_residues(const ProblemSize& size, const TransferSchedule& schedule);

/// All at once.
TransferDecision undivided_plan(const ProblemSize& size, Type type, const Options& options);

/// The schedule that a plan means.
TransferSchedule schedule_of(const ProductPlan& plan);
/// The plan of one step of a plan with transfers, `accumulate`: which adds to C. Steps that levels have made smaller
/// than the largest ones have so many levels less, so that all have the same leaves; larger ones have none.
ProductPlan step_plan(const ProductPlan& plan, const ProblemSize& step, bool accumulate);
/// Throws Error(input) where a plan with transfers cannot be carried out as it says.
void check_transfer_plan(const ProductPlan& plan);

}  // namespace heptad
