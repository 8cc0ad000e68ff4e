// heptad plan --machine c1060: counts of the paper's GPU beside the plan, in text and JSON, and what is refused.
#include "cli/heptad_process.hpp"

namespace heptad::testing {
namespace {

using PlanC1060 = HeptadProcess;

std::vector<std::string> plan_words(const std::string& n, const std::vector<std::string>& more) {
    std::vector<std::string> words{"plan", n, n, n, "--machine", "c1060"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

TEST_F(PlanC1060, text_shows_the_plan_and_its_counts_beside_gpu8) {
    const std::string text = heptad_ok(plan_words("16384", {"--algorithm", "strassen", "--levels", "2"}));
    EXPECT_NE(text.find("\nplan 16384x16384x16384 f32"), std::string::npos) << text;
    for (const char* part :
         {"strassen:serial:p0-figure-8,strassen:serial:p0-figure-4", "leaf=gpu8", "# workspace", "# predicted time",
          "# error bound", "# arithmetics", "# transactions", "# volume_bytes", "833/262144 n^3 + 347/256 n^2"}) {
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    }
}

TEST_F(PlanC1060, json_has_exact_counts_and_their_ratio_to_gpu8) {
    const nlohmann::json one = heptad_json(plan_words("4096", {"--algorithm", "winograd", "--levels", "1"}));
    // Figure 6 at n = 4096 = 2^12.
    const std::int64_t square = std::int64_t{1} << 24, cube = std::int64_t{1} << 36;
    EXPECT_EQ(one["machine"], "c1060");
    EXPECT_EQ(one["levels"], 1);
    EXPECT_EQ(one["operand_bytes"], 12 * square);
    EXPECT_EQ(one["counts"]["arithmetics"], 7 * cube / 4 + 2 * square);
    EXPECT_EQ(one["counts"]["transactions"], 119 * (cube / 32768) + 29 * square / 64);
    EXPECT_EQ(one["counts"]["volume_bytes"], 63 * (cube / 256) + 41 * square);
    EXPECT_EQ(one["counts_gpu8"]["arithmetics"], 2 * cube - square);
    EXPECT_EQ(one["counts_gpu8"]["transactions"], 17 * (cube / 4096) + square / 16);
    EXPECT_EQ(one["counts_gpu8"]["volume_bytes"], 9 * (cube / 32) + 4 * square);
    EXPECT_NEAR(one["ratio_to_gpu8"]["transactions"].get<double>(), 1 - 0.102, 0.0005);  // figure 7
    EXPECT_NEAR(one["ratio_to_gpu8"]["volume_bytes"].get<double>(), 1 - 0.093, 0.0005);
    EXPECT_EQ(one["formulas"]["volume_bytes"], "63/256 n^3 + 41 n^2");
}

TEST_F(PlanC1060, thresholds_and_levels_say_the_same) {
    const nlohmann::json levels = heptad_json(plan_words("16384", {"--algorithm", "winograd", "--levels", "3"}));
    EXPECT_EQ(heptad_json(plan_words("16384", {"--algorithm", "winograd", "--tau1", "2048", "--tau2", "4096"})),
              levels);
    const nlohmann::json none = heptad_json(plan_words("2048", {"--algorithm", "winograd", "--levels", "0"}));
    EXPECT_EQ(heptad_json(plan_words("2048", {"--algorithm", "winograd", "--tau1", "2048", "--tau2", "4096"})), none);
    EXPECT_EQ(none["counts"], none["counts_gpu8"]);
    EXPECT_EQ(heptad_json(plan_words("2048", {"--algorithm", "winograd", "--levels", "0", "--leaf", "gpu8"})), none);
}

TEST_F(PlanC1060, machine_auto_is_the_plan_for_this_one) {
    EXPECT_EQ(heptad_ok({"plan", "64", "64", "64", "--machine", "auto"}), heptad_ok({"plan", "64", "64", "64"}));
}

TEST_F(PlanC1060, what_cannot_be_counted_exits_2) {
    const std::vector<std::string> asked{"--algorithm", "strassen", "--levels", "1"};
    heptad_fails(2, {"plan", "4096", "4096", "2048", "--machine", "c1060", "--algorithm", "strassen", "--levels", "1"});
    EXPECT_NE(heptad_fails(2, plan_words("4095", asked)).find("power of two"), std::string::npos);
    EXPECT_NE(heptad_fails(2, {"plan", "64", "64", "64", "--machine", "abacus"}).find("'abacus'"), std::string::npos);
    const std::vector<std::vector<std::string>> refused{
        {},
        {"--algorithm", "strassen"},
        {"--levels", "1"},
        {"--algorithm", "strassen", "--levels", "auto"},
        {"--algorithm", "2x2x3-11", "--levels", "1"},
        {"--algorithm", "strassen", "--levels", "9"},
        {"--algorithm", "strassen", "--tau1", "1024"},
        {"--algorithm", "strassen", "--tau1", "2048", "--tau2", "1024"},
        {"--algorithm", "strassen", "--tau1", "x", "--tau2", "1024"},
        {"--algorithm", "strassen", "--levels", "1", "--tau1", "1024", "--tau2", "2048"},
        {"--algorithm", "strassen", "--levels", "1", "--type", "f64"},
        {"--algorithm", "strassen", "--levels", "1", "--threads", "2"},
        {"--algorithm", "strassen", "--levels", "1", "--leaf", "openblas"},
    };
    for (const auto& more : refused) {
        std::string typed;
        for (const std::string& word : more) {
            typed += word + " ";
        }
        SCOPED_TRACE(typed);
        heptad_fails(2, plan_words("4096", more));
    }
    heptad_fails(2, {"plan", "64", "64", "64", "--machine", "c1060", "--algorithm", "strassen", "--levels", "1",
                     "--transpose-a"});
    heptad_fails(2, {"plan", "64", "64", "64", "--tau1", "32", "--tau2", "64"});
    heptad_fails(2, {"mul", "A.npy", "B.npy", "-o", "C.npy", "--machine", "c1060"});
}

}  // namespace
}  // namespace heptad::testing
