// How matrices in host memory are multiplied on a device that holds all of them: the schedule of their transfers, and
// what the products of its steps may take. Pure planning; needs no device.
#pragma once

#include <string>

#include "plan/search/transfer_schedule.hpp"
#include "product/memory/product.hpp"

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

/// Small products are not divided: they are over before a second copy would have begun. Where `adds`, C is brought too.
HostOperandPlan plan_host_operands(const ProblemSize& size, Type type, Type result_type, bool adds,
                                   const Options& options, const ProductContext& context);

/// Seconds from matrices in host memory to a result there.
double predicted_from_host_s(const ProblemSize& size, Type type, Type result_type, bool adds, const Options& options,
                             const ProductContext& context);

/// On one line.
std::string to_string(const HostOperandPlan& plan);

}  // namespace heptad
