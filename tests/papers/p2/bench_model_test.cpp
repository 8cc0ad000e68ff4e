// The cases of `heptad bench model` and what it says of its predictions.
#include <gtest/gtest.h>

#include <algorithm>

#include "papers/p2/bench_model_cases.hpp"
#include "papers/p2/bench_model_summary.hpp"

namespace heptad::cli {
namespace {

BenchRecord record(std::int64_t n, const char* variant, double predicted_s, double measured_s) {
    BenchRecord result;
    result.size = {n, n, n};
    result.variant = variant;
    result.predicted_s = predicted_s;
    result.heptad_s = measured_s;
    return result;
}

TEST(model_summary, counts_close_predictions_of_large_products_only) {
    const ModelSummary summary = summarise_model({record(1024, "cublas", 5, 1), record(2048, "cublas", 1.14, 1),
                                                  record(4096, "cublas", 0.84, 1), record(8192, "cublas", 1, 1)});
    EXPECT_EQ(summary.predictions, 3);
    EXPECT_EQ(summary.predictions_close, 2);
    EXPECT_NEAR(summary.worst, 0.16, 1e-9);
    EXPECT_NE(summary.worst_case.find("4096"), std::string::npos);
}

TEST(model_summary, a_choice_is_good_if_it_is_nearly_the_fastest_measured) {
    const ModelSummary summary = summarise_model({
        record(2048, "cublas", 1, 1.00),
        record(2048, "fused-1 persistent", 0.9, 1.02),  // predicted to win, loses by 2 %
        record(4096, "cublas", 1, 1.00), record(4096, "fused-1 persistent", 0.9, 1.05),  // by 5 %
    });
    EXPECT_EQ(summary.choices, 2);
    EXPECT_EQ(summary.choices_good, 1);
}

TEST(model_summary, what_is_not_reproducible_is_neither_chosen_nor_a_measure) {
    const ModelSummary summary =
        summarise_model({record(2048, "cublas", 1, 1), record(2048, "fused-1 atomic", 0.5, 0.5)});
    EXPECT_EQ(summary.choices_good, 1);
    EXPECT_NE(to_string(summary).find("1 of 1 shapes"), std::string::npos) << to_string(summary);
}

TEST(model_cases, a_machine_without_fused_kernels_has_other_levels_only) {
    for (const ModelVariant& variant : model_variants({4096, 4096, 4096}, Type::f32, Machine{}, true)) {
        EXPECT_TRUE(variant.levels.empty() || variant.levels.back().mode == LevelMode::parallel) << variant.name;
    }
}

TEST(model_cases, every_order_and_tile_and_hybrid_is_there_where_blocks_are_large_enough) {
    Machine machine;
    FusedProfile profile;
    profile.flops_per_s = 1e12;
    machine.fused = {profile};
    const auto names_at = [&](std::int64_t n) {
        std::vector<std::string> names;
        for (const ModelVariant& variant : model_variants({n, n, n}, Type::f32, machine, true)) {
            names.push_back(variant.name);
        }
        return names;
    };
    const std::vector<std::string> large = names_at(8192);
    for (const char* name :
         {"cublas", "fused-1 serial", "fused-1 two-streams", "fused-1 atomic", "fused-1 batched", "fused-1 persistent",
          "fused-1 persistent huge", "fused-2 direct", "hybrid-2 persistent", "hybrid-3 persistent", "parallel-2"}) {
        EXPECT_NE(std::find(large.begin(), large.end(), name), large.end()) << name;
    }
    EXPECT_EQ(large.front(), "cublas");
    const std::vector<std::string> small = names_at(768);
    EXPECT_NE(std::find(small.begin(), small.end(), "fused-1 persistent"), small.end());
    EXPECT_EQ(std::find(small.begin(), small.end(), "hybrid-2 persistent"), small.end());
}

TEST(model_cases, shapes_are_those_of_the_suite) {
    const std::vector<ProblemSize> shapes = model_shapes();
    EXPECT_GE(shapes.size(), 12U);
    EXPECT_TRUE(std::any_of(shapes.begin(), shapes.end(),
                            [](const ProblemSize& s) { return s.m == 16384 && s.k == 2048 && s.n == 16384; }));
    EXPECT_TRUE(std::any_of(shapes.begin(), shapes.end(),
                            [](const ProblemSize& s) { return s.m == 4096 && s.k == 16384 && s.n == 4096; }));
}

}  // namespace
}  // namespace heptad::cli
