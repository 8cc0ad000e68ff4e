// Levels inside plans by residues on a device: every algorithm over Z that the kernels have room for, alone and mixed,
// and a sentence for each of the others.
#include "plan/search/residue_levels.hpp"

#include <gtest/gtest.h>

#include <set>

#include "algorithm/catalogue.hpp"
#include "base/error.hpp"
#include "plan/model/normalize_plan.hpp"
#include "plan/predict/error_bound.hpp"
#include "plan/search/device_residue_plan.hpp"
#include "plan/search/planner.hpp"

namespace heptad {
namespace {

Problem problem(std::int64_t m, std::int64_t k, std::int64_t n, Type type = Type::f32) {
    Problem asked{m, k, n, type, 1, {}};
    asked.options.device = "cuda";
    asked.options.leaf = kResidueLeaf;
    return asked;
}

std::string refusal(const std::vector<std::string>& algorithms) {
    std::vector<LevelPlan> levels;
    for (const std::string& name : algorithms) {
        levels.push_back({name, LevelMode::parallel, ""});
    }
    return residue_levels_refusal(levels);
}

TEST(residue_levels, every_algorithm_over_the_integers_makes_a_plan_that_prints_and_parses) {
    std::set<std::string> refused;
    for (const std::string& name : algorithm_names(true)) {
        const CatalogueEntry& entry = find_algorithm(name);
        if (!refusal({name}).empty()) {
            EXPECT_NE(entry.algorithm.ring, Ring::integers) << name;
            refused.insert(ring_name(entry.algorithm.ring));
            continue;
        }
        for (const Type type : {Type::f32, Type::f64, Type::i64, Type::c64}) {
            Problem asked = problem(3000, 2500, 2000, type);
            asked.options.algorithm = name;
            asked.options.levels = 1;
            const ProductPlan plan = make_plan(asked, Machine{}, device_limits());
            ASSERT_TRUE(is_by_residues(plan)) << name;
            ASSERT_EQ(plan.levels.size(), 1U);
            EXPECT_EQ(plan.levels.front().algorithm, name);
            EXPECT_EQ(parse_plan(to_string(plan)), plan);
            EXPECT_NO_THROW(check_plan(plan)) << to_string(plan);
            Problem without = asked;
            without.options.levels = 0;
            EXPECT_EQ(plan.error_bound, make_plan(without, Machine{}, device_limits()).error_bound) << name;
        }
    }
    EXPECT_EQ(refused, (std::set<std::string>{"GF(2)", "Z[1/2]"}));
}

TEST(residue_levels, only_those_in_the_kernels_need_no_planes_beside) {
    const auto layout = [](const std::string& name, Type type) {
        return device_residue_layout(
            plan_with_shape(problem(4096, 4096, 4096, type), Machine{}, {{name}, kResidueLeaf}));
    };
    const DeviceResidueLayout winograd = layout("winograd", Type::f32), strassen = layout("strassen", Type::f32);
    EXPECT_EQ(winograd.whole_c, 0);
    EXPECT_EQ(strassen.whole_c, std::int64_t{9} * 4096 * 4096);
    EXPECT_EQ(strassen.a, winograd.a);
    EXPECT_EQ(strassen.c, winograd.c);
    EXPECT_EQ(layout("winograd", Type::c64).whole_c, 3 * strassen.whole_c);
}

TEST(residue_levels, mixed_ones_are_plans_too) {
    const ProductPlan plan =
        plan_with_shape(problem(5000, 4000, 7001), Machine{}, {{"strassen", "3x2x3-15"}, kResidueLeaf});
    ASSERT_TRUE(is_by_residues(plan));
    const ResidueLevels levels = residue_levels(plan);
    EXPECT_EQ(levels.blocks, (BlockGrid{6, 4, 6}));
    EXPECT_EQ(levels.products, 105);
    EXPECT_FALSE(levels.in_kernels);
    EXPECT_EQ(parse_plan(to_string(plan)), plan);
    EXPECT_NO_THROW(check_plan(plan));
    EXPECT_EQ(residue_level_terms(plan.levels).products.size(), 105U);
}

TEST(residue_levels, what_the_kernels_have_no_room_for_is_refused_with_a_sentence) {
    EXPECT_EQ(refusal({}), "");
    EXPECT_NE(refusal({"winograd", "winograd", "winograd"}).find("up to 2 levels"), std::string::npos);
    EXPECT_NE(refusal({"2x2x2-7-accurate"}).find("2x2x2-7-accurate is over Z[1/2]"), std::string::npos);
    EXPECT_NE(refusal({"4x4x4-47-gf2"}).find("over GF(2)"), std::string::npos);
    EXPECT_NE(refusal({"3x3x3-23", "3x3x3-23"}).find("up to 384 products"), std::string::npos);
    EXPECT_NE(residue_levels_refusal({{"winograd", LevelMode::serial, ""}}).find("mode"), std::string::npos);
    for (const char* name : {"3x3x3-23", "2x2x2-7-accurate"}) {
        Problem asked = problem(4096, 4096, 4096);
        asked.options.algorithm = name;
        asked.options.levels = 2;
        EXPECT_THROW(make_plan(asked, Machine{}, device_limits()), Error) << name;
        ProductPlan plan = plan_with_shape(problem(4096, 4096, 4096), Machine{}, {{"winograd"}, kResidueLeaf});
        plan.levels.assign(2, {name, LevelMode::parallel, ""});
        EXPECT_THROW(check_plan(plan), Error) << name;
    }
}

TEST(residue_levels, as_many_of_a_named_algorithm_as_there_can_be_are_left_to_choose) {
    Options options;
    EXPECT_EQ(most_levels_inside_residues(options), 2);
    options.algorithm = "3x3x3-23";
    EXPECT_EQ(most_levels_inside_residues(options), 1);
    options.algorithm = "2x2x2-7-accurate";
    EXPECT_THROW(most_levels_inside_residues(options), Error);
    options.levels = 0;
    EXPECT_EQ(most_levels_inside_residues(options), 0);
}

TEST(residue_levels, fewer_rows_than_blocks_are_left_to_others) {
    for (const auto& [m, k, n] : {std::tuple{2, 100, 100}, {100, 2, 100}, {100, 100, 2}}) {
        Problem asked = problem(m, k, n);
        asked.options.algorithm = "3x3x3-23";
        asked.options.levels = 1;
        EXPECT_FALSE(is_by_residues(make_plan(asked, Machine{}, device_limits())));
    }
}

}  // namespace
}  // namespace heptad
