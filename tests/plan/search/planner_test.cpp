// The planner keeps its word: limits, accuracy, forced levels, refusals, the same plan for the same question.
#include "plan/search/planner.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "algorithm/catalogue.hpp"
#include "plan/predict/error_bound.hpp"
#include "plan/search/level_layout.hpp"

namespace heptad {
namespace {

/// A machine where every level pays: leaves are slow at any size, passes are nearly free.
Machine slow_leaves() {
    Machine machine;
    machine.combine_bytes_per_s = 1e13;
    machine.scan_bytes_per_s = 1e13;
    machine.call_s = 1e-9;
    for (const Type type : {Type::f32, Type::f64, Type::i32, Type::gf2}) {
        LeafProfile profile{"heptad", type, 1, {}};
        for (const std::int64_t n : {16, 256, 4096}) {
            const auto size = static_cast<double>(n);
            profile.samples.push_back({n, n, n, 2e-9 * size * size * size});
        }
        machine.leaves.push_back(profile);
    }
    return machine;
}

Problem problem(std::int64_t m, std::int64_t k, std::int64_t n, Type type = Type::f32) {
    Problem result;
    result.m = m;
    result.k = k;
    result.n = n;
    result.type = type;
    return result;
}

std::int64_t size(std::mt19937& random, int most) {
    return std::uniform_int_distribution<int>(1, most)(random);
}

Error error_of(const Problem& x) {
    try {
        make_plan(x, slow_leaves());
    } catch (const Error& error) {
        return error;
    }
    return {ErrorCode::internal, "accepted"};
}

TEST(planner, takes_levels_where_they_pay_and_none_where_they_do_not) {
    EXPECT_FALSE(make_plan(problem(1024, 1024, 1024), slow_leaves()).levels.empty());
    EXPECT_TRUE(make_plan(problem(64, 64, 64), slow_leaves()).levels.empty());
    Machine slow_passes = slow_leaves();
    slow_passes.combine_bytes_per_s = 1e3;
    EXPECT_TRUE(make_plan(problem(1024, 1024, 1024), slow_passes).levels.empty());
}

TEST(planner, is_never_predicted_slower_than_the_classical_product) {
    std::mt19937 random(1);
    for (int i = 0; i < 60; ++i) {
        const Problem x = problem(size(random, 3000), size(random, 3000), size(random, 3000));
        const ProductPlan plan = make_plan(x, slow_leaves());
        EXPECT_LE(plan.predicted_s, plan_with_levels(x, slow_leaves(), {}).predicted_s) << to_string(plan);
    }
}

TEST(planner, answers_the_same_question_the_same_way) {
    for (const std::int64_t n : {100, 700, 1000, 2000}) {
        Problem x = problem(n, n + 1, n + 2);
        x.options.accuracy = Accuracy::fast;
        EXPECT_EQ(make_plan(x, slow_leaves()), make_plan(x, slow_leaves()));
    }
}

// An exhaustive search would not come back from this one.
TEST(planner, large_problems_get_levels_within_their_limit) {
    for (const std::int64_t limit : {std::numeric_limits<std::int64_t>::max(), std::int64_t{1} << 26}) {
        for (const std::int64_t n : {1000, 8192, 40000}) {
            Problem x = problem(n, n, n);
            x.options.accuracy = Accuracy::fast;
            x.options.workspace_limit_bytes = limit;
            const ProductPlan plan = make_plan(x, slow_leaves());
            EXPECT_LE(plan.workspace_bytes, limit);
            EXPECT_TRUE(!plan.levels.empty() || limit <= n * n) << n << " limit " << limit;
        }
    }
}

TEST(planner, strict_floats_have_no_levels_even_if_forced) {
    for (const int levels : {-1, 0, 1, 3}) {
        Problem x = problem(2048, 2048, 2048);
        x.options.accuracy = Accuracy::strict;
        x.options.levels = levels;
        EXPECT_TRUE(make_plan(x, slow_leaves()).levels.empty()) << levels;
    }
    Problem exact = problem(2048, 2048, 2048, Type::i32);
    exact.options.accuracy = Accuracy::strict;
    EXPECT_FALSE(make_plan(exact, slow_leaves()).levels.empty());
}

TEST(planner, balanced_limits_the_expected_growth_and_fast_does_not) {
    for (const std::int64_t n : {1000, 4000, 16000}) {
        Problem x = problem(n, n, n);
        EXPECT_LE(expected_growth(make_plan(x, slow_leaves()).levels), PlannerLimits{}.balanced_growth);
        x.options.accuracy = Accuracy::fast;
        EXPECT_GE(make_plan(x, slow_leaves()).levels.size(), n > 1000 ? 3U : 1U);
    }
}

TEST(planner, forced_levels_are_taken_as_far_as_the_sizes_go) {
    for (int levels = 0; levels <= 6; ++levels) {
        for (const std::int64_t n : {1, 2, 3, 7, 8, 15, 16, 33, 100}) {
            Problem x = problem(n, n, n);
            x.options.levels = levels;
            const ProductPlan plan = make_plan(x, slow_leaves());
            std::size_t possible = 0;
            while (static_cast<int>(possible) < levels && (std::int64_t{2} << possible) <= n) {
                ++possible;
            }
            EXPECT_EQ(plan.levels.size(), possible) << n << " " << levels;
            EXPECT_NO_THROW(check_plan(plan));
        }
    }
}

TEST(planner, types_without_sums_have_no_levels) {
    for (const Type type : {Type::tf32, Type::bf16, Type::f16, Type::boolean}) {
        Problem x = problem(2048, 2048, 2048, type);
        EXPECT_TRUE(make_plan(x, slow_leaves()).levels.empty());
        x.options.levels = 2;
        EXPECT_TRUE(make_plan(x, slow_leaves()).levels.empty());
    }
    Problem x = problem(64, 64, 64, Type::boolean);
    x.options.algorithm = "classical";
    EXPECT_TRUE(make_plan(x, slow_leaves()).levels.empty());
}

TEST(planner, the_workspace_limit_is_respected_down_to_zero) {
    for (const int levels : {-1, 2, 4}) {
        for (const char* mode : {"auto", "serial", "parallel"}) {
            for (const bool accumulate : {false, true}) {
                Problem x = problem(700, 801, 902);
                x.options.levels = levels;
                x.options.mode = mode;
                x.options.accumulate = accumulate;
                x.options.accuracy = Accuracy::fast;
                for (std::int64_t limit = std::int64_t{1} << 28; limit > 0; limit /= 3) {
                    x.options.workspace_limit_bytes = limit;
                    ASSERT_LE(make_plan(x, slow_leaves()).workspace_bytes, limit) << levels << mode;
                }
                x.options.workspace_limit_bytes = 0;
                const ProductPlan none = make_plan(x, slow_leaves());
                EXPECT_TRUE(none.levels.empty());
                EXPECT_EQ(none.workspace_bytes, 0);
            }
        }
    }
}

TEST(planner, the_low_memory_winograd_plan_needs_a_third_of_the_operands) {
    std::mt19937 random(2);
    for (int i = 0; i < 400; ++i) {
        Problem x =
            problem(size(random, 1000), size(random, 1000), size(random, 1000), i % 2 == 0 ? Type::f32 : Type::f64);
        x.options.algorithm = "winograd";
        x.options.mode = "serial";
        x.options.levels = 1 + static_cast<int>(random() % 5);
        x.options.accumulate = false;
        const ProductPlan plan = make_plan(x, slow_leaves());
        const auto elements = x.m * x.k + x.k * x.n + x.m * x.n;
        // Each temporary may be rounded up to the alignment.
        const auto rounding = static_cast<std::int64_t>(plan.levels.size()) * 3 * kWorkspaceAlignment;
        EXPECT_LE(plan.workspace_bytes, elements * static_cast<std::int64_t>(element_bytes(x.type)) / 3 + rounding)
            << to_string(plan);
        x.options.accumulate = true;
        const ProductPlan adds = make_plan(x, slow_leaves());
        EXPECT_LE(adds.workspace_bytes, elements * static_cast<std::int64_t>(element_bytes(x.type)) / 3 + rounding)
            << to_string(adds);
    }
}

TEST(planner, sizes_beyond_64_bits_are_refused) {
    constexpr std::int64_t huge = std::int64_t{1} << 62;
    for (const Problem& x : {problem(huge, huge, huge), problem(huge, 2, 1), problem(1, huge, 1), problem(2, 1, huge),
                             problem(std::int64_t{1} << 31, 1, std::int64_t{1} << 32)}) {
        EXPECT_EQ(error_of(x).code(), ErrorCode::input) << to_string(x);
    }
    EXPECT_EQ(error_of(problem(-1, 2, 3)).code(), ErrorCode::usage);
    // The largest that can be addressed are planned.
    EXPECT_NO_THROW(
        make_plan(problem(std::int64_t{1} << 28, std::int64_t{1} << 28, std::int64_t{1} << 28), slow_leaves()));
}

TEST(planner, empty_problems_have_plans) {
    for (const auto& [m, k, n] : {std::tuple{0, 0, 0}, {0, 5, 5}, {5, 0, 5}, {5, 5, 0}, {1, 1, 1}}) {
        for (const int levels : {-1, 0, 3}) {
            Problem x = problem(m, k, n);
            x.options.levels = levels;
            const ProductPlan plan = make_plan(x, slow_leaves());
            EXPECT_TRUE(plan.levels.empty());
            EXPECT_NO_THROW(check_plan(plan));
            EXPECT_TRUE(std::isfinite(plan.predicted_s));
        }
    }
}

TEST(planner, words_it_does_not_know_are_refused_with_what_there_is) {
    Problem x = problem(64, 64, 64);
    x.options.algorithm = "abacus";
    EXPECT_EQ(error_of(x).code(), ErrorCode::usage);
    EXPECT_NE(std::string(error_of(x).what()).find("abacus"), std::string::npos);
    EXPECT_NE(std::string(error_of(x).what()).find("strassen"), std::string::npos);
    x = problem(64, 64, 64);
    x.options.mode = "sideways";
    EXPECT_EQ(error_of(x).code(), ErrorCode::usage);
    EXPECT_NE(std::string(error_of(x).what()).find("parallel"), std::string::npos);
    for (const int levels : {-2, 21, 1000}) {
        x = problem(64, 64, 64);
        x.options.levels = levels;
        EXPECT_EQ(error_of(x).code(), ErrorCode::usage) << levels;
    }
}

TEST(planner, an_algorithm_is_refused_for_a_type_that_its_ring_does_not_admit) {
    int refused = 0;
    for (const std::string& name : algorithm_names(false)) {
        for (const Type type : {Type::f32, Type::i32, Type::gf2, Type::boolean}) {
            Problem x = problem(64, 64, 64, type);
            x.options.algorithm = name;
            x.options.levels = 1;
            const bool admitted = algorithm_admits(find_algorithm(name).algorithm, type);
            EXPECT_EQ(error_of(x).code() == ErrorCode::usage, !admitted) << name << " " << type_name(type);
            refused += admitted ? 0 : 1;
        }
    }
    EXPECT_GT(refused, 10);
}

TEST(planner, levels_that_take_longer_than_their_parts_are_predicted_so_and_taken_less) {
    Machine machine = slow_leaves();
    const Problem asked = problem(1024, 1024, 1024);
    const std::vector<LevelPlan> one{{"winograd", LevelMode::parallel, ""}};
    const double before = plan_with_levels(asked, machine, one).predicted_s;
    const double classical = plan_with_levels(asked, machine, {}).predicted_s;
    const auto row = [&](Type type, const std::vector<std::string>& levels, double ratio) {
        return MeasuredPlan{type, 1024, 1024, 1024, {levels, "heptad"}, 2, 0, 5, 2 / ratio};
    };
    machine.measured_plans = {row(Type::f64, {"winograd"}, 2), row(asked.type, {"winograd"}, 3),
                              row(asked.type, {"winograd", "winograd"}, 3)};
    EXPECT_NEAR(plan_with_levels(asked, machine, one).predicted_s, 3 * before, 0.01 * before);
    EXPECT_EQ(plan_with_levels(asked, machine, {}).predicted_s, classical);
    EXPECT_TRUE(make_plan(asked, machine).levels.empty());
}

TEST(planner, cuts_other_than_halves_are_known_to_leave_odd_blocks) {
    const Machine machine = slow_leaves();
    const Problem asked = problem(1152, 1152, 1152);
    const double classical_s = plan_with_levels(asked, machine, {}).predicted_s;
    const LevelPlan halves{"winograd", LevelMode::parallel, ""}, thirds{"3x3x3-23", LevelMode::parallel, ""};
    const auto expect = [&](const std::vector<LevelPlan>& levels, double share_of_products, double factor) {
        EXPECT_NEAR(plan_with_levels(asked, machine, levels).predicted_s / (share_of_products * classical_s), factor,
                    0.01);
    };
    expect({halves, halves}, 49.0 / 64, 1);
    expect({thirds}, 23.0 / 27, 1.12);
    expect({halves, thirds}, 7.0 / 8 * 23 / 27, 1.12);
}

}  // namespace
}  // namespace heptad
