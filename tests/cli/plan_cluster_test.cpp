// heptad plan --nodes: the cluster's plan, its bytes beside the lower bound, P4's terms, and what is refused.
#include "cli/heptad_process.hpp"

namespace heptad::testing {
namespace {

using PlanCluster = HeptadProcess;

std::vector<std::string> plan_words(const std::string& n, const std::string& nodes,
                                    const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"plan", n, n, n, "--nodes", nodes, "--compute", "1T"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

TEST_F(PlanCluster, text_shows_plan_bytes_stages_and_efficiency) {
    const std::string text = heptad_ok(plan_words("8192", "8", {"--network", "10G", "--disk", "2G"}));
    EXPECT_EQ(text.rfind("# expected error: ", 0), 0U) << text;
    EXPECT_EQ(last_line(text).rfind("plan 8192x8192x8192 f32 rank={ranks=8;algorithm=grid;grid=2x2x2;panels=4} ", 0),
              0U)
        << text;
    for (const char* part : {"(0 idle)", "lower bound", "(ratio 1.000)", "multiply   NR", "multiply   MM",
                             "# predicted time", "efficiency"}) {
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    }
}

TEST_F(PlanCluster, json_holds_bytes_within_1_35_of_the_bound_and_the_rates_given) {
    for (const char* nodes : {"4", "6", "8", "9", "12", "16"}) {
        const nlohmann::json object = heptad_json(plan_words("8192", nodes, {"--network", "10G", "--disk", "2G"}));
        EXPECT_LE(object["received_bytes_per_rank"].get<double>(),
                  1.35 * object["lower_bound_bytes_per_rank"].get<double>())
            << nodes;
        EXPECT_EQ(object["idle_ranks"], 0);
        EXPECT_DOUBLE_EQ(object["rates"]["network_bytes_per_s"].get<double>(), 1.25e9);
        EXPECT_DOUBLE_EQ(object["rates"]["operations_per_s"].get<double>(), 1e12);
    }
}

TEST_F(PlanCluster, exact_plans_leave_k_whole_and_promise_one_rounding) {
    const std::vector<std::string> exact{"--accuracy", "exact"};
    const std::string text = heptad_ok(plan_words("8192", "6", exact));
    EXPECT_NE(text.find("expected error: one rounding of the exact product"), std::string::npos) << text;
    EXPECT_EQ(last_line(text).rfind("plan 8192x8192x8192 f32 rank={ranks=6;algorithm=grid;grid=3x1x2;panels=1} ", 0),
              0U)
        << text;
    const nlohmann::json object = heptad_json(plan_words("8192", "8", exact));
    EXPECT_EQ(object["guaranteed_bound"]["norm"], "|AB|_ij") << object;
    const Outcome refused = heptad(plan_words("8192", "8", {"--accuracy", "exact", "--grid", "2x2x2"}));
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_NE(refused.err.find("cuts k"), std::string::npos) << refused.err;
}

TEST_F(PlanCluster, terms_of_both_equations_are_printed) {
    const nlohmann::json two =
        heptad_json(plan_words("32768", "8", {"--algorithm", "pegmm", "--scatter", "--broadcast", "linear"}));
    EXPECT_EQ(two["equation"]["number"], 2);
    EXPECT_EQ(two["equation"]["terms"].size(), 6U);
    const double bytes = 4.0 * 32768 * 32768;
    EXPECT_DOUBLE_EQ(two["equation"]["terms"]["T_bcast(B)"].get<double>(), 7 * bytes / 1.25e9);
    const nlohmann::json three = heptad_json(plan_words("32768", "8", {"--algorithm", "mod-pegmm", "--scatter"}));
    EXPECT_EQ(three["equation"]["number"], 3);
    EXPECT_DOUBLE_EQ(three["equation"]["terms"]["T_scatter(B)"].get<double>(), 7 * bytes / 8 / 1.25e9);
    EXPECT_NE(heptad_ok(plan_words("32768", "8", {"--algorithm", "pegmm", "--scatter"})).find("T_dw(A[id])"),
              std::string::npos);
}

TEST_F(PlanCluster, four_thousand_nodes_and_a_prime_number_of_them_are_planned) {
    const std::string plan = heptad_json(plan_words("262144", "4096"))["plan"];
    EXPECT_EQ(plan.rfind("plan 262144x262144x262144 f32 rank={ranks=4096;algorithm=grid;grid=16x16x16;panels=8} ", 0),
              0U)
        << plan;
    EXPECT_EQ(heptad_json(plan_words("8192", "7", {"--network", "4G"}))["idle_ranks"], 1);
}

TEST_F(PlanCluster, rate_of_a_node_is_that_of_this_machine_unless_given) {
    EXPECT_GT(heptad_json({"plan", "4096", "4096", "4096", "--nodes", "4"})["rates"]["operations_per_s"], 1e8);
}

TEST_F(PlanCluster, what_cannot_be_planned_exits_2_or_4) {
    heptad_fails(2, plan_words("64", "0"));
    heptad_fails(2, plan_words("64", "4097"));
    heptad_fails(2, plan_words("64", "4", {"--grid", "3x1x2"}));
    heptad_fails(2, plan_words("64", "4", {"--grid", "2x2"}));
    heptad_fails(2, plan_words("64", "4", {"--block", "8x8x8"}));
    heptad_fails(2, plan_words("64", "4", {"--algorithm", "pegmm", "--grid", "2x1x2"}));
    heptad_fails(2, plan_words("64", "4", {"--algorithm", "pegmm", "--block", "0x8x8"}));
    heptad_fails(2, plan_words("64", "4", {"--network", "fast"}));
    heptad_fails(2, plan_words("64", "4", {"--broadcast", "loud"}));
    heptad_fails(2, plan_words("64", "4", {"--machine", "auto"}));
    heptad_fails(2, {"plan", "64", "64", "64", "--network", "10G"});
    heptad_fails(2, {"plan", "64", "64", "64", "--algorithm", "pegmm"});
    heptad_fails(4, plan_words("8192", "4", {"--memory", "1M"}));
    heptad_fails(4, plan_words("8192", "4", {"--memory", "1M", "--algorithm", "mod-pegmm"}));
}

}  // namespace
}  // namespace heptad::testing
