// Bit matrices on NVIDIA devices from the command line: plans need none; products say so without one.
#include "cli/heptad_process.hpp"

namespace heptad::testing {
namespace {

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

class BitDevice : public HeptadProcess {
protected:
    void SetUp() override {
        HeptadProcess::SetUp();
        available_ = heptad_json({"info"})["cuda"]["available"].get<bool>();
        heptad_ok({"gen", "bits", "--shape", "70x131", "--type", "bool", "--seed", "1", "-o", "A.npy"});
        heptad_ok({"gen", "bits", "--shape", "131x93", "--type", "bool", "--seed", "2", "-o", "B.npy"});
    }
    bool available_ = false;
};

TEST_F(BitDevice, plan_names_the_layers_of_p3_and_needs_no_device) {
    const std::string text =
        heptad_ok({"plan", "65536", "65536", "65536", "--type", "gf2", "--device", "cuda", "--memory", "100G"});
    EXPECT_EQ(last_line(text).rfind("plan 65536x65536x65536 gf2 backend=cuda ", 0), 0U) << text;
    for (const char* const part : {":parallel", "\n# predicted       ", "\n# machine "}) {
        EXPECT_TRUE(contains(text, part)) << part << text;
    }
    const nlohmann::json plan = heptad_json(
        {"plan", "16384", "16384", "16384", "--type", "bool", "--device", "cuda", "--count", "--memory", "100G"});
    EXPECT_EQ(plan["levels"], 0);
    for (const char* const layer : {"d_h", "d_s", "d_p"}) {
        EXPECT_EQ(plan[layer], 0) << layer;
    }
    EXPECT_TRUE(contains(plan["plan"].get<std::string>(), "bool count=yes "));
    EXPECT_GT(plan["predicted_s"].get<double>(), 0);
    EXPECT_TRUE(contains(
        heptad_ok({"plan", "65536", "65536", "65536", "--type", "bool", "--device", "cuda", "--memory", "100G"}),
        "all ones after 4096 bits"));
    // Operands of 1.5 GiB in 1 GiB go from file to file, which asks the device itself for its memory.
    const std::vector<std::string> too_large{"plan", "65536",    "65536", "65536",    "--type",
                                             "gf2",  "--device", "cuda",  "--memory", "1G"};
    if (available_) {
        EXPECT_EQ(last_line(heptad_ok(too_large)).rfind("plan 65536x65536x65536 gf2 disk={memory=", 0), 0U);
    } else {
        heptad_fails(4, too_large);
    }
}

TEST_F(BitDevice, mul_gives_the_product_or_exits_4) {
    write("p.txt", heptad_ok({"plan", "70", "131", "93", "--type", "gf2", "--device", "cuda", "--levels", "2",
                              "--memory", "1G"}));
    const std::vector<std::vector<std::string>> choices{
        {"--type", "gf2", "--device", "cuda"},
        {"--type", "bool", "--device", "cuda", "--verify"},
        {"--type", "gf2", "--device", "cuda", "--levels", "3", "--algorithm", "chaining", "--verify"},
        {"--type", "gf2", "--device", "cuda", "--leaf", "words"},
        {"--type", "gf2", "--plan", "p.txt"},
        {"--type", "bool", "--device", "cuda", "--count"}};
    for (const auto& choice : choices) {
        std::vector<std::string> words{"mul", "A.npy", "B.npy", "-o", "C.npy"};
        words.insert(words.end(), choice.begin(), choice.end());
        SCOPED_TRACE(choice[1] + " " + choice.back());
        if (!available_) {
            EXPECT_TRUE(contains(heptad_fails(4, words), "device to cpu"));
            continue;
        }
        heptad_ok(words);
        TestMatrix wanted = product(read_matrix("A.npy"), read_matrix("B.npy"));
        for (double& value : wanted.values) {
            const auto count = static_cast<std::int64_t>(value);
            value = choice.back() == "--count" ? value
                    : choice[1] == "gf2"       ? static_cast<double>(count % 2)
                                               : count > 0;
        }
        EXPECT_EQ(read_matrix("C.npy"), wanted);
    }
}

TEST_F(BitDevice, a_plan_of_something_else_is_refused) {
    write("p.txt", heptad_ok({"plan", "70", "131", "93", "--type", "gf2", "--device", "cuda", "--memory", "1G"}));
    write("counts.txt", heptad_ok({"plan", "70", "131", "93", "--type", "gf2", "--device", "cuda", "--count"}));
    const int code = available_ ? 3 : 4;
    heptad_fails(code, {"mul", "A.npy", "B.npy", "-o", "C.npy", "--type", "bool", "--plan", "p.txt"});
    heptad_fails(code, {"mul", "A.npy", "B.npy", "-o", "C.npy", "--type", "gf2", "--plan", "counts.txt"});
    heptad_fails(code, {"mul", "A.npy", "B.npy", "-o", "C.npy", "--type", "gf2", "--count", "--plan", "p.txt"});
}

TEST_F(BitDevice, mul_from_file_to_file_gives_the_product_or_exits_4) {
    heptad_ok({"gen", "bits", "--shape", "3001x2901", "--seed", "1", "-o", "A.pbm"});
    heptad_ok({"gen", "bits", "--shape", "3001x2777", "--seed", "2", "-o", "B.pbm"});
    for (const char* type : {"gf2", "bool"}) {
        const std::vector<std::string> words{"mul",      "A.pbm", "B.pbm",         "-o",        "C.pbm",
                                             "--type",   type,    "--transpose-a", "--device",  "cuda",
                                             "--memory", "2M",    "--verify",      "--overlap", "on"};
        if (!available_) {
            heptad_fails(4, words);
            continue;
        }
        const nlohmann::json run = heptad_json(words);
        EXPECT_EQ(run["verified"], true);
        heptad_ok({"mul", "A.pbm", "B.pbm", "-o", "whole.pbm", "--type", type, "--transpose-a"});
        EXPECT_EQ(read("C.pbm"), read("whole.pbm")) << type;
    }
}

TEST_F(BitDevice, count_is_refused_where_it_means_nothing) {
    heptad_fails(2, {"mul", "A.npy", "B.npy", "-o", "C.npy", "--type", "gf2", "--count"});
    heptad_fails(2,
                 {"mul", "A.npy", "B.npy", "-o", "C.npy", "--type", "gf2", "--device", "cuda", "--count", "--verify"});
    heptad_fails(2, {"mul", "A.npy", "B.npy", "-o", "C.npy", "--type", "gf2", "--device", "reference", "--count"});
}

TEST_F(BitDevice, closure_on_the_device_is_the_processors_or_exits_4) {
    heptad_ok({"gen", "graph", "--shape", "300x300", "--density", "0.005", "-o", "G.pbm"});
    heptad_ok({"closure", "G.pbm", "-o", "R.pbm"});
    const std::vector<std::string> words{"closure", "G.pbm", "-o", "D.pbm", "--device", "cuda"};
    if (!available_) {
        EXPECT_TRUE(contains(heptad_fails(4, words), "device to cpu"));
        return;
    }
    heptad_ok(words);
    EXPECT_EQ(read("D.pbm"), read("R.pbm"));
}

}  // namespace
}  // namespace heptad::testing
