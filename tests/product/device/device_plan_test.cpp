// Plans for a device need no device.
#include <gtest/gtest.h>

#include <set>

#include "base/device_layout.hpp"
#include "base/error.hpp"
#include "io/device_kernels.hpp"
#include "io/device_machine.hpp"
#include "kernels/cuda/device/device.hpp"
#include "plan/predict/error_bound.hpp"
#include "plan/predict/promised_error.hpp"
#include "plan/search/host_plan.hpp"
#include "plan/search/level_layout.hpp"
#include "plan/search/planner.hpp"
#include "product/device/device_product.hpp"
#include "product/device/over_devices.hpp"

namespace heptad::test {
namespace {

ProductPlan with_sums_in_f16(ProductPlan plan) {
    plan.scaled_sums = true;
    plan.workspace_bytes = plan_workspace_bytes(plan);
    plan.error_bound = error_bound(plan);
    return plan;
}

Options fast_on_device() {
    Options options;
    options.device = "cuda";
    options.accuracy = Accuracy::fast;
    return options;
}

/// As on a chip whose residues nobody has measured.
Machine without_residues() {
    Machine machine = default_device_machine();
    std::erase_if(machine.leaves, [](const LeafProfile& profile) { return leaf_traits(profile.leaf).by_residues; });
    return machine;
}

TEST(device_plan, large_products_go_by_residues_or_levels_and_small_ones_are_the_vendors) {
    for (const Type type : {Type::f32, Type::f64}) {
        const ProductPlan plan = plan_device_product(16384, 16384, 16384, type, fast_on_device(), {});
        EXPECT_TRUE(is_by_residues(plan)) << to_string(plan);
    }
    const Problem problem{16384, 16384, 16384, Type::f32, 1, fast_on_device()};
    const ProductPlan large = make_plan(problem, without_residues(), device_limits());
    EXPECT_GE(large.levels.size(), 1U);
    EXPECT_EQ(large.leaf, "cublas-batched");
    const ProductPlan small = plan_device_product(512, 512, 512, Type::f32, fast_on_device(), {});
    EXPECT_TRUE(small.levels.empty());
    EXPECT_EQ(small.leaf, "cublas");
}

TEST(device_plan, f64_products_of_4096_pay_with_the_kernel_that_was_measured) {
    PlannerLimits limits;
    limits.smallest_leaf = 512;
    limits.min_gain = 1.02;
    const Problem problem{4096, 4096, 4096, Type::f64, 1, fast_on_device()};
    const ProductPlan plan = make_plan(problem, without_residues(), limits);
    EXPECT_FALSE(plan.levels.empty()) << to_string(plan);
    EXPECT_EQ(plan.leaf, "cublaslt-batched") << to_string(plan);
}

TEST(device_plan, kernels_of_the_vendor_are_kept_with_their_sizes) {
    Machine machine = default_device_machine();
    machine.leaves = {{"cublas", Type::bf16, 1, {{64, 64, 64, 1e-6}}},
                      {"cublaslt-batched", Type::bf16, 1, {{512, 256, 128, 1e-3, "1.2.3"}, {64, 64, 64, 1e-6}}}};
    const auto kernels = vendor_kernels(parse_machine(print_machine(machine)));
    ASSERT_EQ(kernels->size(), 1U);
    EXPECT_EQ(kernels->front().type, Type::bf16);
    EXPECT_EQ(kernels->front().m, 512);
    EXPECT_EQ(kernels->front().k, 256);
    EXPECT_EQ(kernels->front().n, 128);
    EXPECT_EQ(kernels->front().kernel, "1.2.3");
    EXPECT_FALSE(vendor_kernels(default_device_machine())->empty());
}

TEST(device_plan, kernels_with_sums_inside_that_do_not_fit_a_chip_are_not_planned_with) {
    if (!cuda::known_report().built) {
        GTEST_SKIP() << "this build has no such kernels";
    }
    const auto types = [](int shared_kib) {
        std::set<Type> found;
        for (const FusedProfile& profile : with_shared_memory(default_device_machine(), shared_kib << 10).fused) {
            found.insert(profile.type);
        }
        return found;
    };
    EXPECT_EQ(types(227), (std::set{Type::f32, Type::f64}));
    EXPECT_EQ(types(99), std::set{Type::f32});  // an sm_86
    EXPECT_TRUE(types(0).empty());
    Options options = fast_on_device();
    options.mode = "fused";
    const Problem problem{4096, 4096, 4096, Type::f64, 1, options};
    EXPECT_THROW((void)make_plan(problem, with_shared_memory(default_device_machine(), 99 << 10), {}), Error);
}

TEST(device_plan, strict_is_the_vendors_product_or_certified) {
    Options options = fast_on_device();
    options.accuracy = Accuracy::strict;
    for (const Type type : {Type::f32, Type::f64}) {
        const ProductPlan large = plan_device_product(16384, 16384, 16384, type, options, {});
        EXPECT_TRUE(is_certified(large)) << to_string(large);
        EXPECT_EQ(plan_device_product(1024, 1024, 1024, type, options, {}).leaf, "cublas") << type_name(type);
        const ProductPlan without =
            make_plan({16384, 16384, 16384, type, 1, options}, without_residues(), device_limits());
        EXPECT_TRUE(without.levels.empty()) << type_name(type);
        EXPECT_EQ(without.leaf, "cublas") << type_name(type);
    }
    for (const Type type : {Type::tf32, Type::bf16, Type::f16}) {
        const ProductPlan plan = plan_device_product(16384, 16384, 16384, type, options, {});
        EXPECT_TRUE(plan.levels.empty()) << type_name(type);
        EXPECT_EQ(plan.leaf, "cublas") << type_name(type);
    }
}

TEST(device_plan, a_print_parses_back_to_an_equal_plan_that_fits_together) {
    for (const Type type : {Type::f32, Type::f64, Type::tf32, Type::bf16, Type::f16, Type::i32}) {
        for (const bool accumulate : {false, true}) {
            Options options = fast_on_device();
            options.accumulate = accumulate;
            const ProductPlan plan = plan_device_product(16001, 16384, 12000, type, options, {});
            EXPECT_EQ(parse_plan(to_string(plan)), plan) << to_string(plan);
            EXPECT_NO_THROW(check_plan(plan)) << to_string(plan);
        }
    }
}

TEST(device_plan, a_workspace_limit_is_kept_down_to_nothing) {
    Options options = fast_on_device();
    for (const std::int64_t limit : {std::int64_t{0}, std::int64_t{1} << 20, std::int64_t{64} << 20,
                                     std::int64_t{1} << 30, std::int64_t{2} << 30, std::int64_t{8} << 30}) {
        options.workspace_limit_bytes = limit;
        const ProductPlan plan = plan_device_product(16384, 16384, 16384, Type::f32, options, {});
        EXPECT_LE(plan.workspace_bytes, limit);
        // Sums inside the kernel need none, and take the place of the library's product where there is no room.
        const bool takes_library = !is_fused(plan) && !is_by_residues(plan) && limit >= kCublasWorkspaceBytes;
        EXPECT_EQ(plan.vendor_workspace_bytes, takes_library ? kCublasWorkspaceBytes : 0);
        EXPECT_TRUE(limit > 0 || is_fused(plan)) << to_string(plan);
        const ProductPlan integers = plan_device_product(16384, 16384, 16384, Type::i32, options, {});
        EXPECT_LE(integers.workspace_bytes, limit);
        EXPECT_NO_THROW(check_plan(integers));
    }
}

TEST(device_plan, depth_first_winograd_needs_two_temporaries_per_level) {
    Options options = fast_on_device();
    options.algorithm = "winograd";
    options.levels = 3;
    options.mode = "serial";
    const ProductPlan plan = plan_device_product(8192, 8192, 8192, Type::f32, options, {});
    const std::int64_t matrix = std::int64_t{8192} * 8192 * 4;
    EXPECT_LE(plan.workspace_bytes - plan.vendor_workspace_bytes - guard_bytes(8192, 8192, 8192),
              2 * (matrix / 4 + matrix / 16 + matrix / 64) + 4096);
}

TEST(device_plan, adding_to_c_keeps_c_until_the_end) {
    Options options = fast_on_device();
    options.algorithm = "winograd";
    options.levels = 2;
    options.mode = "serial";
    options.accumulate = true;
    const ProductPlan plan = plan_device_product(4096, 4096, 4096, Type::f32, options, {});
    ASSERT_EQ(plan.levels.size(), 2U);
    EXPECT_EQ(plan.levels[0].mode, LevelMode::parallel);
    EXPECT_EQ(plan.levels[1].mode, LevelMode::serial);
}

TEST(device_plan, overwriting_the_inputs_halves_what_depth_first_needs) {
    Options options = fast_on_device();
    options.algorithm = "winograd";
    options.levels = 3;
    options.mode = "serial";
    options.leaf = "cublas";
    const ProductPlan keeping = plan_device_product(8192, 8192, 8192, Type::f32, options, {});
    options.workspace_limit_bytes = keeping.workspace_bytes - 1;
    options.overwrite_inputs = true;
    const ProductPlan plan = plan_device_product(8192, 8192, 8192, Type::f32, options, {});
    EXPECT_TRUE(plan.overwrite_inputs) << to_string(plan);
    EXPECT_EQ(plan.levels.size(), 3U);
    const std::int64_t matrix = std::int64_t{8192} * 8192 * 4;
    EXPECT_LE(plan.workspace_bytes - plan.vendor_workspace_bytes - guard_bytes(8192, 8192, 8192),
              matrix / 4 + matrix / 16 + matrix / 64 + 4096);
    EXPECT_EQ(parse_plan(to_string(plan)), plan);
    EXPECT_NO_THROW(check_plan(plan));
    options.accumulate = true;  // what was added to C could not be taken back
    EXPECT_FALSE(plan_device_product(8192, 8192, 8192, Type::f32, options, {}).overwrite_inputs);
    options.overwrite_inputs = false;
    options.accumulate = false;
    EXPECT_FALSE(plan_device_product(8192, 8192, 8192, Type::f32, options, {}).overwrite_inputs);
}

TEST(device_plan, a_basis_is_changed_in_place_where_inputs_may_be_overwritten) {
    Options options = fast_on_device();
    options.algorithm = "alternative-basis";
    options.levels = 2;
    const std::int64_t matrix = std::int64_t{4096} * 4096 * 4;
    const ProductPlan keeping = plan_device_product(4096, 4096, 4096, Type::f32, options, {});
    options.overwrite_inputs = true;
    const ProductPlan plan = plan_device_product(4096, 4096, 4096, Type::f32, options, {});
    EXPECT_TRUE(plan.change_basis && plan.overwrite_inputs) << to_string(plan);
    EXPECT_EQ(plan.workspace_bytes, keeping.workspace_bytes - 2 * matrix);
    EXPECT_NO_THROW(check_plan(plan));
}

TEST(device_plan, shapes_of_passes_come_from_the_machine_and_impossible_ones_are_left_out) {
    Machine machine = default_device_machine();
    EXPECT_EQ(pass_shapes(machine).of(Type::f32, cuda::PassClass::few), cuda::PassShape{});
    machine.passes = {{Type::f32, "spread", 64, 4, 1e12, 1e12},
                      {Type::f64, "few", 100, 1, 1e12, 1e12},
                      {Type::i32, "few", 512, 1, 1e12, 1e12},
                      {Type::bf16, "other", 64, 1, 1e12, 1e12}};
    const cuda::PassShapes shapes = pass_shapes(machine);
    EXPECT_EQ(shapes.of(Type::tf32, cuda::PassClass::spread), (cuda::PassShape{64, 4}));
    EXPECT_EQ(shapes.of(Type::f32, cuda::PassClass::few), cuda::PassShape{});
    for (const Type type : {Type::f64, Type::i32, Type::bf16}) {
        EXPECT_EQ(shapes.of(type, cuda::PassClass::few), cuda::PassShape{}) << type_name(type);
    }
}

TEST(device_plan, misaligned_rows_are_extended_where_that_pays) {
    for (const Type type : {Type::tf32, Type::bf16, Type::i32}) {
        const ProductPlan odd = plan_device_product(4101, 4097, 4099, type, fast_on_device(), {});
        EXPECT_TRUE(odd.padded) << to_string(odd);
        EXPECT_GE(odd.core_k, 4097);
        EXPECT_EQ(parse_plan(to_string(odd)), odd);
        EXPECT_NO_THROW(check_plan(odd));
        EXPECT_FALSE(plan_device_product(4096, 4096, 4096, type, fast_on_device(), {}).padded) << type_name(type);
    }
}

TEST(device_plan, misaligned_rows_are_extended_also_where_a_kernel_of_our_choice_was_faster) {
    Machine machine = default_device_machine();
    machine.leaves.push_back({"cublaslt", Type::bf16, 1, {{8192, 8192, 8192, 1.35e-3, "1.2.3"}}});
    machine.measured_plans = {{Type::bf16, 8192, 8192, 8192, {{}, "cublas"}, 1, 0, 7, 1},
                              {Type::bf16, 8192, 8192, 8192, {{}, "cublaslt"}, 0.95, 0.001, 7, 0.969}};
    const Problem even{8192, 8192, 8192, Type::bf16, 1, fast_on_device()};
    const Problem odd{8191, 8191, 8191, Type::bf16, 1, fast_on_device()};
    const ProductPlan won = make_plan(even, machine);
    ASSERT_EQ(won.leaf, "cublaslt") << to_string(won);
    EXPECT_FALSE(won.padded);
    EXPECT_TRUE(make_plan(odd, machine).padded) << to_string(make_plan(odd, machine));
}

TEST(device_plan, balanced_leaves_types_that_round_their_sums_to_the_vendor) {
    Options options = fast_on_device();
    options.accuracy = Accuracy::balanced;
    EXPECT_TRUE(plan_device_product(32768, 32768, 32768, Type::tf32, options, {}).levels.empty());
    EXPECT_FALSE(plan_device_product(32768, 32768, 32768, Type::tf32, fast_on_device(), {}).levels.empty());
    const ProductPlan plan =
        make_plan({16384, 16384, 16384, Type::f32, 1, options}, without_residues(), device_limits());
    EXPECT_FALSE(plan.levels.empty());
    EXPECT_LE(expected_growth(plan.levels), 10) << to_string(plan);
    options.accumulate = true;  // C is needed to the end, so sums would be in bf16
    EXPECT_TRUE(plan_device_product(32768, 32768, 32768, Type::bf16, options, {}).levels.empty());
}

TEST(device_plan, sums_of_16_bit_floats_are_scaled_where_c_is_not_needed) {
    Options balanced = fast_on_device();
    balanced.accuracy = Accuracy::balanced;
    for (const Type type : {Type::bf16, Type::f16}) {
        const ProductPlan plan =
            plan_device_product(32768, 32768, 32768, type, type == Type::bf16 ? balanced : fast_on_device(), {});
        EXPECT_TRUE(plan.scaled_sums && !plan.levels.empty()) << to_string(plan);
        EXPECT_EQ(parse_plan(to_string(plan)), plan);
        EXPECT_NO_THROW(check_plan(plan));
        Options adding = fast_on_device();
        adding.accumulate = true;
        EXPECT_FALSE(plan_device_product(32768, 32768, 32768, type, adding, {}).scaled_sums);
        EXPECT_EQ(plan_device_product(32768, 32768, 32768, type, adding, {}).levels.empty(), type == Type::f16);
        Options serial = fast_on_device();
        serial.mode = "serial";
        serial.levels = 2;
        EXPECT_EQ(plan_device_product(1024, 1024, 1024, type, serial, {}).levels.empty(), type == Type::f16);
    }
    EXPECT_TRUE(plan_device_product(32768, 32768, 32768, Type::f16, balanced, {}).levels.empty());
    EXPECT_FALSE(plan_device_product(32768, 32768, 32768, Type::bf16, fast_on_device(), {}).scaled_sums);
    ProductPlan edited = plan_device_product(32768, 32768, 32768, Type::f16, fast_on_device(), {});
    edited.scaled_sums = false;
    EXPECT_THROW(check_plan(edited), Error);
    // The bound is that of f16's eleven bits.
    Options two = balanced;
    two.levels = 2;
    const double scaled = plan_device_product(1024, 1024, 1024, Type::bf16, two, {}).error_bound;
    two.accuracy = Accuracy::fast;
    const double unscaled = plan_device_product(1024, 1024, 1024, Type::bf16, two, {}).error_bound;
    EXPECT_LT(scaled, unscaled / 2);
}

TEST(device_plan, products_of_tf32_are_those_of_tf32_unless_a_plan_is_told_otherwise) {
    Options options = fast_on_device();
    const ProductPlan chosen = plan_device_product(16384, 16384, 16384, Type::tf32, options, {});
    EXPECT_TRUE(!chosen.scaled_sums && !chosen.levels.empty()) << to_string(chosen);
    options.algorithm = "winograd*winograd";
    options.levels = 1;
    const ProductPlan own = plan_device_product(1024, 1024, 1024, Type::tf32, options, {});
    ProductPlan in_f16 = own;
    in_f16.scaled_sums = true;
    EXPECT_THROW(check_plan(in_f16), Error);  // with the workspace of the other one
    in_f16 = with_sums_in_f16(own);
    EXPECT_NO_THROW(check_plan(in_f16));
    EXPECT_EQ(parse_plan(to_string(in_f16)), in_f16);
    const std::int64_t block = std::int64_t{256} * 256;
    EXPECT_EQ(in_f16.workspace_bytes - in_f16.vendor_workspace_bytes - reserved_bytes(in_f16),
              49 * (2 * 2 * block + 4 * block));  // products stay in f32
    EXPECT_NEAR(in_f16.error_bound, own.error_bound, 0.02 * own.error_bound);
}

TEST(device_plan, sums_of_tf32_cannot_be_in_f16_where_c_is_added_to_or_levels_go_depth_first) {
    Options options = fast_on_device();
    options.levels = 2;
    options.accumulate = true;
    EXPECT_THROW(check_plan(with_sums_in_f16(plan_device_product(1024, 1024, 1024, Type::tf32, options, {}))), Error);
    options.accumulate = false;
    options.mode = "serial";
    EXPECT_THROW(check_plan(with_sums_in_f16(plan_device_product(1024, 1024, 1024, Type::tf32, options, {}))), Error);
    options.mode = "auto";
    EXPECT_THROW(check_plan(with_sums_in_f16(plan_device_product(1024, 1024, 1024, Type::f32, options, {}))), Error);
    EXPECT_NO_THROW(check_plan(with_sums_in_f16(plan_device_product(1024, 1024, 1024, Type::tf32, options, {}))));
}

TEST(device_plan, bit_matrices_and_unknown_devices_are_refused) {
    EXPECT_THROW(plan_device_product(64, 64, 64, Type::gf2, fast_on_device(), {}), Error);
    Options options = fast_on_device();
    options.leaf = "openblas";
    EXPECT_THROW(plan_device_product(64, 64, 64, Type::f32, options, {}), Error);
    options = fast_on_device();
    options.device = "cuda:x";
    EXPECT_THROW(plan_device_product(64, 64, 64, Type::f32, options, {}), Error);
}

TEST(device_plan, exact_and_i64_are_planned_by_residues_without_a_device) {
    Options options;
    options.device = "cuda";
    options.accuracy = Accuracy::exact;
    const ProductPlan rounded = plan_device_product(8192, 8192, 8192, Type::f32, options, {});
    EXPECT_EQ(rounded.arithmetic.moduli, 24) << to_string(rounded);
    EXPECT_EQ(parse_plan(to_string(rounded)), rounded);
    EXPECT_GT(rounded.predicted_s, 0);
    options.accuracy = Accuracy::balanced;
    EXPECT_LT(plan_device_product(8192, 8192, 8192, Type::f32, options, {}).predicted_s, rounded.predicted_s);
    const ProductPlan ring = plan_device_product(8192, 8192, 8192, Type::i64, options, {});
    EXPECT_EQ(ring.arithmetic.moduli, 18) << to_string(ring);
    EXPECT_EQ(parse_plan(to_string(ring)), ring);
    EXPECT_EQ(ring.error_bound, 0);
    EXPECT_THROW(plan_device_product(64, 300000, 64, Type::i64, options, {}), Error);
    options.leaf = "cublas";
    EXPECT_THROW(plan_device_product(64, 64, 64, Type::i64, options, {}), Error);
}

TEST(device_plan, complex_products_by_residues_take_longer_than_real_ones) {
    Options options;
    options.device = "cuda";
    for (const auto& [type, part] : {std::pair{Type::c64, Type::f32}, {Type::c128, Type::f64}}) {
        const ProductPlan plan = plan_device_product(8192, 8192, 8192, type, options, {});
        const ProductPlan real = plan_device_product(8192, 8192, 8192, part, options, {});
        ASSERT_TRUE(is_by_residues(plan) && is_by_residues(real));
        EXPECT_GT(plan.predicted_s, 2.3 * real.predicted_s);  // measured: 2.8 times
        EXPECT_LT(plan.predicted_s, 3.1 * real.predicted_s);
    }
}

/// Ranks and files add blocks up; levels inside residues are exact.
TEST(device_plan, what_is_promised_of_blocks_by_residues_is_over_lines) {
    Options options;
    options.device = "cuda";
    options.leaf = "heptad-int8";
    for (const int levels : {0, 2}) {
        options.levels = levels;
        const ProductPlan block = plan_device_product(4096, 4096, 4096, Type::f32, options, {});
        ASSERT_TRUE(is_by_residues(block));
        ProductPlan plan;
        plan.m = plan.n = 8192;
        plan.k = 4 * 4096;
        plan.type = Type::f32;
        const ErrorPromise promise = promised_error(plan, block, Accuracy::balanced);
        EXPECT_EQ(promise.over, BoundOver::lines);
        EXPECT_EQ(promise.growth, 1);
        EXPECT_GT(promise.bound, promised_error(block, 1, true).bound + 3 * 0x1p-24);
    }
}

TEST(device_plan, blocks_of_matrices_beyond_a_device_go_by_residues_and_judge_their_data) {
    Options options;
    options.device = "cuda";
    options.host.device_memory_bytes = std::int64_t{2} << 30;
    options.workspace_limit_bytes = std::int64_t{8} << 30;
    for (const Type type : {Type::f32, Type::f64, Type::i64}) {
        const ProductPlan plan = make_plan_over_devices({16384, 16384, 16384}, type, type, options, {}).plan;
        ASSERT_TRUE(is_by_residues(plan)) << to_string(plan);
        EXPECT_EQ(parse_plan(to_string(plan)), plan);
        check_plan_over_devices(plan);
        const ProductPlan block = block_plan(plan);
        EXPECT_TRUE(is_by_residues(block));
        EXPECT_LT(block.m * block.k * block.n, plan.m * plan.k * plan.n);
        EXPECT_EQ(block.least_evenness, type == Type::i64 ? 0 : least_evenness_of({LevelPlan{}})) << to_string(plan);
        EXPECT_EQ(plan.error_bound == 0, type == Type::i64);
    }
}

}  // namespace
}  // namespace heptad::test
