// heptad bench gpu, where there is an NVIDIA device, and where there is none.
#include "cli/device_process.hpp"

namespace heptad::testing {
namespace {

TEST_F(Device, bench_writes_a_result_file_or_exits_4) {
    EXPECT_TRUE(contains(heptad_ok({"bench", "--help"}), "gpu"));
    EXPECT_TRUE(contains(heptad_ok({"bench", "gpu", "--help"}), "--shapes"));
    const std::vector<std::string> words{"bench", "gpu", "--types", "f32", "--sizes", "256", "--json", "result.json"};
    if (!available_) {
        expect_refused(words);
        expect_refused({"bench", "gpu", "--quick", "--device", "cuda:1", "--rounds", "3"});
        return;
    }
    const Outcome outcome = heptad(words);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_TRUE(contains(outcome.out, " ratio error x ")) << outcome.out;
    const nlohmann::json file = nlohmann::json::parse(read("result.json"), nullptr, false);
    ASSERT_TRUE(file.is_object());
    for (const char* field : {"cpu", "cores", "device", "driver", "cuda", "cublas", "commit", "command", "date"}) {
        EXPECT_TRUE(file["machine"].contains(field)) << field;
    }
    ASSERT_EQ(file["results"].size(), 1U);
    const nlohmann::json& record = file["results"][0];
    EXPECT_EQ(record["suite"], "gpu");
    EXPECT_EQ(record["type"], "f32");
    EXPECT_EQ(record["vendor"], "cublas");
    EXPECT_EQ(record["device"], cuda_["devices"][0]["name"]);
    EXPECT_EQ(record["m"], 256);
    for (const char* field : {"vendor_s", "vendor_min_s", "heptad_s", "heptad_min_s", "ratio", "effective_tops",
                              "error", "vendor_error", "error_ratio"}) {
        EXPECT_GT(record[field].get<double>(), 0) << field;
    }
    EXPECT_LE(record["heptad_min_s"].get<double>(), record["heptad_s"].get<double>());
    EXPECT_LE(record["heptad_s"].get<double>(), record["heptad_max_s"].get<double>());
    EXPECT_LE(record["error"].get<double>(), record["error_bound"].get<double>());
    EXPECT_FALSE(record["plan"].get<std::string>().empty());
}

/// Both are compared with the definition before anything is printed: a wrong entry of either exits with 5.
TEST_F(Device, integers_of_64_bits_are_compared_with_the_cuda_cores) {
    const std::vector<std::string> words{"bench",   "gpu",      "--types", "i64",    "--sizes",
                                         "256,130", "--shapes", "65x33x7", "--json", "integers.json"};
    if (!available_) {
        expect_refused(words);
        return;
    }
    const Outcome outcome = heptad(words);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const nlohmann::json file = nlohmann::json::parse(read("integers.json"), nullptr, false);
    ASSERT_EQ(file["results"].size(), 3U);
    for (const nlohmann::json& record : file["results"]) {
        EXPECT_EQ(record["vendor"], "heptad-cuda-cores");
        EXPECT_EQ(record["error"], 0);
        EXPECT_EQ(record["vendor_error"], 0);
        EXPECT_GT(record["vendor_s"].get<double>(), 0);
    }
}

}  // namespace
}  // namespace heptad::testing
