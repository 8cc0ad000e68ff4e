#include "papers/p0/p0_plan.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "plan/search/planner.hpp"

namespace heptad {
namespace {

Options on(const std::string& device) {
    Options options;
    options.device = device;
    return options;
}

std::string schedules(const std::vector<LevelPlan>& levels) {
    std::string names;
    for (const LevelPlan& level : levels) {
        EXPECT_EQ(level.mode, LevelMode::serial);
        names += level.schedule + " ";
    }
    return names;
}

template <class Act>
ErrorCode refusal(Act&& act) {
    try {
        act();
    } catch (const Error& error) {
        return error.code();
    }
    return ErrorCode::internal;
}

TEST(p0_plan, outer_levels_follow_figures_8_and_15_and_the_last_one_4_and_5) {
    EXPECT_EQ(schedules(p0_levels(64, "strassen", p0_thresholds(64, 3))), "p0-figure-8 p0-figure-8 p0-figure-4 ");
    EXPECT_EQ(schedules(p0_levels(64, "winograd", p0_thresholds(64, 2))), "p0-figure-15 p0-figure-5 ");
    EXPECT_EQ(schedules(p0_levels(64, "winograd", p0_thresholds(64, 0))), "");
    EXPECT_EQ(schedules(p0_levels(64, "strassen", {32, 32})), "p0-figure-8 ");
}

TEST(p0_plan, thresholds_make_the_levels_asked_for_at_any_size) {
    EXPECT_EQ(p0_thresholds(16384, 3), (P0Thresholds{2048, 4096}));  // P0's best
    for (std::int64_t n = 1; n <= 300; ++n) {
        for (int levels = 0; n >> levels > 0; ++levels) {
            EXPECT_EQ(p0_levels(n, "winograd", p0_thresholds(n, levels)).size(), static_cast<std::size_t>(levels)) << n;
        }
    }
}

TEST(p0_plan, every_backend_gets_a_plan_that_fits_together_and_parses_back) {
    for (const char* device : {"reference", "cpu", "cuda"}) {
        for (const Type type : {Type::f32, Type::i32}) {
            for (const char* algorithm : {"strassen", "winograd"}) {
                for (const std::int64_t n : {std::int64_t{32}, std::int64_t{100}, std::int64_t{101}}) {
                    for (int levels = 0; levels <= 4; ++levels) {
                        const ProductPlan plan =
                            p0_plan(n, type, algorithm, p0_thresholds(n, levels), on(device), Machine{});
                        EXPECT_EQ(plan.levels, p0_levels(n, algorithm, p0_thresholds(n, levels)));
                        EXPECT_EQ(plan.backend, device);
                        EXPECT_FALSE(plan.accumulate);
                        EXPECT_EQ(parse_plan(to_string(plan)), plan);
                        EXPECT_NO_THROW(check_plan(plan)) << to_string(plan);
                    }
                }
            }
        }
    }
}

TEST(p0_plan, two_temporaries_per_level_are_all_the_workspace) {
    const ProductPlan plan = p0_plan(1024, Type::f32, "winograd", p0_thresholds(1024, 3), on("reference"), Machine{});
    EXPECT_EQ(plan.workspace_bytes, 4 * 2 * (512 * 512 + 256 * 256 + 128 * 128));
}

TEST(p0_plan, what_p0_does_not_have_is_refused) {
    const auto plan = [](std::int64_t n, Type type, const char* algorithm, P0Thresholds thresholds, Options options) {
        return refusal([&] { p0_plan(n, type, algorithm, thresholds, options, Machine{}); });
    };
    EXPECT_EQ(plan(64, Type::f64, "strassen", {32, 64}, on("cpu")), ErrorCode::usage);
    EXPECT_EQ(plan(64, Type::f32, "classical", {32, 64}, on("cpu")), ErrorCode::usage);
    EXPECT_EQ(plan(64, Type::f32, "strassen", {0, 64}, on("cpu")), ErrorCode::usage);
    EXPECT_EQ(plan(64, Type::f32, "strassen", {64, 32}, on("cpu")), ErrorCode::usage);
    EXPECT_EQ(plan(-1, Type::f32, "strassen", {32, 64}, on("cpu")), ErrorCode::usage);
    Options options = on("cpu");
    options.accumulate = true;
    EXPECT_EQ(plan(64, Type::f32, "strassen", {32, 64}, options), ErrorCode::usage);
    options = on("cpu");
    options.workspace_limit_bytes = 4 * 2 * 32 * 32 - 1;
    EXPECT_EQ(plan(64, Type::f32, "strassen", {32, 64}, options), ErrorCode::resource);
    options.workspace_limit_bytes += 1;
    EXPECT_EQ(p0_plan(64, Type::f32, "strassen", {32, 64}, options, Machine{}).levels.size(), 1U);
    for (const int levels : {-1, 7, 63, 64}) {
        EXPECT_EQ(refusal([&] { p0_thresholds(64, levels); }), ErrorCode::usage) << levels;
    }
    EXPECT_EQ(refusal([] { p0_thresholds(0, 0); }), ErrorCode::usage);
}

}  // namespace
}  // namespace heptad
