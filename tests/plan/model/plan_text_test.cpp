// A plan prints, the print parses back to an equal plan, and a print that was edited by hand is noticed.
#include <gtest/gtest.h>

#include <random>

#include "algorithm/catalogue.hpp"
#include "plan/model/plan.hpp"
#include "plan/search/planner.hpp"

namespace heptad {
namespace {

ProductPlan example(Type type = Type::f32, const std::string& algorithm = "winograd", int levels = 2) {
    Problem x;
    x.m = 101;
    x.k = 102;
    x.n = 103;
    x.type = type;
    x.options.algorithm = algorithm;
    x.options.levels = levels;
    return make_plan(x, Machine{});
}

ErrorCode parse_code(const std::string& text) {
    try {
        check_plan(parse_plan(text));
    } catch (const Error& error) {
        EXPECT_GT(std::string(error.what()).size(), 10U);
        return error.code();
    }
    return ErrorCode::internal;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

TEST(plan_text, prints_parse_back_to_equal_plans) {
    int plans = 0;
    for (const std::string& name : algorithm_names(true)) {
        for (const Type type : {Type::f32, Type::f64, Type::i32, Type::gf2}) {
            if (!algorithm_admits(find_algorithm(name).algorithm, type)) {
                continue;
            }
            for (const int levels : {0, 1, 3}) {
                const ProductPlan plan = example(type, name, levels);
                EXPECT_EQ(parse_plan(to_string(plan)), plan);
                EXPECT_NO_THROW(check_plan(parse_plan(to_string(plan))));
                EXPECT_EQ(to_string(plan).find('\n'), std::string::npos);
                ++plans;
            }
        }
    }
    EXPECT_GT(plans, 300);
}

TEST(plan_text, plans_of_every_placement_print_and_parse_back) {
    ProductPlan plan = example();
    EXPECT_EQ(to_string(plan).find('{'), std::string::npos) << "no other place takes part";
    plan.disk = DiskCut{"strassen", 1, 1 << 30, Kept::b, true, 64, 48, 32, 16, 8, 1, 512, 1, 4096};
    for (const RankCut& rank : {RankCut{6, ClusterAlgorithm::grid, {3, 1, 2}, 4, {}, 0},
                                RankCut{4, ClusterAlgorithm::pegmm, {}, 1, {8, 16, 32}, 0},
                                RankCut{4, ClusterAlgorithm::mod_pegmm, {}, 1, {8, 16, 32}, 0},
                                RankCut{7, ClusterAlgorithm::caps, {}, 1, {}, 1}}) {
        plan.rank = rank;
        EXPECT_EQ(parse_plan(to_string(plan)), plan) << to_string(plan);
    }
    plan.host = HostCut{"cuda:0,1", "winograd", 2, 26, 26, 26, 3, true, 4096};
    for (const TransferCut& transfers :
         {TransferCut{"winograd", 2, 3, 4, {}, {}}, TransferCut{"", 1, 1, 8, {102}, {101}},
          TransferCut{"", 1, 1, 1, {60, 42}, {50, 50, 1}}}) {
        plan.transfers = transfers;
        plan.panels = PanelCut{4096, 256, 128};
        plan.count = plan.padded = true;
        EXPECT_EQ(parse_plan(to_string(plan)), plan) << to_string(plan);
        EXPECT_EQ(to_string(plan).find('\n'), std::string::npos);
    }
    EXPECT_THROW(check_plan(plan), Error) << "not the plan of one whole product";
    const std::string text = to_string(plan);
    for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{{"keep=B", "keep=D"},
                                                                                   {"tile=64x48", "tile=64"},
                                                                                   {"tile=64x48", "tile=64x48x2"},
                                                                                   {"strip=8;", ""},
                                                                                   {"strip=8;", "strip=8;strip=8;"},
                                                                                   {"strip=8;", "strip=8;colour=1;"},
                                                                                   {"rank={", "rank="},
                                                                                   {"algorithm=caps", "algorithm=none"},
                                                                                   {"depths=60+42", "depths=60+-1"},
                                                                                   {"steps=1", "steps=one"}}) {
        EXPECT_EQ(parse_code(replaced(text, from, to)), ErrorCode::input) << from << " -> " << to;
    }
}

TEST(plan_text, old_texts_are_refused_with_the_new_form) {
    for (const auto& [old, shown] : std::vector<std::pair<std::string, std::string>>{
             {"bits gf2 64 64 64 algorithm classical levels 0 leaf gfni 64x64x64 threads 1", "levels=... leaf=..."},
             {"files m=1 k=1 n=1 type=f32", "disk={memory="},
             {"devices cuda:0,1 64x64x64 f32 host=classical d_h=0", "host={devices="},
             {"from-host 64x64x64 f32 by=winograd", "transfers={algorithm="},
             {"cluster 64x64x64 f32 ranks=6 algorithm=grid", "rank={ranks=6"},
             {to_string(example()) + " extended=yes", "padded=yes"}}) {
        try {
            parse_plan(old);
            ADD_FAILURE() << old;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::input);
            EXPECT_NE(std::string(error.what()).find(shown), std::string::npos) << error.what();
        }
    }
}

TEST(plan_text, spaces_and_line_breaks_between_words_do_not_matter) {
    const ProductPlan plan = example();
    std::string text = to_string(plan);
    for (std::size_t at = 0; (at = text.find(' ', at)) != std::string::npos; at += 4) {
        text.replace(at, 1, " \n\t ");
    }
    EXPECT_EQ(parse_plan(text), plan);
}

TEST(plan_text, every_number_that_decides_memory_or_accuracy_is_checked) {
    const ProductPlan plan = example();
    ASSERT_NO_THROW(check_plan(plan));
    const auto refused = [](const ProductPlan& edited) {
        try {
            check_plan(edited);
        } catch (const Error& error) {
            return error.code() == ErrorCode::input;
        }
        return false;
    };
    for (const std::int64_t change : {-1000000, -64, -4, -1, 1, 4, 64, 1000000}) {
        ProductPlan edited = plan;
        edited.core_m += change;
        EXPECT_TRUE(refused(edited)) << "core_m " << change;
        edited = plan;
        edited.core_k += change;
        EXPECT_TRUE(refused(edited)) << "core_k " << change;
        edited = plan;
        edited.core_n += change;
        EXPECT_TRUE(refused(edited)) << "core_n " << change;
        edited = plan;
        edited.workspace_bytes += change;
        EXPECT_TRUE(refused(edited)) << "workspace_bytes " << change;
        edited = plan;
        edited.m += 4 * change;
        EXPECT_TRUE(refused(edited)) << "m " << change;
        edited = plan;
        edited.k += change;
        EXPECT_TRUE(refused(edited)) << "k " << change;
        edited = plan;
        edited.n += 4 * change;
        EXPECT_TRUE(refused(edited)) << "n " << change;
        edited = plan;
        edited.threads = static_cast<int>(-std::abs(change));
        EXPECT_TRUE(refused(edited)) << "threads " << edited.threads;
    }
    ProductPlan edited = plan;
    edited.error_bound /= 2;
    EXPECT_TRUE(refused(edited));
    edited = plan;
    edited.accumulate = !edited.accumulate;
    EXPECT_TRUE(refused(edited));
    edited = plan;
    edited.change_basis = true;
    EXPECT_TRUE(refused(edited));
    edited = plan;
    edited.levels.push_back(edited.levels.back());
    EXPECT_TRUE(refused(edited));
    edited = plan;
    edited.levels.pop_back();
    EXPECT_TRUE(refused(edited));
    edited = plan;
    edited.levels.front().mode = LevelMode::serial;
    edited.levels.front().schedule = "p0-figure-8";  // of strassen
    EXPECT_TRUE(refused(edited));
    edited = plan;
    edited.levels.front().mode = LevelMode::serial;
    edited.levels.front().schedule = "boyer-in-place-overwrite";  // destroys A and B
    EXPECT_TRUE(refused(edited));
    edited = example(Type::i32);
    edited.type = Type::bf16;
    EXPECT_TRUE(refused(edited));
    edited = example(Type::i32);
    edited.levels.front().algorithm = "2x2x2-7-accurate";
    EXPECT_TRUE(refused(edited));
    edited = example(Type::i32);
    edited.levels.assign(100, edited.levels.front());
    EXPECT_TRUE(refused(edited));
}

TEST(plan_text, words_that_cannot_be_meant_are_refused) {
    const std::string text = to_string(example());
    EXPECT_EQ(parse_code(text), ErrorCode::internal);  // that is, accepted
    EXPECT_EQ(parse_code(""), ErrorCode::input);
    EXPECT_EQ(parse_code("plan"), ErrorCode::input);
    EXPECT_EQ(parse_code("plan 1x2 f32"), ErrorCode::input);
    EXPECT_EQ(parse_code(text + " colour=blue"), ErrorCode::input);
    EXPECT_EQ(parse_code(text + " threads=2"), ErrorCode::input);
    EXPECT_EQ(parse_code(replaced(text, " accumulate=no", "")), ErrorCode::input);
    EXPECT_EQ(parse_code(replaced(text, "accumulate=no", "accumulate=maybe")), ErrorCode::input);
    EXPECT_EQ(parse_code(replaced(text, "101x102x103", "101x102x-3")), ErrorCode::input);
    EXPECT_EQ(parse_code(replaced(text, "101x102x103", "101x102x99999999999999999999")), ErrorCode::input);
    EXPECT_EQ(parse_code(replaced(text, "101x102x103", "101x102x103x104")), ErrorCode::input);
    EXPECT_EQ(parse_code(replaced(text, " f32 ", " f33 ")), ErrorCode::usage);
    EXPECT_EQ(parse_code(replaced(text, "winograd:", "abacus:")), ErrorCode::usage);
    EXPECT_EQ(parse_code(replaced(text, "winograd:", "winograd:sideways:")), ErrorCode::input);
    EXPECT_EQ(parse_code(replaced(text, "workspace-bytes=", "workspace-bytes=-")), ErrorCode::input);
    EXPECT_EQ(parse_code(replaced(text, "predicted-s=", "predicted-s=x")), ErrorCode::input);
}

TEST(plan_text, random_edits_never_do_anything_but_parse_or_refuse) {
    std::mt19937 random(1);
    const std::string text = to_string(example());
    int refused = 0;
    for (int i = 0; i < 3000; ++i) {
        std::string edited = text;
        const int edits = 1 + static_cast<int>(random() % 3);
        for (int e = 0; e < edits; ++e) {
            edited[random() % edited.size()] = static_cast<char>(32 + random() % 95);
        }
        try {
            check_plan(parse_plan(edited));
        } catch (const Error&) {
            ++refused;
        }
    }
    EXPECT_GT(refused, 1500);
}

TEST(plan_text, leaf_sizes_divide_the_core) {
    const LeafSize leaf = leaf_size(example());
    EXPECT_EQ(leaf.m, 25);
    EXPECT_EQ(leaf.k, 25);
    EXPECT_EQ(leaf.n, 25);
    EXPECT_EQ(leaf.count, 49);
}

}  // namespace
}  // namespace heptad
