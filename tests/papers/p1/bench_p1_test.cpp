// heptad bench p1, where there is an NVIDIA device, and where there is none.
#include "cli/device_process.hpp"

namespace heptad::testing {
namespace {

TEST_F(Device, bench_p1_writes_a_record_per_variant_or_exits_4) {
    EXPECT_TRUE(contains(heptad_ok({"bench", "p1", "--help"}), "--levels"));
    EXPECT_TRUE(contains(heptad_fails(2, {"bench", "p1", "--sizes", "100"}), "multiples of 32"));
    EXPECT_TRUE(contains(heptad_fails(2, {"bench", "p1", "--types", "bf16"}), "bf16"));
    EXPECT_TRUE(contains(heptad_fails(2, {"bench", "p1", "--levels", "0"}), "0"));
    const std::vector<std::string> words{"bench", "p1", "--sizes", "256", "--levels", "1,2", "--json", "result.json"};
    if (!available_) {
        expect_refused(words);
        return;
    }
    const Outcome outcome = heptad(words);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const nlohmann::json file = nlohmann::json::parse(read("result.json"), nullptr, false);
    ASSERT_EQ(file["results"].size(), 2U * 11 + 1);
    for (const nlohmann::json& record : file["results"]) {
        EXPECT_EQ(record["suite"], "p1");
        EXPECT_FALSE(record["variant"].get<std::string>().empty());
        EXPECT_GE(record["rounds"].get<int>(), 5);
        EXPECT_GT(record["ratio"].get<double>(), 0);
        EXPECT_LE(record["error"].get<double>(), record["error_bound"].get<double>());
        double sum = 0;
        for (const char* share : {"additions", "products", "copies", "basis_changes", "rest"}) {
            sum += record["shares"][share].get<double>();
        }
        EXPECT_NEAR(sum, 1, 1e-6) << record["variant"];
    }
}

}  // namespace
}  // namespace heptad::testing
