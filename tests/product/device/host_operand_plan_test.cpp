// What is decided about matrices in host memory that a device holds; an H200 that nobody has to have.
#include "product/device/host_operand_plan.hpp"

#include <gtest/gtest.h>

#include "product/device/device_product.hpp"

namespace heptad {
namespace {

Options on_device(Accuracy accuracy) {
    Options options;
    options.device = "cuda";
    options.accuracy = accuracy;
    options.workspace_limit_bytes = std::int64_t{60} << 30;
    return options;
}

HostOperandPlan plan_cube(std::int64_t n, Type type, const Options& options, bool adds = false) {
    return plan_host_operands({n, n, n}, type, type, adds, options, {});
}

TEST(HostOperandPlan, small_products_are_not_divided) {
    const HostOperandPlan plan = plan_cube(1000, Type::f32, on_device(Accuracy::fast));
    EXPECT_FALSE(plan.is_divided());
    EXPECT_EQ(plan.workspace_bytes, 0);
}

TEST(HostOperandPlan, large_ones_follow_levels_and_tell_what_they_need) {
    const Options options = on_device(Accuracy::fast);
    const HostOperandPlan plan = plan_cube(32768, Type::f32, options);
    const ProductPlan whole = plan_device_product(32768, 32768, 32768, Type::f32, options, {});
    EXPECT_TRUE(plan.is_divided());
    EXPECT_EQ(plan.schedule.algorithm, "winograd");
    EXPECT_GE(plan.levels, plan.schedule.levels);
    EXPECT_LE(plan.workspace_bytes, options.workspace_limit_bytes);
    EXPECT_GT(plan.workspace_bytes, sum_buffers(plan.schedule, 4, 4).bytes());
    EXPECT_GE(plan.error_bound, plan_device_product(16384, 16384, 16384, Type::f32, options, {}).error_bound);
    EXPECT_GT(plan.schedule.predicted_s, whole.predicted_s);
    EXPECT_LT(plan.schedule.predicted_s, 1.1 * whole.predicted_s);
    EXPECT_NE(to_string(plan).find("from-host 32768x32768x32768 f32 by=winograd"), std::string::npos);
}

TEST(HostOperandPlan, what_may_take_no_level_is_cut_into_pieces) {
    Options few_levels = on_device(Accuracy::fast), little_room = few_levels;
    few_levels.levels = 1;
    little_room.workspace_limit_bytes = 1 << 20;
    for (const Options& options : {on_device(Accuracy::strict), few_levels, little_room}) {
        const HostOperandPlan plan = plan_cube(16384, Type::f32, options);
        EXPECT_TRUE(plan.is_divided());
        EXPECT_EQ(plan.schedule.algorithm, "");
        EXPECT_LE(plan.levels, 1);
        EXPECT_LE(plan.workspace_bytes, options.workspace_limit_bytes);
        EXPECT_GT(plan.error_bound, 0);
    }
    EXPECT_EQ(plan_cube(16384, Type::f32, on_device(Accuracy::fast), true).schedule.algorithm, "");
    EXPECT_EQ(plan_cube(16384, Type::bf16, on_device(Accuracy::fast)).schedule.algorithm, "");
}

TEST(HostOperandPlan, a_plan_that_still_fits_is_taken_again_where_there_is_less_room) {
    Options options = on_device(Accuracy::fast);
    const HostOperandPlan plan = plan_cube(24576, Type::f32, options);
    options.workspace_limit_bytes = plan.workspace_bytes;
    const HostOperandPlan again = plan_cube(24576, Type::f32, options);
    // The products of its steps are planned with the same limit, so that their plans are kept too.
    EXPECT_EQ(again.options.workspace_limit_bytes, plan.options.workspace_limit_bytes);
    EXPECT_EQ(to_string(again), to_string(plan));
    options.workspace_limit_bytes = plan.workspace_bytes - 1;
    const HostOperandPlan smaller = plan_cube(24576, Type::f32, options);
    EXPECT_LE(smaller.workspace_bytes, options.workspace_limit_bytes);
    options.workspace_limit_bytes = on_device(Accuracy::fast).workspace_limit_bytes;
    EXPECT_EQ(to_string(plan_cube(24576, Type::f32, options)), to_string(plan));
    options.overwrite_inputs = true;  // blocks of A and B serve again
    EXPECT_FALSE(plan_cube(24576, Type::f32, options).options.overwrite_inputs);
}

TEST(HostOperandPlan, exact_products_have_no_error) {
    EXPECT_EQ(plan_cube(16384, Type::i32, on_device(Accuracy::balanced)).error_bound, 0);
}

}  // namespace
}  // namespace heptad
