// NVIDIA devices on the command line: what `heptad` says where there is one, and where there is none.
#include "cli/device_process.hpp"

namespace heptad::testing {
namespace {

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
        const std::string text = heptad_ok({"plan", "2048", "2048", "2048", "--type", "bf16", "--device", name});
        EXPECT_EQ(last_line(text).rfind("plan 2048x2048x2048 bf16 backend=cuda", 0), 0U) << text;
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

TEST_F(Device, plan_shows_the_transfers_that_mul_makes_beside_a_large_product) {
    for (const char* accuracy : {"strict", "balanced", "fast"}) {
        const std::vector<std::string> words{"plan", "8192",     "8192", "8192",       "--type",
                                             "f32",  "--device", "cuda", "--accuracy", accuracy};
        const std::string text = heptad_ok(words), line = last_line(text);
        EXPECT_TRUE(contains(text, " effective, transfers included)\n")) << text;
        EXPECT_EQ(line.rfind("plan 8192x8192x8192 f32 transfers={", 0), 0U) << line;
        EXPECT_TRUE(contains(line, "backend=cuda")) << line;
        EXPECT_EQ(heptad_json(words)["plan"], line);
    }
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
        EXPECT_TRUE(contains(done["plan"].get<std::string>(), "plan 8192x8192x8192 f32 transfers={")) << done["plan"];
        EXPECT_EQ(heptad_json({"plan", "8192", "8192", "8192", "--device", "cuda", "--accuracy", accuracy})["plan"],
                  done["plan"]);
        EXPECT_GT(done["predicted_s"].get<double>(), 0);
        EXPECT_GT(done["error_bound"].get<double>(), 0);
        write("plan.json", done.dump());
        const nlohmann::json again =
            heptad_json({"mul", "L.npy", "R.npy", "-o", "C.npy", "--plan", "plan.json", "--verify"});
        EXPECT_TRUE(again["verified"].get<bool>());
        EXPECT_EQ(again["plan"], done["plan"]);
    }
}

TEST_F(Device, files_and_matrices_beyond_the_device_go_by_residues) {
    if (!available_) {
        GTEST_SKIP() << cuda_["problem"].get<std::string>();
    }
    for (const char* type : {"f32", "c64", "i64"}) {
        for (const char* name : {"L.npy", "R.npy"}) {
            heptad_ok({"gen", "uniform", "--shape", "3000x3000", "--type", type, "--seed", name[0] == 'L' ? "1" : "2",
                       "-o", name});
        }
        const std::vector<std::string> common{"mul",      "L.npy", "R.npy",  "-o",          "C.npy",
                                              "--device", "cuda",  "--leaf", "heptad-int8", "--verify"};
        const std::vector<std::vector<std::string>> places{{"--memory", "60M"}, {"--device-memory", "200M"}};
        std::string bytes;
        for (const auto& place : places) {
            std::vector<std::string> words = common;
            words.insert(words.end(), place.begin(), place.end());
            const nlohmann::json done = heptad_json(words);
            EXPECT_TRUE(done["verified"].get<bool>());
            const std::string plan = done["plan"].get<std::string>();
            EXPECT_TRUE(contains(plan, place[0] == "--memory" ? "disk={" : "host={")) << plan;
            EXPECT_TRUE(contains(plan, "arithmetic=residues:")) << plan;
            if (std::string(type) == "i64") {  // exact, wherever the cuts lie
                EXPECT_TRUE(bytes.empty() || bytes == read("C.npy"));
                bytes = read("C.npy");
            }
        }
    }
}

}  // namespace
}  // namespace heptad::testing
