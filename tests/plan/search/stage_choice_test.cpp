// Whether the host takes levels of its own is decided by seconds and bytes: made-up machines on both sides of each
// limit.
#include "plan/search/stage_choice.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace heptad {
namespace {

/// 10 GB to read and 5 GB to write, products of 100 s.
FileTraffic traffic() {
    FileTraffic traffic;
    traffic.read_a_bytes = 6'000'000'000;
    traffic.read_b_bytes = 4'000'000'000;
    traffic.written_bytes = 5'000'000'000;
    traffic.multiply_s = 100;
    return traffic;
}

FileProblem on_disk(double bytes_per_s) {
    FileProblem problem;
    problem.read_bytes_per_s = problem.write_bytes_per_s = bytes_per_s;
    return problem;
}

ProductPlan host_cut(int levels, double predicted_s) {
    ProductPlan cut;
    cut.host.emplace().levels = levels;
    cut.predicted_s = predicted_s;
    return cut;
}

TEST(StageChoice, levels_at_the_host_are_taken_where_they_are_clearly_faster) {
    EXPECT_EQ(choose_stage(on_disk(1e9), traffic(), 10, host_cut(1, 9)).by, StepsCutBy::host);
    EXPECT_EQ(choose_stage(on_disk(1e9), traffic(), 10, host_cut(2, 9.7)).by, StepsCutBy::host);
    EXPECT_EQ(choose_stage(on_disk(1e9), traffic(), 10, host_cut(1, 9.9)).by, StepsCutBy::file);
    EXPECT_EQ(choose_stage(on_disk(1e9), traffic(), 10, host_cut(1, 11)).by, StepsCutBy::file);
    EXPECT_EQ(choose_stage(on_disk(1e9), traffic(), 10, host_cut(0, 5)).by, StepsCutBy::file);
}

TEST(StageChoice, a_disk_that_binds_is_told_and_no_level_is_taken) {
    const StageChoice slow = choose_stage(on_disk(1e8), traffic(), 10, host_cut(1, 5));
    EXPECT_EQ(slow.by, StepsCutBy::file);
    EXPECT_NE(std::string(slow.reason).find("disk is the bottleneck"), std::string::npos);
    EXPECT_TRUE(disk_binds(on_disk(1.49e8), traffic()));
    EXPECT_FALSE(disk_binds(on_disk(1.51e8), traffic()));
    EXPECT_EQ(choose_stage(on_disk(1.51e8), traffic(), 10, host_cut(1, 5)).by, StepsCutBy::host);
}

TEST(StageChoice, predictions_that_are_no_numbers_leave_the_cut_of_the_file) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(choose_stage(on_disk(1e9), traffic(), 10, host_cut(1, nan)).by, StepsCutBy::file);
    EXPECT_EQ(choose_stage(on_disk(1e9), traffic(), nan, host_cut(1, 5)).by, StepsCutBy::file);
}

/// A device of so many operations per second whose memory holds blocks of A, B and C and nothing else: no level fits
/// there, and a level at the host saves an eighth of the products.
ProductPlan cut_for_small_device(double operations_per_s, double sum_bytes_per_s) {
    HostProblem problem;
    problem.size = {32768, 32768, 32768};
    problem.accuracy = Accuracy::fast;
    DeviceFacts device;
    device.name = "made up";
    device.memory_bytes = std::int64_t{8} << 30;
    return make_host_plan(problem, device, {std::int64_t{64} << 30, sum_bytes_per_s},
                          [&](const ProblemSize& block, bool, std::int64_t) {
                              const double volume = static_cast<double>(block.m) * static_cast<double>(block.k) *
                                                    static_cast<double>(block.n);
                              ProductPlan plan;
                              plan.predicted_s = 2 * volume / operations_per_s;
                              plan.error_bound = 1;
                              return plan;
                          })
        .plan;
}

TEST(StageChoice, a_slow_device_with_a_fast_host_gets_levels_and_a_slow_host_none) {
    const double step_s = 2 * 32768.0 * 32768 * 32768 / 1e12;
    const ProductPlan quick_host = cut_for_small_device(1e12, 100e9), slow_host = cut_for_small_device(1e12, 1e9);
    EXPECT_GT(quick_host.host->levels, 0);
    EXPECT_EQ(choose_stage(on_disk(2e9), traffic(), step_s, quick_host).by, StepsCutBy::host);
    EXPECT_EQ(choose_stage(on_disk(2e9), traffic(), step_s, slow_host).by, StepsCutBy::file) << to_string(slow_host);
}

}  // namespace
}  // namespace heptad
