// NVIDIA devices on the command line: what `heptad` says where there is one, and where there is none.
#include "cli/heptad_process.hpp"

namespace heptad::testing {
namespace {

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

class Device : public HeptadProcess {
protected:
    void SetUp() override {
        HeptadProcess::SetUp();
        cuda_ = heptad_json({"info"})["cuda"];
        available_ = cuda_["available"].get<bool>();
        write_matrix("A.npy", a_);
        write_matrix("B.npy", b_);
    }
    /// Exit code 4 and the sentence that `heptad info` knows too.
    void expect_refused(const std::vector<std::string>& words) {
        const std::string said = heptad_fails(4, words);
        EXPECT_TRUE(contains(said, cuda_["problem"].get<std::string>())) << said;
        EXPECT_TRUE(contains(said, "device to cpu")) << said;
    }
    const TestMatrix a_ = integers(30, 20, 1), b_ = integers(20, 25, 2);
    nlohmann::json cuda_;
    bool available_ = false;
};

TEST_F(Device, info_tells_the_devices_or_why_there_are_none) {
    for (const char* field :
         {"built", "available", "problem", "driver", "runtime", "cublas", "cublas_path", "devices"}) {
        EXPECT_TRUE(cuda_.contains(field)) << field;
    }
    const std::string text = heptad_ok({"info"});
    EXPECT_TRUE(contains(text, "\ncuda ")) << text;
    if (!available_) {
        EXPECT_FALSE(cuda_["problem"].get<std::string>().empty());
        EXPECT_TRUE(contains(text, cuda_["problem"].get<std::string>())) << text;
        return;
    }
    ASSERT_GE(cuda_["devices"].size(), 1U);
    const nlohmann::json& device = cuda_["devices"][0];
    EXPECT_FALSE(device["name"].get<std::string>().empty());
    EXPECT_GT(device["free_bytes"].get<std::int64_t>(), 0);
    EXPECT_LE(device["free_bytes"].get<std::int64_t>(), device["memory_bytes"].get<std::int64_t>());
    EXPECT_TRUE(contains(text, device["name"].get<std::string>())) << text;
}

TEST_F(Device, plan_needs_no_device_and_says_what_it_knows_of_one) {
    for (const char* name : {"cuda", "cuda:0", "cuda:7"}) {
        const std::string text = heptad_ok({"plan", "8192", "8192", "8192", "--type", "bf16", "--device", name});
        EXPECT_EQ(text.rfind("plan 8192x8192x8192 bf16 backend=cuda", 0), 0U) << text;
        EXPECT_TRUE(contains(text, "\n# machine ")) << text;
        EXPECT_TRUE(contains(text, "measured")) << text;
    }
    const nlohmann::json plan =
        heptad_json({"plan", "16384", "16384", "16384", "--device", "cuda", "--accuracy", "fast"});
    EXPECT_TRUE(plan["machine_measured"].is_boolean());
    EXPECT_FALSE(plan["machine"].get<std::string>().empty());
    EXPECT_GT(plan["predicted_s"].get<double>(), 0);
    const nlohmann::json tight = heptad_json({"plan", "16384", "16384", "16384", "--device", "cuda", "--accuracy",
                                              "fast", "--memory", std::to_string(3LL * 4 * 16384 * 16384)});
    EXPECT_EQ(tight["workspace_bytes"], 0);
    EXPECT_FALSE(heptad_json({"plan", "64", "64", "64", "--device", "cpu"}).contains("machine"));
}

TEST_F(Device, mul_gives_the_product_or_exits_4) {
    write("p.txt", heptad_ok({"plan", "30", "20", "25", "--device", "cuda"}));
    const std::vector<std::vector<std::string>> choices{{"--device", "cuda"},
                                                        {"--device", "cuda:0"},
                                                        {"--device", "cuda", "--levels", "1", "--verify"},
                                                        {"--plan", "p.txt"},
                                                        {"--plan", "p.txt", "--device", "cuda:0"}};
    for (const auto& choice : choices) {
        std::vector<std::string> words{"mul", "A.npy", "B.npy", "-o", "C.npy"};
        words.insert(words.end(), choice.begin(), choice.end());
        SCOPED_TRACE(choice[0] + " " + choice[1]);
        if (!available_) {
            expect_refused(words);
            continue;
        }
        heptad_ok(words);
        EXPECT_EQ(read_matrix("C.npy"), product(a_, b_));
    }
    if (available_) {
        const std::string said = heptad_fails(4, {"mul", "A.npy", "B.npy", "-o", "D.npy", "--device", "cuda:999"});
        EXPECT_TRUE(contains(said, "cuda:999")) << said;
    }
}

TEST_F(Device, mul_moves_large_matrices_beside_their_product) {
    if (!available_) {
        GTEST_SKIP() << cuda_["problem"].get<std::string>();
    }
    for (const char* name : {"L.npy", "R.npy"}) {
        heptad_ok({"gen", "uniform", "--shape", "8192x8192", "--type", "f32", "--seed", name[0] == 'L' ? "1" : "2",
                   "-o", name});
    }
    for (const char* accuracy : {"strict", "fast"}) {
        const nlohmann::json done = heptad_json(
            {"mul", "L.npy", "R.npy", "-o", "C.npy", "--device", "cuda", "--accuracy", accuracy, "--verify"});
        EXPECT_TRUE(done["verified"].get<bool>());
        EXPECT_TRUE(contains(done["plan"].get<std::string>(), "from-host 8192x8192x8192 f32 by=")) << done["plan"];
        EXPECT_GT(done["predicted_s"].get<double>(), 0);
        EXPECT_GT(done["error_bound"].get<double>(), 0);
    }
}

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
    EXPECT_TRUE(contains(outcome.out, "ratio")) << outcome.out;
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
