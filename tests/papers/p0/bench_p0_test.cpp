// heptad bench p0, where there is an NVIDIA device, and where there is none.
#include "cli/device_process.hpp"

namespace heptad::testing {
namespace {

TEST_F(Device, bench_p0_writes_a_result_file_or_exits_4) {
    EXPECT_TRUE(contains(heptad_ok({"bench", "--help"}), "p0"));
    const std::vector<std::string> words{"bench", "p0", "--sizes", "256", "--levels", "1,2", "--json", "result.json"};
    if (!available_) {
        expect_refused(words);
        expect_refused({"bench", "p0"});
        expect_refused({"bench", "p0", "--types", "i32", "--tau1", "1024", "--tau2", "2048", "--device", "cuda:1"});
        return;
    }
    const Outcome outcome = heptad(words);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_TRUE(contains(outcome.out, "correlation")) << outcome.out;
    const nlohmann::json file = nlohmann::json::parse(read("result.json"), nullptr, false);
    ASSERT_TRUE(file.is_object());
    EXPECT_EQ(file["machine"]["device"], cuda_["devices"][0]["name"]);
    ASSERT_EQ(file["results"].size(), 8U);  // types, algorithms, levels: two of each
    ASSERT_EQ(file["trends"].size(), 4U);
    for (const nlohmann::json& record : file["results"]) {
        SCOPED_TRACE(record.dump());
        EXPECT_EQ(record["suite"], "p0");
        EXPECT_EQ(record["n"], 256);
        EXPECT_TRUE(contains(record["plan"].get<std::string>(), "p0-figure-")) << record["plan"];
        for (const char* field : {"vendor_s", "heptad_s", "ratio", "effective_tops", "workspace_bytes", "time_ratio",
                                  "arithmetics", "transactions", "volume_bytes"}) {
            EXPECT_GT(record[field].get<double>(), 0) << field;
        }
        EXPECT_LT(record["arithmetics_ratio"].get<double>(), 1);
        EXPECT_LE(record["error"].get<double>(), record["error_bound"].get<double>());
        const bool is_float = record["type"] == "f32";
        EXPECT_EQ(record["vendor"] == "cublas", is_float);
        EXPECT_EQ(record["errors"].size(), is_float ? 3U : 0U);
        for (const nlohmann::json& errors : record["errors"]) {
            EXPECT_GT(errors["mean_error"].get<double>(), 0);
            EXPECT_LE(errors["mean_error"].get<double>(), errors["max_error"].get<double>());
            EXPECT_LE(errors["vendor_mean_error"].get<double>(), errors["vendor_max_error"].get<double>());
        }
        if (!is_float) {
            EXPECT_EQ(record["error"], 0);
        }
    }
}

TEST_F(Device, bench_p0_refuses_what_the_paper_does_not_count) {
    const std::vector<std::vector<std::string>> wrong{{"--sizes", "100"},
                                                      {"--sizes", "64", "--levels", "3"},
                                                      {"--levels", "1", "--tau1", "8", "--tau2", "16"},
                                                      {"--tau1", "512"},
                                                      {"--types", "f64"},
                                                      {"--algorithms", "classical"},
                                                      {"--data", "normal"},
                                                      {"--leaf", "openblas"},
                                                      {"--leaf", "cublas-int8"},
                                                      {"--tau1", "8", "--tau2", "4"}};
    for (const auto& choice : wrong) {
        std::vector<std::string> words{"bench", "p0"};
        words.insert(words.end(), choice.begin(), choice.end());
        EXPECT_FALSE(heptad_fails(2, words).empty()) << choice[0] << " " << choice[1];
    }
}

}  // namespace
}  // namespace heptad::testing
