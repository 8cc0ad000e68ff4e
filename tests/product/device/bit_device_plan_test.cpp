// Plans for bit products on a device: they need none.
#include <gtest/gtest.h>

#include <random>

#include "base/error.hpp"
#include "product/device/bit_device_plan.hpp"

namespace heptad::test {
namespace {

using cuda::BitOperation;

ProductPlan plan_for(std::int64_t n, BitOperation operation = BitOperation::parity, BitDeviceOptions options = {}) {
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
    EXPECT_EQ(plan_for(2048).levels.size(), 0U);
    std::size_t before = 0;
    for (std::int64_t n = 4096; n <= 262144; n *= 2) {
        const std::size_t levels = plan_for(n).levels.size();
        EXPECT_GE(levels, before) << n;
        before = levels;
    }
    EXPECT_GE(before, 3U);
    EXPECT_EQ(plan_for(262144, BitOperation::any).levels.size(), 0U);
    EXPECT_EQ(plan_for(262144, BitOperation::count).levels.size(), 0U);
}

TEST(bit_device_plan, half_a_million_fits_beside_its_operands) {
    // 139 GiB of memory, 96 of them for the operands.
    BitDeviceOptions options;
    options.workspace_limit_bytes = std::int64_t{43} << 30;
    const ProductPlan fast = plan_for(524288, BitOperation::parity, options);
    EXPECT_LE(fast.workspace_bytes, options.workspace_limit_bytes);
    EXPECT_GE(fast.levels.size(), 4U);
    EXPECT_GE(levels_in_mode(fast, LevelMode::serial), 1);
    EXPECT_LE(plan_for(524288, BitOperation::any, options).workspace_bytes, options.workspace_limit_bytes);
}

TEST(bit_device_plan, workspace_is_never_above_the_limit) {
    for (const std::int64_t n : {1000, 5000, 20000, 70000}) {
        for (const std::int64_t limit : {std::int64_t{1} << 22, std::int64_t{1} << 26, std::int64_t{1} << 30}) {
            for (const BitOperation operation : {BitOperation::parity, BitOperation::any}) {
                BitDeviceOptions options;
                options.workspace_limit_bytes = limit;
                const ProductPlan plan = plan_for(n, operation, options);
                EXPECT_LE(plan.workspace_bytes, limit) << to_string(plan);
                EXPECT_GT(plan.predicted_s, 0);
            }
        }
    }
}

TEST(bit_device_plan, panels_of_k_are_shortened_before_a_workspace_is_refused) {
    BitDeviceOptions options;
    options.workspace_limit_bytes = std::int64_t{1} << 20;
    const ProductPlan plan = plan_for(65536, BitOperation::any, options);
    EXPECT_EQ(plan.panels->k, 32768);  // 256 columns of it are 1 MiB
    EXPECT_EQ(plan.panels->cols, 256);
    EXPECT_EQ(plan.workspace_bytes, options.workspace_limit_bytes);
    options.workspace_limit_bytes = 4096;  // 256 columns of 128 bits
    for (const std::int64_t n : {1, 100, 129, 300, 5000, 65536}) {
        for (const BitOperation operation : {BitOperation::parity, BitOperation::any, BitOperation::count}) {
            EXPECT_EQ(plan_for(n, operation, options).workspace_bytes, 4096) << n;
        }
    }
    options.workspace_limit_bytes = 4095;
    EXPECT_NE(message_of(ErrorCode::resource, [&] { plan_for(65536, BitOperation::any, options); })
                  .find("at least 4096 bytes"),
              std::string::npos);
}

TEST(bit_device_plan, an_unaligned_a_fits_the_workspace_of_an_aligned_one_and_keeps_its_levels) {
    for (const std::int64_t n : {1000, 20000, 65536, 262144}) {
        const ProductPlan aligned = plan_for(n, BitOperation::any);
        BitDeviceOptions options;
        options.workspace_limit_bytes = aligned.workspace_bytes;
        const ProductPlan plan = plan_bit_device_product({BitOperation::any, {n, n, n}, false}, options);
        EXPECT_LE(plan.workspace_bytes, aligned.workspace_bytes) << n;
        EXPECT_GT(bit_device_launch(plan, false).left.words, 0);
        const ProductPlan with_levels = plan_for(n);
        const ProductPlan unaligned = plan_bit_device_product({BitOperation::parity, {n, n, n}, false}, {});
        EXPECT_EQ(unaligned.levels, with_levels.levels) << n;
    }
    // All of A is never copied at once.
    const ProductPlan plan = plan_bit_device_product({BitOperation::any, {524288, 524288, 524288}, false}, {});
    EXPECT_EQ(bit_device_launch(plan, false).left.words * 8, std::int64_t{524288} * 65536 / 8);
}

TEST(bit_device_plan, leaves_cover_the_product) {
    for (const ProblemSize& size : {ProblemSize{1, 1, 1}, {100, 3000, 777}, {65537, 4097, 128}}) {
        for (int serial = 0; serial <= kMostSerialBitLevels; ++serial) {
            for (int parallel = 0; parallel <= kMostParallelBitLevels; ++parallel) {
                BitDeviceOptions options;
                options.levels = serial + parallel;
                options.serial_levels = serial;
                const BitDeviceLaunch plan =
                    bit_device_launch(plan_bit_device_product({BitOperation::parity, size, true}, options), true);
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
    const ProductPlan predicted = plan_bit_device_product(problem, {});
    BitDeviceFacts facts;
    for (int parallel = 0; parallel <= kMostParallelBitLevels; ++parallel) {
        facts.measured.push_back({32768, 0, parallel, parallel == 1 ? 1e-4 : 1e-1});
        facts.measured.push_back({65536, 1, parallel, 1});
        facts.measured.push_back({65536, 2, parallel, 1});
    }
    const ProductPlan chosen = plan_bit_device_product(problem, {}, facts);
    EXPECT_FALSE(predicted == chosen);
    EXPECT_EQ(levels_in_mode(chosen, LevelMode::serial), 0);
    EXPECT_EQ(levels_in_mode(chosen, LevelMode::parallel), 1);
    // Within the memory that there is.
    BitDeviceOptions little;
    little.workspace_limit_bytes = chosen.workspace_bytes - 1;
    EXPECT_LE(plan_bit_device_product(problem, little, facts).workspace_bytes, little.workspace_limit_bytes);
    // A sample of the same split and size is the prediction.
    BitDeviceFacts one;
    one.measured = {{65536, 0, 2, 0.123}};
    BitDeviceOptions forced;
    forced.levels = 2;
    forced.serial_levels = 0;
    EXPECT_NEAR(plan_bit_device_product(problem, forced, one).predicted_s, 0.123, 1e-9);
}

TEST(bit_device_plan, only_long_boolean_products_end_early_and_only_where_the_list_fits) {
    EXPECT_FALSE(plan_for(262144).panels);
    EXPECT_EQ(plan_for(262144, BitOperation::count).panels->first_k, 0);
    EXPECT_EQ(plan_for(32768, BitOperation::any).panels->first_k, 0);
    const ProductPlan early_plan = plan_for(262144, BitOperation::any);
    const BitDeviceLaunch early = bit_device_launch(early_plan, true);
    EXPECT_EQ(early_plan.panels->first_k, 4096);
    EXPECT_EQ(early.panel_end(0), 4096);
    EXPECT_EQ(early.panel_end(4096), 65536);
    EXPECT_EQ(early.panel_end(65536), 131072);
    EXPECT_EQ(early.open_tiles.offset, early.right.offset + early.right.words);
    EXPECT_GE(early.open_tiles.words, cuda::bit_open_tile_words(262144, 262144));
    BitDeviceOptions options;
    options.first_panel_k = 0;
    const BitDeviceLaunch whole = bit_device_launch(plan_for(262144, BitOperation::any, options), true);
    EXPECT_EQ(whole.panel_end(0), 65536);
    EXPECT_EQ(whole.open_tiles.words, 0);
    options = {};
    options.workspace_limit_bytes = early_plan.workspace_bytes - 1;
    EXPECT_EQ(plan_for(262144, BitOperation::any, options).workspace_bytes, whole.workspace_bytes());
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
            const ProductPlan plan = plan_bit_device_product({operation, size, true}, {});
            EXPECT_TRUE(plan.levels.empty());
            EXPECT_GE(plan.predicted_s, 0);
        }
    }
}

TEST(bit_device_plan, the_print_names_the_layers_of_p3) {
    BitDeviceOptions options;
    options.levels = 3;
    options.serial_levels = 1;
    EXPECT_EQ(to_string(plan_for(65536, BitOperation::parity, options))
                  .find("plan 65536x65536x65536 gf2 backend=cuda threads=1 "
                        "levels=self-inverse:serial,self-inverse:parallel,self-inverse:parallel leaf=wgmma "
                        "core=65536x65536x65536 padded=yes "),
              0U);
    EXPECT_NE(to_string(plan_for(300, BitOperation::any)).find(" panels={k=300;cols=512} levels=none "),
              std::string::npos);
}

TEST(bit_device_plan, every_print_parses_back_to_an_equal_plan_that_passes_its_check) {
    std::mt19937_64 random(4);
    for (int repeat = 0; repeat < 300; ++repeat) {
        const auto operation = static_cast<BitOperation>(repeat % 3);
        const auto side = [&] { return static_cast<std::int64_t>(random() >> (45 + random() % 19)); };
        BitDeviceOptions options;
        if (operation == BitOperation::parity) {
            options.levels = static_cast<int>(random() % 7) - 1;
            options.serial_levels = options.levels > 4 ? 2 : -1;
        } else {
            options.workspace_limit_bytes = std::int64_t{1} << (31 + random() % 10);
        }
        const bool aligned = random() % 2 == 0;
        const ProductPlan plan = plan_bit_device_product({operation, {side(), side(), side()}, aligned}, options);
        EXPECT_TRUE(parse_plan(to_string(plan)) == plan) << to_string(plan);
        EXPECT_NO_THROW(check_bit_device_plan(plan)) << to_string(plan);
        EXPECT_LE(bit_device_launch(plan, aligned).workspace_bytes(), plan.workspace_bytes);
        EXPECT_EQ(bit_device_launch(plan, aligned).workspace_bytes(), plan.workspace_bytes) << to_string(plan);
    }
}

TEST(bit_device_plan, a_plan_that_was_edited_is_bad_input) {
    BitDeviceOptions options;
    options.levels = 3;
    options.serial_levels = 1;
    const std::string levels = to_string(plan_for(5000, BitOperation::parity, options));
    const std::string panels = to_string(plan_for(70000, BitOperation::any));
    const auto with = [&](std::string text, const std::string& key, const std::string& value) {
        const std::size_t begin = text.find(' ' + key + '=') + 1, end = text.find(' ', begin);
        EXPECT_NE(begin, 0U) << key;
        return text.substr(0, begin) + key + "=" + value + text.substr(std::min(end, text.size()));
    };
    EXPECT_NO_THROW(check_bit_device_plan(parse_plan(with(levels, "predicted-s", "7"))));
    for (const std::string& wrong :
         {with(levels, "backend", "cpu"),
          with(levels, "threads", "2"),
          with(levels, "levels", "none"),
          with(levels, "levels", "self-inverse:serial"),
          with(levels, "levels", "self-inverse:parallel,self-inverse:serial,self-inverse:parallel"),
          with(levels, "levels", "self-inverse:serial,self-inverse:serial,self-inverse:serial"),
          with(levels, "levels", "self-inverse:serial,winograd:parallel,self-inverse:parallel"),
          with(levels, "levels", "self-inverse:serial,self-inverse:parallel,self-inverse:fused"),
          with(levels, "levels", "2x2x3-11:serial,2x2x3-11:parallel,2x2x3-11:parallel"),
          with(levels, "leaf", "gfni"),
          with(levels, "core", "5000x5000x5000"),
          with(levels, "workspace-bytes", "0"),
          with(levels, "padded", "no"),
          levels + " count=yes",
          levels + " panels={k=128;cols=256}",
          "plan 9223372036854775807x1x1 gf2" + levels.substr(levels.find(" backend=")),
          "plan 5000x5000x5000 f32" + levels.substr(levels.find(" backend=")),
          with(panels, "panels", "{k=0;cols=256}"),
          with(panels, "panels", "{k=100;cols=256}"),
          with(panels, "panels", "{k=70016;cols=256}"),
          with(panels, "panels", "{k=65536;cols=0}"),
          with(panels, "panels", "{k=65536;cols=100}"),
          with(panels, "panels", "{k=65536;cols=70400}"),
          with(panels, "panels", "{k=128;cols=256;first=256}"),
          with(panels, "panels", "{k=256;cols=256;first=100}"),
          with(panels, "panels", "{k=65536;cols=9223372036854775552}"),
          with(panels, "levels", "self-inverse:serial"),
          with(panels, "workspace-bytes", "1")}) {
        message_of(ErrorCode::input, [&] { check_bit_device_plan(parse_plan(wrong)); });
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
