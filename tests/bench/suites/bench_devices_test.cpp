// heptad bench devices over cores.
#include <algorithm>

#include "cli/heptad_process.hpp"

namespace heptad::testing {
namespace {

using BenchDevices = HeptadProcess;

TEST_F(BenchDevices, compares_with_the_same_cores_as_threads) {
    const Outcome outcome = heptad({"bench", "devices", "--types", "f32,i32,gf2,bool", "--sizes", "130,64x96x80",
                                    "--device", "cpu:2", "--rounds", "1", "--json", "result.json"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const nlohmann::json file = nlohmann::json::parse(read("result.json"), nullptr, false);
    ASSERT_EQ(file["results"].size(), 8U);
    for (const nlohmann::json& record : file["results"]) {
        EXPECT_EQ(record["suite"], "devices");
        EXPECT_EQ(record["device"], "cpu:2");
        EXPECT_EQ(record["vendor"], "threads");
        EXPECT_GT(record["heptad_s"].get<double>(), 0);
        EXPECT_NE(record["plan"].get<std::string>().find(" host={devices=cpu:2;"), std::string::npos);
        const bool packed = record["type"] == "gf2" || record["type"] == "bool";
        ASSERT_EQ(record.contains("shares"), packed);
        if (packed) {
            const nlohmann::json& shares = record["shares"];
            const double bound_s = std::max({shares["products_s"].get<double>(), shares["link_s"].get<double>(),
                                             shares["host_memory_s"].get<double>()});
            EXPECT_GT(bound_s, 0);
            EXPECT_DOUBLE_EQ(shares["wall_over_bound"].get<double>(), record["heptad_s"].get<double>() / bound_s);
            EXPECT_NE(outcome.out.find(record["variant"].get<std::string>()), std::string::npos);
        }
    }
    heptad_fails(2, {"bench", "devices", "--device", "cpu:x"});
}

}  // namespace
}  // namespace heptad::testing
