// How matrices in host memory are multiplied on a device that holds all of them: the schedule of their transfers, and
// what the products of its steps may take. Pure functions.
#pragma once

#include <functional>
#include <string>

#include "plan/model/plan.hpp"
#include "plan/search/transfer_schedule.hpp"

namespace heptad {

struct HostOperandPlan {
    ProblemSize size;
    Type type = Type::f32;
    TransferSchedule schedule;
    Options options;                   // of the products of its steps
    int levels = 0;                    // the most that a product is part of, those of the schedule among them
    std::int64_t workspace_bytes = 0;  // on the device, sums of blocks among it
    double error_bound = 0;            // on max|C - computed| / (max|A| max|B|)

    bool is_divided() const { return schedule.steps.size() > 1; }
};

/// The plan of one product on the device.
using PlanOnDevice = std::function<ProductPlan(const ProblemSize& size, Type type, const Options& options)>;

/// `room`: bytes on the device beside the matrices. `problem.most_levels`: 0 where the schedule may have none.
HostOperandPlan make_host_operand_plan(TransferProblem problem, Type result_type, std::int64_t room,
                                       const Options& options, const PlanOnDevice& plan_on_device);

/// On one line.
std::string to_string(const HostOperandPlan& plan);

}  // namespace heptad
