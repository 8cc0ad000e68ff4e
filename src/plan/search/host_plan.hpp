// Decides how the host cuts a product for N devices: levels of an algorithm or segments of C, size of the blocks, and
// how many pipelines feed a device. Pure functions: what a device makes of a block comes from the caller.
#pragma once

#include <functional>

#include "plan/search/host_forecast.hpp"

namespace heptad {

/// The plan of one product of blocks on one device, within so many bytes of workspace; `accumulate`: results of several
/// blocks are added there.
using BlockPlanner =
    std::function<ProductPlan(const ProblemSize& block, bool accumulate, std::int64_t workspace_bytes)>;

struct HostDecision {
    ProductPlan plan;
    HostForecast forecast;
};
/// Throws Error(resource) that says what is needed and what there is, where no cut fits; Error(usage) for constraints
/// that cannot be meant.
HostDecision make_host_plan(const HostProblem& problem, const DeviceFacts& devices, const HostFacts& host,
                            const BlockPlanner& plan_block);

/// Throws Error(input) where the host's part of a plan cannot be carried out: its blocks do not fit the sizes, its
/// levels the type, or it is none at all.
void check_host_cut(const ProductPlan& plan);

// What the host's part of a plan means. Precondition: check_host_cut().

/// What was asked, as far as a plan tells.
HostProblem host_problem(const ProductPlan& plan);
/// The sub-instances.
HostLayer layer_of(const ProductPlan& plan);
/// The plan of one of them, on one device.
ProductPlan block_plan(const ProductPlan& plan);
/// The text of what the bits of a result depend on: equal for plans that differ in predicted times only.
std::string bits_decided_by(ProductPlan plan);

}  // namespace heptad
