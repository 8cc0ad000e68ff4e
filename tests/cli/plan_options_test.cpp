// heptad plan takes the options of mul, and says what mul would do with them: the same plan, the same way from file to
// file, the same exit code.
#include "cli/heptad_process.hpp"

namespace heptad::testing {
namespace {

class PlanOptions : public HeptadProcess {
protected:
    static std::vector<std::string> plan(const std::vector<std::string>& more) {
        std::vector<std::string> words{"plan", "200", "160", "240", "--disk", "2G"};
        words.insert(words.end(), more.begin(), more.end());
        return words;
    }
};

TEST_F(PlanOptions, options_of_mul_are_taken) {
    const std::string usual = heptad_ok({"plan", "200", "160", "240"});
    for (const std::vector<std::string>& more :
         std::vector<std::vector<std::string>>{{"--transpose-a"},
                                               {"--transpose-b", "--transpose-a"},
                                               {"--alpha", "2.5"},
                                               {"--verify"},
                                               {"--raw-a", "f32:200x160", "--raw-b", "f32:160x240"},
                                               {"--raw-a", "f32:160x200", "--transpose-a"},
                                               {"--memory", "1G"}}) {
        std::vector<std::string> words{"plan", "200", "160", "240"};
        words.insert(words.end(), more.begin(), more.end());
        EXPECT_EQ(heptad_ok(words), usual) << more[0];
    }
    EXPECT_EQ(heptad_ok({"plan", "200", "160", "240", "--beta", "1", "--add", "C0.npy"}),
              heptad_ok({"plan", "200", "160", "240", "--beta", "1"}));
    EXPECT_EQ(heptad_ok({"plan", "200", "160", "240", "--raw-a", "f64:200x160"}),
              heptad_ok({"plan", "200", "160", "240", "--type", "f64"}));
    const auto line = [](const std::string& text) {
        return last_line(text).substr(0, last_line(text).find(" predicted-s"));
    };
    EXPECT_EQ(line(heptad_ok({"plan", "200", "160", "240", "--columns", "240", "--type", "gf2"})),
              line(heptad_ok({"plan", "200", "160", "240", "--type", "gf2"})));
    // Other factors than 1 are not for packed bits, here as in mul.
    EXPECT_EQ(last_line(heptad_ok({"plan", "200", "160", "240", "--type", "gf2", "--alpha", "0"})).rfind("plan ", 0),
              0U);
}

/// A plan's text without how long it is thought to take, which depends on the disk.
std::string without_time(const std::string& plan) {
    const std::size_t begin = plan.find(" predicted-s=");
    return plan.substr(0, begin) + plan.substr(plan.find(' ', begin + 1));
}

TEST_F(PlanOptions, as_many_levels_are_taken_as_the_library_takes) {
    const std::string most = last_line(heptad_ok({"plan", "64", "64", "64", "--levels", "20"}));
    EXPECT_EQ(most.rfind("plan ", 0), 0U) << most;
    heptad_fails(2, {"plan", "64", "64", "64", "--levels", "21"});
}

TEST_F(PlanOptions, what_cannot_be_true_of_the_files_is_refused) {
    heptad_fails(2, plan({"--memory", "1G", "--add", "C0.npy"}));
    heptad_fails(2, plan({"--memory", "1G", "--columns", "240"}));
    heptad_fails(2, plan({"--memory", "1G", "--columns", "240", "--type", "gf2", "--mode", "serial"}));
    heptad_fails(3, plan({"--memory", "1G", "--columns", "160", "--type", "gf2"}));
    heptad_fails(3, plan({"--memory", "1G", "--raw-a", "f32:160x200"}));
    heptad_fails(3, plan({"--memory", "1G", "--raw-a", "f32:200x160", "--raw-b", "f64:160x240"}));
    heptad_fails(3, plan({"--memory", "1G", "--raw-a", "f32:200x160", "--type", "f64"}));
    heptad_fails(2, plan({"--overlap", "sometimes"}));
    heptad_fails(2, {"plan", "64", "64", "64", "--nodes", "2", "--raw-a", "f32:64x64"});
}

TEST_F(PlanOptions, beyond_the_memory_it_goes_from_file_to_file_as_mul_does) {
    write_matrix("A.npy", integers(200, 160, 1));
    write_matrix("B.npy", integers(160, 240, 2));
    const nlohmann::json run = heptad_json({"mul", "A.npy", "B.npy", "-o", "C.npy", "--memory", "200K", "--verify"});
    const nlohmann::json planned = heptad_json(plan({"--memory", "200K", "--verify"}));
    EXPECT_EQ(without_time(planned["file_plan"]), without_time(run["file_plan"]));
    write_matrix("T.npy", transposed(integers(200, 160, 1)));
    const nlohmann::json turned =
        heptad_json({"mul", "T.npy", "B.npy", "-o", "C.npy", "--memory", "200K", "--transpose-a"});
    EXPECT_EQ(without_time(heptad_json(plan({"--memory", "200K", "--transpose-a"}))["file_plan"]),
              without_time(turned["file_plan"]));
    heptad_fails(4, plan({"--memory", "1K"}));
    heptad_fails(4, {"mul", "A.npy", "B.npy", "-o", "D.npy", "--memory", "1K"});
    for (const char* option : {"--resume", "--overlap=off", "--trace=t.json"}) {
        EXPECT_TRUE(heptad_json(plan({"--memory", "1G", option})).contains("file_plan")) << option;
    }
    const nlohmann::json in_turn = heptad_json(plan({"--memory", "200K", "--overlap", "off"}));
    EXPECT_DOUBLE_EQ(
        in_turn["wall_s"].get<double>(),
        in_turn["read_s"].get<double>() + in_turn["multiply_s"].get<double>() + in_turn["write_s"].get<double>());
}

TEST_F(PlanOptions, bits_keep_to_the_memory_too) {
    heptad_fails(4, {"plan", "64", "64", "64", "--type", "gf2", "--memory", "1", "--disk", "2G"});
    // The matrices take 318 KiB, and their packed copies do not fit beside them.
    const nlohmann::json planned =
        heptad_json({"plan", "901", "777", "1003", "--type", "gf2", "--memory", "400K", "--disk", "2G"});
    ASSERT_TRUE(planned.contains("file_plan")) << planned;
    EXPECT_LE(planned["used_bytes"], 400 << 10);
    const nlohmann::json over_cores = heptad_json(
        {"plan", "901", "777", "1003", "--type", "gf2", "--memory", "300K", "--device", "cpu:2", "--disk", "2G"});
    EXPECT_TRUE(over_cores.contains("file_plan")) << over_cores;
    const std::vector<std::string> roomy{"plan", "901", "777", "1003", "--type", "gf2", "--memory", "4M"};
    EXPECT_FALSE(heptad_json(roomy).contains("file_plan"));
}

TEST_F(PlanOptions, plans_that_are_not_taken_back_say_so) {
    write_matrix("A.npy", integers(200, 160, 1));
    write_matrix("B.npy", integers(160, 240, 2));
    write("ranks.txt", heptad_ok(plan({"--nodes", "6", "--compute", "1T", "--algorithm", "pegmm"})));
    const std::string ranks = heptad_fails(2, {"mul", "A.npy", "B.npy", "-o", "C.npy", "--plan", "ranks.txt"});
    EXPECT_NE(ranks.find("heptad-mpi mul on 6 ranks, with --algorithm pegmm --block "), std::string::npos) << ranks;
}

TEST_F(PlanOptions, plan_of_files_is_taken_back_as_text_and_as_json) {
    write_matrix("A.npy", integers(200, 160, 1));
    write_matrix("B.npy", integers(160, 240, 2));
    const std::vector<std::vector<std::string>> kinds{{},
                                                      {"--verify"},
                                                      {"--levels", "1", "--algorithm", "winograd"},
                                                      {"--accuracy", "strict", "--threads", "1"},
                                                      {"--host-levels", "1"},
                                                      {"--device", "cpu:2"}};
    for (const std::vector<std::string>& kind : kinds) {
        std::vector<std::string> asked{"--files", "--memory", "250K"};
        asked.insert(asked.end(), kind.begin(), kind.end());
        const nlohmann::json planned = heptad_json(plan(asked));
        write("p.json", planned.dump());
        write("p.txt", heptad_ok(plan(asked)));
        SCOPED_TRACE(planned["plan"]);
        std::vector<std::string> mul{"mul", "A.npy", "B.npy", "-o", "C.npy", "--memory", "250K"};
        mul.insert(mul.end(), kind.begin(), kind.end());
        heptad_ok(mul);
        const std::string bytes = read("C.npy");
        for (const char* file : {"p.json", "p.txt"}) {
            const nlohmann::json done = heptad_json({"mul", "A.npy", "B.npy", "-o", "C.npy", "--plan", file});
            EXPECT_EQ(without_time(done["plan"]), without_time(planned["plan"]));
            EXPECT_EQ(done["memory_bytes"], 250 << 10);
            EXPECT_EQ(read("C.npy"), bytes);
        }
    }
}

TEST_F(PlanOptions, plan_of_packed_bits_from_file_to_file_is_taken_back) {
    heptad_ok({"gen", "bits", "--shape", "901x777", "--seed", "1", "-o", "A.pbm"});
    heptad_ok({"gen", "bits", "--shape", "777x1003", "--seed", "2", "-o", "B.pbm"});
    heptad_ok({"mul", "A.pbm", "B.pbm", "-o", "C.pbm", "--type", "gf2"});
    const std::string bytes = read("C.pbm");
    for (const char* device : {"cpu", "cpu:2"}) {
        const nlohmann::json planned = heptad_json(
            {"plan", "901", "777", "1003", "--type", "gf2", "--memory", "300K", "--device", device, "--disk", "2G"});
        write("p.json", planned.dump());
        const nlohmann::json done =
            heptad_json({"mul", "A.pbm", "B.pbm", "-o", "D.pbm", "--type", "gf2", "--plan", "p.json"});
        EXPECT_EQ(without_time(done["plan"]), without_time(planned["plan"]));
        EXPECT_EQ(read("D.pbm"), bytes);
    }
}

TEST_F(PlanOptions, plan_of_other_files_or_another_placement_is_refused) {
    write_matrix("A.npy", integers(200, 160, 1));
    write_matrix("B.npy", integers(160, 240, 2));
    const std::vector<std::string> mul{"mul", "A.npy", "B.npy", "-o", "C.npy", "--plan", "p.txt"};
    const auto refused = [&](int code, const std::string& text, const std::vector<std::string>& more = {}) {
        write("p.txt", text);
        std::vector<std::string> words = mul;
        words.insert(words.end(), more.begin(), more.end());
        return heptad_fails(code, words);
    };
    const std::string text = heptad_ok(plan({"--files", "--memory", "250K"}));
    refused(3, heptad_ok({"plan", "200", "160", "241", "--files", "--memory", "250K", "--disk", "2G"}));
    refused(3, heptad_ok(plan({"--files", "--memory", "500K", "--type", "f64"})));
    EXPECT_NE(refused(4, text, {"--memory", "50K"}).find("the plan takes"), std::string::npos);
    EXPECT_NE(refused(2, text, {"--device", "cuda"}).find("is a plan for cpu"), std::string::npos);
    EXPECT_NE(refused(2, text, {"--host-levels", "1"}).find("0 outer levels"), std::string::npos);
    EXPECT_NE(refused(2, heptad_ok({"plan", "200", "160", "240"}), {"--memory", "250K"}).find("goes from file to file"),
              std::string::npos);
    EXPECT_NE(refused(3, "files m=200 k=160 n=240").find("old plan"), std::string::npos);
    EXPECT_NE(refused(3, "cluster 200x160x240 f32 ranks=1").find("old plan"), std::string::npos);
}

}  // namespace
}  // namespace heptad::testing
