// Plans for bit products on a device: they need none.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "product/device/bit_device_plan.hpp"

namespace heptad::test {
namespace {

using cuda::BitOperation;

BitDevicePlan plan_for(std::int64_t n, BitOperation operation = BitOperation::parity, BitDeviceOptions options = {}) {
    return plan_bit_device_product({operation, {n, n, n}, true}, options);
}

template <class Body>
std::string message_of(ErrorCode code, const Body& body) {
    try {
        body();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), code) << error.what();
        return error.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
}

TEST(bit_device_plan, levels_grow_with_the_size_and_boolean_products_have_none) {
    EXPECT_EQ(plan_for(2048).levels(), 0);
    int before = 0;
    for (std::int64_t n = 4096; n <= 262144; n *= 2) {
        const int levels = plan_for(n).levels();
        EXPECT_GE(levels, before) << n;
        before = levels;
    }
    EXPECT_GE(before, 3);
    EXPECT_EQ(plan_for(262144, BitOperation::any).levels(), 0);
    EXPECT_EQ(plan_for(262144, BitOperation::count).levels(), 0);
}

TEST(bit_device_plan, half_a_million_fits_beside_its_operands) {
    // 139 GiB of memory, 96 of them for the operands.
    BitDeviceOptions options;
    options.workspace_limit_bytes = std::int64_t{43} << 30;
    const BitDevicePlan fast = plan_for(524288, BitOperation::parity, options);
    EXPECT_LE(fast.workspace_bytes(), options.workspace_limit_bytes);
    EXPECT_GE(fast.levels(), 4);
    EXPECT_GE(fast.serial_levels, 1);
    EXPECT_LE(plan_for(524288, BitOperation::any, options).workspace_bytes(), options.workspace_limit_bytes);
}

TEST(bit_device_plan, workspace_is_never_above_the_limit) {
    for (const std::int64_t n : {1000, 5000, 20000, 70000}) {
        for (const std::int64_t limit : {std::int64_t{1} << 22, std::int64_t{1} << 26, std::int64_t{1} << 30}) {
            for (const BitOperation operation : {BitOperation::parity, BitOperation::any}) {
                BitDeviceOptions options;
                options.workspace_limit_bytes = limit;
                const BitDevicePlan plan = plan_for(n, operation, options);
                EXPECT_LE(plan.workspace_bytes(), limit) << plan.to_string();
                EXPECT_GT(plan.predicted_s, 0);
            }
        }
    }
}

TEST(bit_device_plan, panels_of_k_are_shortened_before_a_workspace_is_refused) {
    BitDeviceOptions options;
    options.workspace_limit_bytes = std::int64_t{1} << 20;
    const BitDevicePlan plan = plan_for(65536, BitOperation::any, options);
    EXPECT_EQ(plan.panel_k, 32768);  // 256 columns of it are 1 MiB
    EXPECT_EQ(plan.panel_cols, 256);
    EXPECT_EQ(plan.workspace_bytes(), options.workspace_limit_bytes);
    EXPECT_EQ(parse_bit_device_plan(plan.to_string()).panel_k, plan.panel_k);
    options.workspace_limit_bytes = 4096;  // 256 columns of 128 bits
    for (const std::int64_t n : {1, 100, 129, 300, 5000, 65536}) {
        for (const BitOperation operation : {BitOperation::parity, BitOperation::any, BitOperation::count}) {
            EXPECT_EQ(plan_for(n, operation, options).workspace_bytes(), 4096) << n;
        }
    }
    options.workspace_limit_bytes = 4095;
    EXPECT_NE(message_of(ErrorCode::resource, [&] { plan_for(65536, BitOperation::any, options); })
                  .find("at least 4096 bytes"),
              std::string::npos);
}

TEST(bit_device_plan, an_unaligned_a_fits_the_workspace_of_an_aligned_one_and_keeps_its_levels) {
    for (const std::int64_t n : {1000, 20000, 65536, 262144}) {
        const BitDevicePlan aligned = plan_for(n, BitOperation::any);
        BitDeviceOptions options;
        options.workspace_limit_bytes = aligned.workspace_bytes();
        const BitDevicePlan plan = plan_bit_device_product({BitOperation::any, {n, n, n}, false}, options);
        EXPECT_LE(plan.workspace_bytes(), aligned.workspace_bytes()) << n;
        EXPECT_GT(plan.left.words, 0);
        const BitDevicePlan with_levels = plan_for(n);
        const BitDevicePlan unaligned = plan_bit_device_product({BitOperation::parity, {n, n, n}, false}, {});
        EXPECT_EQ(unaligned.levels(), with_levels.levels()) << n;
    }
    // All of A is never copied at once.
    const BitDevicePlan plan = plan_bit_device_product({BitOperation::any, {524288, 524288, 524288}, false}, {});
    EXPECT_EQ(plan.left.words * 8, std::int64_t{524288} * 65536 / 8);
}

TEST(bit_device_plan, leaves_cover_the_product) {
    for (const ProblemSize& size : {ProblemSize{1, 1, 1}, {100, 3000, 777}, {65537, 4097, 128}}) {
        for (int serial = 0; serial <= kMostSerialBitLevels; ++serial) {
            for (int parallel = 0; parallel <= kMostParallelBitLevels; ++parallel) {
                BitDeviceOptions options;
                options.levels = serial + parallel;
                options.serial_levels = serial;
                const BitDevicePlan plan = plan_bit_device_product({BitOperation::parity, size, true}, options);
                EXPECT_EQ(plan.serial_levels, serial);
                EXPECT_EQ(plan.parallel_levels, parallel);
                EXPECT_GE(plan.shape.m << plan.levels(), size.m);
                EXPECT_GE(plan.shape.k << plan.levels(), size.k);
                EXPECT_GE(plan.shape.n << plan.levels(), size.n);
                EXPECT_EQ(plan.shape.k % 128, 0);
                EXPECT_EQ(plan.shape.n % 128, 0);
                EXPECT_EQ(plan.left.words % 2 + plan.right.offset % 2 + plan.result.offset % 2, 0);
            }
        }
    }
}

TEST(bit_device_plan, what_was_measured_decides_over_what_is_predicted) {
    const BitDeviceProblem problem{cuda::BitOperation::parity, {65536, 65536, 65536}, true};
    const BitDevicePlan predicted = plan_bit_device_product(problem, {});
    BitDeviceFacts facts;
    for (int parallel = 0; parallel <= kMostParallelBitLevels; ++parallel) {
        facts.measured.push_back({32768, 0, parallel, parallel == 1 ? 1e-4 : 1e-1});
        facts.measured.push_back({65536, 1, parallel, 1});
        facts.measured.push_back({65536, 2, parallel, 1});
    }
    const BitDevicePlan chosen = plan_bit_device_product(problem, {}, facts);
    EXPECT_NE(predicted.to_string(), chosen.to_string());
    EXPECT_EQ(chosen.serial_levels, 0);
    EXPECT_EQ(chosen.parallel_levels, 1);
    // Within the memory that there is.
    BitDeviceOptions little;
    little.workspace_limit_bytes = chosen.workspace_bytes() - 1;
    EXPECT_LE(plan_bit_device_product(problem, little, facts).workspace_bytes(), little.workspace_limit_bytes);
    // A sample of the same split and size is the prediction.
    BitDeviceFacts one;
    one.measured = {{65536, 0, 2, 0.123}};
    BitDeviceOptions forced;
    forced.levels = 2;
    forced.serial_levels = 0;
    EXPECT_NEAR(plan_bit_device_product(problem, forced, one).predicted_s, 0.123, 1e-9);
}

TEST(bit_device_plan, only_long_boolean_products_end_early_and_only_where_the_list_fits) {
    EXPECT_EQ(plan_for(262144).first_panel_k, 0);
    EXPECT_EQ(plan_for(262144, BitOperation::count).first_panel_k, 0);
    EXPECT_EQ(plan_for(32768, BitOperation::any).first_panel_k, 0);
    const BitDevicePlan early = plan_for(262144, BitOperation::any);
    EXPECT_EQ(early.first_panel_k, 4096);
    EXPECT_EQ(early.panel_end(0), 4096);
    EXPECT_EQ(early.panel_end(4096), 65536);
    EXPECT_EQ(early.panel_end(65536), 131072);
    EXPECT_EQ(early.open_tiles.offset, early.right.offset + early.right.words);
    EXPECT_GE(early.open_tiles.words, cuda::bit_open_tile_words(262144, 262144));
    BitDeviceOptions options;
    options.first_panel_k = 0;
    const BitDevicePlan whole = plan_for(262144, BitOperation::any, options);
    EXPECT_EQ(whole.panel_end(0), 65536);
    EXPECT_EQ(whole.open_tiles.words, 0);
    options = {};
    options.workspace_limit_bytes = early.workspace_bytes() - 1;
    EXPECT_EQ(plan_for(262144, BitOperation::any, options).workspace_bytes(), whole.workspace_bytes());
    for (const BitDevicePlan& plan : {early, whole}) {
        const BitDevicePlan again = parse_bit_device_plan(plan.to_string());
        EXPECT_EQ(again.first_panel_k, plan.first_panel_k);
        EXPECT_EQ(again.workspace_bytes(), plan.workspace_bytes());
    }
    for (const std::int64_t wrong : {-128, 100}) {
        options = {};
        options.first_panel_k = wrong;
        const std::string message = message_of(ErrorCode::usage, [&] { plan_for(65536, BitOperation::any, options); });
        EXPECT_NE(message.find(std::to_string(wrong)), std::string::npos) << message;
    }
}

TEST(bit_device_plan, empty_products_have_plans) {
    for (const ProblemSize& size : {ProblemSize{0, 5, 5}, {5, 0, 5}, {5, 5, 0}, {0, 0, 0}}) {
        for (const BitOperation operation : {BitOperation::parity, BitOperation::any, BitOperation::count}) {
            const BitDevicePlan plan = plan_bit_device_product({operation, size, true}, {});
            EXPECT_EQ(plan.levels(), 0);
            EXPECT_GE(plan.predicted_s, 0);
        }
    }
}

TEST(bit_device_plan, the_print_names_the_layers_of_p3) {
    BitDeviceOptions options;
    options.levels = 3;
    options.serial_levels = 1;
    EXPECT_EQ(
        plan_for(65536, BitOperation::parity, options)
            .to_string()
            .find("bits gf2 65536 65536 65536 device cuda algorithm self-inverse d_h 0 d_s 1 d_p 2 d_i 13 leaf wgmma "
                  "8192x8192x8192 workspace "),
        0U);
    EXPECT_NE(plan_for(300, BitOperation::any).to_string().find("bool 300 300 300 device cuda algorithm classical"),
              std::string::npos);
}

TEST(bit_device_plan, the_print_parses_back_to_an_equal_plan) {
    for (const std::int64_t n : {100, 5000, 65536}) {
        for (const BitOperation operation : {BitOperation::parity, BitOperation::any, BitOperation::count}) {
            for (int levels = -1; levels <= (operation == BitOperation::parity ? 4 : 0); ++levels) {
                BitDeviceOptions options;
                options.levels = levels;
                options.serial_levels = levels > 1 ? 1 : -1;
                const BitDevicePlan plan = plan_for(n, operation, options);
                const BitDevicePlan again = parse_bit_device_plan(plan.to_string());
                EXPECT_EQ(again.to_string(), plan.to_string());
                EXPECT_EQ(again.workspace_bytes(), plan.workspace_bytes());
            }
        }
    }
    for (const char* const text : {"", "bits", "bits gf2 1 2 3 algorithm classical",
                                   "bits f32 1 1 1 device cuda algorithm classical d_h 0 d_s 0 "
                                   "d_p 0 d_i 1 leaf mma",
                                   "bits gf2 1 1 1 device cuda algorithm classical d_h 1 d_s 0 d_p 0 d_i 1 leaf mma",
                                   "bits gf2 1 1 1 device cuda algorithm x d_h 0 d_s 0 d_p 0 d_i 1 leaf mma 1 "
                                   "workspace 9999999",
                                   "bits gf2 1 1 1 device cuda algorithm self-inverse d_h 0 d_s 2147483647 "
                                   "d_p 2147483647 d_i 1 leaf mma 1 workspace 9999999",
                                   "bits bool 1 1 1 device cuda algorithm classical d_h 0 d_s 1 d_p 0 d_i 1 leaf mma 1 "
                                   "workspace 9999999"}) {
        message_of(ErrorCode::input, [&] { parse_bit_device_plan(text); });
    }
}

TEST(bit_device_plan, refusals_name_the_value_and_the_way_out) {
    BitDeviceOptions options;
    options.levels = 9;
    EXPECT_NE(message_of(ErrorCode::usage, [&] { plan_for(1000, BitOperation::parity, options); }).find("9 levels"),
              std::string::npos);
    options.levels = 2;
    EXPECT_NE(message_of(ErrorCode::usage, [&] { plan_for(1000, BitOperation::any, options); }).find("no subtraction"),
              std::string::npos);
    options.workspace_limit_bytes = 1000;
    EXPECT_NE(message_of(ErrorCode::resource, [&] { plan_for(1000, BitOperation::parity, options); })
                  .find("limit_bytes is 1000"),
              std::string::npos);
    options.levels = -1;
    EXPECT_NE(message_of(ErrorCode::resource, [&] { plan_for(1000, BitOperation::any, options); })
                  .find("limit_bytes is 1000"),
              std::string::npos);
    BitDeviceOptions leaf;
    leaf.leaf = "gfni";
    EXPECT_NE(
        message_of(ErrorCode::usage, [&] { plan_for(1000, BitOperation::parity, leaf); }).find("wgmma, mma, words"),
        std::string::npos);
    BitDeviceOptions algorithm;
    algorithm.algorithm = "2x2x3-11";
    EXPECT_NE(message_of(ErrorCode::usage, [&] { plan_for(1000, BitOperation::parity, algorithm); }).find("2x2x3-11"),
              std::string::npos);
    BitDeviceOptions panel;
    panel.most_panel_k = 100;
    EXPECT_NE(message_of(ErrorCode::usage, [&] { plan_for(1000, BitOperation::any, panel); }).find("multiple of 128"),
              std::string::npos);
    message_of(ErrorCode::input, [&] { plan_for(-1); });
    message_of(ErrorCode::input, [&] { plan_for(std::int64_t{1} << 40); });
    algorithm.algorithm = "classical";
    algorithm.levels = 1;
    message_of(ErrorCode::usage, [&] { plan_for(1000, BitOperation::parity, algorithm); });
}

}  // namespace
}  // namespace heptad::test
