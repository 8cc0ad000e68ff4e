#include "product/device/bit_block_plan.hpp"

namespace heptad {
namespace {

ProductPlan block_plan_of(const ProblemSize& size, Type type, const bits::LeafShape& leaf, int levels) {
    ProductPlan plan;
    plan.m = size.m;
    plan.k = size.k;
    plan.n = size.n;
    plan.type = type;
    plan.padded = true;
    plan.core_m = leaf.m << levels;
    plan.core_k = leaf.k << levels;
    plan.core_n = leaf.n << levels;
    return plan;
}

}  // namespace

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

ProductPlan block_plan_of(const BitDevicePlan& plan) {
    const Type type = plan.problem.operation == cuda::BitOperation::parity ? Type::gf2 : Type::boolean;
    ProductPlan block = block_plan_of(plan.problem.size, type, plan.shape, plan.levels());
    for (int level = 0; level < plan.levels(); ++level) {
        block.levels.push_back(
            {plan.program->name, level < plan.serial_levels ? LevelMode::serial : LevelMode::parallel, ""});
    }
    block.backend = "cuda";
    block.leaf = plan.leaf;
    block.workspace_bytes = plan.workspace_bytes();
    block.predicted_s = plan.predicted_s;
    return block;
}

ProductPlan block_plan_of(const bits::BitPlan& plan) {
    ProductPlan block = block_plan_of(plan.size, plan.algebra, plan.shape, plan.levels);
    for (int level = 0; level < plan.levels; ++level) {
        block.levels.push_back({plan.program->name, LevelMode::serial, ""});
    }
    block.leaf = plan.leaf->name;
    block.workspace_bytes = plan.workspace_bytes();
    return block;
}

bits::BitOptions bit_options_of(const ProductPlan& block) {
    bits::BitOptions options;
    options.algorithm = block.levels.empty() ? "classical" : block.levels.front().algorithm;
    options.levels = static_cast<int>(block.levels.size());
    options.leaf = block.leaf;
    return options;
}

}  // namespace heptad
