// What is decided about matrices in host memory that a device holds; an H200 that nobody has to have.
#include "product/device/host_operand_plan.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "plan/search/planner.hpp"
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

TransferDecision plan_cube(std::int64_t n, Type type, const Options& options, bool adds = false) {
    return plan_host_operands({n, n, n}, type, type, adds, options, {});
}

TEST(HostOperandPlan, small_products_are_not_divided) {
    const TransferDecision plan = plan_cube(1000, Type::f32, on_device(Accuracy::fast));
    EXPECT_FALSE(plan.is_divided());
    EXPECT_EQ(plan.plan.workspace_bytes, 0);
}

TEST(HostOperandPlan, large_ones_follow_levels_and_tell_what_they_need) {
    const Options options = on_device(Accuracy::fast);
    const TransferDecision made = plan_cube(65536, Type::f64, options);
    const ProductPlan& plan = made.plan;
    const ProductPlan whole = plan_device_product(65536, 65536, 65536, Type::f64, options, {});
    EXPECT_TRUE(made.is_divided());
    EXPECT_EQ(made.schedule.algorithm, "winograd");
    EXPECT_GE(level_count(plan), made.schedule.levels);
    EXPECT_LE(plan.workspace_bytes, options.workspace_limit_bytes);
    EXPECT_GT(plan.workspace_bytes, sum_buffers(made.schedule, 8, 8).bytes());
    EXPECT_GE(plan.error_bound, plan_device_product(32768, 32768, 32768, Type::f64, options, {}).error_bound);
    EXPECT_GT(plan.predicted_s, 7.0 / 8 * whole.predicted_s);  // a level more is all that it can save
    EXPECT_LT(plan.predicted_s, 1.1 * whole.predicted_s);
    EXPECT_NE(to_string(plan).find("plan 65536x65536x65536 f64 transfers={algorithm=winograd;"), std::string::npos);
}

TEST(HostOperandPlan, balanced_products_by_residues_keep_their_digits) {
    for (const Type type : {Type::f32, Type::f64}) {
        const TransferDecision made = plan_cube(16384, type, on_device(Accuracy::balanced));
        EXPECT_TRUE(made.is_divided());
        EXPECT_TRUE(is_by_residues(made.plan)) << to_string(made.plan);
        EXPECT_EQ(made.schedule.algorithm, "");
    }
}

TEST(HostOperandPlan, residues_are_kept_for_steps_where_the_workspace_has_room_for_them) {
    const ProblemSize size{16384, 16384, 16384};
    const auto kept_bytes = [&](const TransferSchedule& schedule) {
        const auto [of_a, of_b] = kept_residues(size, schedule);
        return of_a.bytes() + of_b.bytes();
    };
    for (const Type type : {Type::f32, Type::f64}) {
        Options options = on_device(Accuracy::balanced);
        const TransferDecision made = plan_cube(16384, type, options);
        EXPECT_GE(made.schedule.kept_moduli, type == Type::f32 ? 7 : 14);
        EXPECT_GT(kept_bytes(made.schedule), 0);
        EXPECT_GT(made.plan.workspace_bytes, kept_bytes(made.schedule));
        EXPECT_EQ(schedule_of(made.plan).kept_moduli, made.schedule.kept_moduli);
        ProductPlan less = made.plan;
        less.workspace_bytes -= kept_bytes(made.schedule);
        EXPECT_EQ(schedule_of(less).kept_moduli, 0);
        options.workspace_limit_bytes = std::int64_t{1} << 30;
        const TransferDecision small = plan_cube(16384, type, options);
        EXPECT_LE(small.plan.workspace_bytes, options.workspace_limit_bytes);
        EXPECT_EQ(kept_bytes(small.schedule), 0);
    }
}

TEST(HostOperandPlan, what_may_take_no_level_is_cut_into_pieces) {
    Options few_levels = on_device(Accuracy::fast), little_room = few_levels;
    few_levels.levels = 1;
    little_room.workspace_limit_bytes = 1 << 20;
    for (const Options& options : {on_device(Accuracy::strict), few_levels, little_room}) {
        const TransferDecision made = plan_cube(16384, Type::f32, options);
        const ProductPlan& plan = made.plan;
        EXPECT_TRUE(made.is_divided());
        EXPECT_EQ(made.schedule.algorithm, "");
        EXPECT_LE(level_count(plan), 1);
        EXPECT_LE(plan.workspace_bytes, options.workspace_limit_bytes);
        EXPECT_GT(plan.error_bound, 0);
    }
    EXPECT_EQ(plan_cube(16384, Type::f32, on_device(Accuracy::fast), true).schedule.algorithm, "");
    EXPECT_EQ(plan_cube(16384, Type::bf16, on_device(Accuracy::fast)).schedule.algorithm, "");
}

TEST(HostOperandPlan, a_plan_that_still_fits_is_taken_again_where_there_is_less_room) {
    Options options = on_device(Accuracy::fast);
    const TransferDecision plan = plan_cube(24576, Type::f32, options);
    options.workspace_limit_bytes = plan.plan.workspace_bytes;
    const TransferDecision again = plan_cube(24576, Type::f32, options);
    // The products of its steps are planned with the same limit, so that their plans are kept too.
    EXPECT_EQ(again.options.workspace_limit_bytes, plan.options.workspace_limit_bytes);
    EXPECT_EQ(again.plan, plan.plan);
    options.workspace_limit_bytes = plan.plan.workspace_bytes - 1;
    const TransferDecision smaller = plan_cube(24576, Type::f32, options);
    EXPECT_LE(smaller.plan.workspace_bytes, options.workspace_limit_bytes);
    options.workspace_limit_bytes = on_device(Accuracy::fast).workspace_limit_bytes;
    EXPECT_EQ(plan_cube(24576, Type::f32, options).plan, plan.plan);
    options.overwrite_inputs = true;  // blocks of A and B serve again
    EXPECT_FALSE(plan_cube(24576, Type::f32, options).options.overwrite_inputs);
}

TEST(HostOperandPlan, exact_products_have_no_error) {
    EXPECT_EQ(plan_cube(16384, Type::i32, on_device(Accuracy::balanced)).plan.error_bound, 0);
}

TEST(HostOperandPlan, every_plan_parses_back_fits_together_and_is_refused_where_it_was_changed) {
    int by_level = 0;
    for (const ProblemSize& size :
         {ProblemSize{16384, 16384, 16384}, {9000, 20000, 12345}, {32768, 8192, 16384}, {32768, 32768, 32768}}) {
        for (const Type type : {Type::f64, Type::f32, Type::tf32, Type::bf16, Type::f16, Type::i32}) {
            for (const Accuracy accuracy : {Accuracy::strict, Accuracy::balanced, Accuracy::fast}) {
                for (const bool adds : {false, true}) {
                    const TransferDecision made = plan_host_operands(size, type, type, adds, on_device(accuracy), {});
                    const ProductPlan& plan = made.plan;
                    ASSERT_TRUE(made.is_divided());
                    EXPECT_EQ(parse_plan(to_string(plan)), plan) << to_string(plan);
                    EXPECT_NO_THROW(check_transfer_plan(plan)) << to_string(plan);
                    by_level += plan.transfers->algorithm.empty() ? 0 : 1;
                    for (const TransferStep& step : made.schedule.steps) {
                        EXPECT_NO_THROW(check_plan(step_plan(plan, step.size, true))) << to_string(plan);
                    }
                    const auto refused = [&](const auto& change) {
                        ProductPlan changed = plan;
                        change(changed);
                        EXPECT_THROW(check_transfer_plan(changed), Error) << to_string(changed);
                    };
                    refused([](ProductPlan& changed) { changed.m += 1; });
                    refused([](ProductPlan& changed) { changed.core_k += 1; });
                    refused([](ProductPlan& changed) { changed.backend = "cpu"; });
                    refused([](ProductPlan& changed) { changed.transfers.reset(); });
                    refused([](ProductPlan& changed) { changed.transfers->algorithm = "none-such"; });
                    if (!plan.transfers->algorithm.empty()) {  // else there may be levels that need nothing
                        refused([](ProductPlan& changed) { changed.workspace_bytes = 1000; });
                    }
                    if (plan.error_bound > 0) {
                        refused([](ProductPlan& changed) { changed.error_bound /= 1000; });
                    }
                }
            }
        }
    }
    EXPECT_GT(by_level, 0);
}

TEST(HostOperandPlan, complex_plans_fit_together_by_pieces_and_are_refused_by_level) {
    for (const Type type : {Type::c64, Type::c128}) {
        for (const Accuracy accuracy : {Accuracy::strict, Accuracy::balanced, Accuracy::fast}) {
            for (const bool adds : {false, true}) {
                const TransferDecision made = plan_cube(12288, type, on_device(accuracy), adds);
                const ProductPlan& plan = made.plan;
                ASSERT_TRUE(made.is_divided());
                EXPECT_EQ(made.schedule.algorithm, "");
                EXPECT_EQ(parse_plan(to_string(plan)), plan) << to_string(plan);
                EXPECT_NO_THROW(check_transfer_plan(plan)) << to_string(plan);
                ProductPlan by_level = plan;
                by_level.transfers = TransferCut{"winograd", 1, 1, 1, {}, {}};
                by_level.levels.clear();
                by_level.accumulate = false;
                by_level.workspace_bytes = std::int64_t{1} << 60;
                by_level.error_bound = 1e30;
                const ProblemSize half{6144, 6144, 6144};
                by_level.core_m = by_level.core_k = by_level.core_n = half.m;
                by_level.tile_m = by_level.tile_k = by_level.tile_n = is_by_residues(plan) ? half.m : 0;
                try {
                    check_transfer_plan(by_level);
                    ADD_FAILURE() << to_string(by_level);
                } catch (const Error& error) {
                    EXPECT_NE(std::string(error.what()).find("for real numbers"), std::string::npos) << error.what();
                }
            }
        }
    }
}

}  // namespace
}  // namespace heptad
