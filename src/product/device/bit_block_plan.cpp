#include "product/device/bit_block_plan.hpp"

namespace heptad {

BitDevicePlan plan_bit_block(Type algebra, const ProblemSize& block, const bits::BitOptions& options,
                             std::int64_t workspace_limit_bytes, const BitDeviceFacts& facts, bool aligned) {
    BitDeviceProblem problem;
    problem.operation = algebra == Type::gf2 ? cuda::BitOperation::parity : cuda::BitOperation::any;
    problem.size = block;
    problem.aligned = aligned;
    BitDeviceOptions constraints;
    constraints.algorithm = options.algorithm;
    constraints.levels = options.levels;
    constraints.leaf = options.leaf;
    constraints.workspace_limit_bytes = workspace_limit_bytes;
    return plan_bit_device_product(problem, constraints, facts);
}

}  // namespace heptad
