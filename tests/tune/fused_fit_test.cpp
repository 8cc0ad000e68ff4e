// A kernel whose parameters are known is timed by the model itself; the fit must find them again.
#include "tune/fused_fit.hpp"

#include <gtest/gtest.h>

#include <random>

#include "plan/predict/fused_prediction.hpp"

namespace heptad {
namespace {

FusedInstances products_of(const FusedTrial& trial) {
    FusedInstances products{{}, {}, {}, trial.counts};
    for (int i = 0; i < trial.products; ++i) {
        BlockProduct instance;
        instance.left.resize(static_cast<std::size_t>(trial.counts.a));
        instance.right.resize(static_cast<std::size_t>(trial.counts.b));
        instance.result.resize(static_cast<std::size_t>(trial.counts.c), {trial.one_target ? 0 : i, 1});
        products.instances.push_back(instance);
        products.group_ends.push_back(i + 1);
    }
    return products;
}

double seconds_of(const FusedTrial& trial, const FusedDevice& device, const FusedProfile& truth) {
    const double seconds =
        fused_seconds(device, truth, trial.order, products_of(trial), {trial.m, trial.k, trial.n, 1});
    return trial.misaligned ? (seconds - device.launch_s) * truth.misaligned + device.launch_s : seconds;
}

FusedProfile known(int tile_m, int tile_n, int blocks) {
    FusedProfile profile;
    profile.tile_m = tile_m;
    profile.tile_n = tile_n;
    profile.blocks_of_multiprocessor = blocks;
    profile.flops_per_s = 47e12;
    profile.addition_flops = 5;
    profile.update_flops = 60;
    // Less than four terms on each side draw, more than two.
    profile.global_bytes_per_s = 3 * 4 * (tile_m + tile_n) / (2.0 * tile_m * tile_n) * profile.flops_per_s;
    profile.alone = blocks == 1 ? 1 : 0.8;
    profile.misaligned = 1.3;
    profile.atomic_flops = 90;
    profile.edge = 1.7;
    profile.turn_s = 11e-6;
    return profile;
}

FusedProfile unknown(const FusedProfile& profile) {
    FusedProfile blank;
    blank.tile_m = profile.tile_m;
    blank.tile_n = profile.tile_n;
    blank.blocks_of_multiprocessor = profile.blocks_of_multiprocessor;
    return blank;
}

TEST(fused_fit, finds_the_parameters_of_kernels_timed_by_the_model) {
    const FusedDevice device{132, 3e-6};
    for (const FusedProfile& truth : {known(128, 128, 2), known(128, 256, 1), known(64, 64, 4), known(128, 32, 3)}) {
        const FusedProfile fitted = fit_fused_profile(
            unknown(truth), device, [&](const FusedTrial& trial) { return seconds_of(trial, device, truth); });
        EXPECT_NEAR(fitted.flops_per_s / truth.flops_per_s, 1, 1e-6);
        EXPECT_NEAR(fitted.addition_flops, truth.addition_flops, 1e-3);
        EXPECT_NEAR(fitted.update_flops, truth.update_flops, 1e-3);
        EXPECT_NEAR(fitted.global_bytes_per_s / truth.global_bytes_per_s, 1, 1e-3);
        EXPECT_NEAR(fitted.alone, truth.alone, 1e-3);
        EXPECT_NEAR(fitted.misaligned, truth.misaligned, 1e-6);
        EXPECT_NEAR(fitted.atomic_flops, truth.atomic_flops, 1e-3);
        EXPECT_NEAR(fitted.edge, truth.edge, 1e-6);
        EXPECT_NEAR(fitted.turn_s, truth.turn_s, 1e-9);
    }
}

TEST(fused_fit, a_k_that_is_no_multiple_of_8_changes_no_parameter) {
    const FusedDevice device{132, 3e-6};
    const FusedProfile truth = known(128, 256, 1);
    const auto seconds = [&](const FusedTrial& trial) {
        EXPECT_EQ(trial.k % 8, 4);
        return seconds_of(trial, device, truth);
    };
    const FusedProfile fitted = fit_fused_profile(unknown(truth), device, seconds, 4);
    EXPECT_NEAR(fitted.flops_per_s / truth.flops_per_s, 1, 1e-6);
    EXPECT_NEAR(fitted.addition_flops, truth.addition_flops, 1e-3);
    EXPECT_NEAR(fitted.update_flops, truth.update_flops, 1e-3);
}

TEST(fused_fit, noise_of_a_few_percent_leaves_parameters_that_can_be) {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> noise(0.95, 1.05);
    const FusedDevice device{132, 3e-6};
    const FusedProfile truth = known(128, 128, 2);
    for (int i = 0; i < 100; ++i) {
        const FusedProfile fitted = fit_fused_profile(unknown(truth), device, [&](const FusedTrial& trial) {
            return noise(random) * seconds_of(trial, device, truth);
        });
        EXPECT_NEAR(fitted.flops_per_s / truth.flops_per_s, 1, 0.15);
        EXPECT_GT(fitted.addition_flops, 0);
        EXPECT_GT(fitted.update_flops, 0);
        EXPECT_GT(fitted.alone, 0);
        EXPECT_LE(fitted.alone, 1);
        EXPECT_GE(fitted.misaligned, 1);
        EXPECT_GT(fitted.atomic_flops, 0);
        EXPECT_GE(fitted.edge, 1);
        EXPECT_GE(fitted.turn_s, 0);
    }
}

TEST(fused_fit, trials_fill_whole_waves_and_stay_near_the_side) {
    for (const int multiprocessors : {1, 80, 108, 132, 144}) {
        for (const FusedProfile& profile : {known(128, 128, 2), known(128, 256, 1), known(32, 128, 3)}) {
            const FusedDevice device{multiprocessors, 1e-6};
            const WholeWaves waves = whole_waves(profile, device, 8192);
            EXPECT_EQ(waves.rows * waves.cols % (multiprocessors * profile.blocks_of_multiprocessor), 0);
            EXPECT_GE(waves.rows * profile.tile_m, 4096);
            EXPECT_LE(waves.rows * profile.tile_m, 16384);
            EXPECT_GE(waves.cols * profile.tile_n, 4096);
            EXPECT_LE(waves.cols * profile.tile_n, 16384);
        }
    }
}

}  // namespace
}  // namespace heptad
