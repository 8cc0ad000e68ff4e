// The model with the built-in figures of an H200 against what one took: every order and depth of fused levels from
// n = 2048 on must be predicted within 15 %.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "io/device_machine.hpp"
#include "plan/search/planner.hpp"

namespace heptad::test {
namespace {

struct Way {
    const char* name;
    std::vector<LevelPlan> levels;
};

std::vector<Way> ways() {
    const auto fused = [](const char* algorithm, FusedOrder order) {
        return LevelPlan{algorithm, LevelMode::fused, "", order};
    };
    const LevelPlan one{"winograd", LevelMode::parallel, ""}, two{"winograd*winograd", LevelMode::parallel, ""};
    return {{"one level, serial", {fused("strassen", FusedOrder::serial)}},
            {"one level, two streams", {fused("strassen", FusedOrder::two_streams)}},
            {"one level, atomic", {fused("strassen", FusedOrder::atomic)}},
            {"one level, batched", {fused("strassen", FusedOrder::batched)}},
            {"one level, persistent", {fused("strassen", FusedOrder::persistent)}},
            {"one level of 2x2x3", {fused("2x2x3-11", FusedOrder::persistent)}},
            {"two levels at once", {fused("strassen*strassen", FusedOrder::persistent)}},
            {"below one level in passes", {one, fused("strassen", FusedOrder::persistent)}},
            {"below one level in passes, batched", {one, fused("strassen", FusedOrder::batched)}},
            {"below two levels in passes", {two, fused("strassen", FusedOrder::persistent)}}};
}

/// Microseconds of each of them, as `heptad bench model` measured them; 0: not measured as it is done now.
struct Recorded {
    Type type;
    ProblemSize size;
    double measured_us[10];
};
constexpr Recorded kRecorded[] = {
    {Type::f32, {2048, 2048, 2048}, {837.1, 511.2, 336.4, 502.4, 398.9, 744.4, 543.8, 374, 472.8, 591.6}},
    {Type::f32, {3072, 3072, 3072}, {1907, 1656, 1065, 1703, 1127, 1128, 1809, 1155, 1128, 0}},
    {Type::f32, {4096, 4096, 4096}, {2564, 2522, 2413, 2520, 2508, 3774, 4275, 2397, 2933, 2576}},
    {Type::f64, {4096, 4096, 4096}, {2859, 2871, 3315, 2877, 2817, 4504, 4496, 2916, 3093, 3230}},
    {Type::f32, {8192, 8192, 8192}, {19510, 19410, 18530, 19340, 18820, 26680, 30900, 17450, 17870, 16440}},
    {Type::f32,
     {16384, 16384, 16384},
     {153600, 152800, 146200, 156000, 152700, 208300, 239100, 133500, 136000, 119700}},
    {Type::f32, {16384, 2048, 16384}, {20580, 20480, 19810, 20350, 19820, 25440, 32800, 19220, 19570, 20000}},
    {Type::f32, {4096, 16384, 4096}, {9667, 9674, 9269, 9643, 9464, 14980, 17440, 8938, 10940, 8361}},
    {Type::f64, {8192, 8192, 8192}, {23470, 22870, 24040, 23340, 23420, 28160, 33810, 21200, 22190, 20380}},
};

TEST(fused_recorded, times_of_an_h200_are_predicted_within_15_percent) {
    Machine machine = default_device_machine();
    machine.call_s = 50e-6;  // what a pass took of the time of that host
    const std::vector<Way> all = ways();
    for (const Recorded& recorded : kRecorded) {
        const ProblemSize& size = recorded.size;
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (recorded.measured_us[i] == 0) {
                continue;
            }
            Problem problem{size.m, size.k, size.n, recorded.type, 1, {}};
            problem.options.device = "cuda";
            problem.options.accuracy = Accuracy::fast;
            const double predicted_us = 1e6 * plan_with_levels(problem, machine, all[i].levels).predicted_s;
            EXPECT_NEAR(predicted_us / recorded.measured_us[i], 1, 0.15)
                << type_name(recorded.type) << " " << size.m << "x" << size.k << "x" << size.n << " " << all[i].name
                << ": " << predicted_us << " us predicted, " << recorded.measured_us[i] << " measured";
        }
    }
}

}  // namespace
}  // namespace heptad::test
