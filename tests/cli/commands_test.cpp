// plan, gen, info, algorithms, tune and the help texts.
#include <cmath>

#include "cli/heptad_process.hpp"

namespace heptad::testing {
namespace {

using Commands = HeptadProcess;

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST_F(Commands, help_lists_every_command_and_an_example_each) {
    const std::string help = heptad_ok({"--help"});
    for (const char* command : {"mul", "plan", "verify", "gen", "info", "closure", "algorithms", "tune"}) {
        EXPECT_TRUE(contains(help, std::string("  ") + command + " ")) << help;
        const std::string own = heptad_ok({command, "--help"});
        EXPECT_TRUE(contains(own, std::string("Example: heptad ") + command)) << own;
        EXPECT_TRUE(contains(own, "--help")) << own;
    }
    EXPECT_EQ(heptad_ok({"--version"}).rfind("heptad ", 0), 0U);
}

TEST_F(Commands, help_has_no_line_above_120_columns) {
    for (const char* command : {"mul", "plan", "algorithms", "verify", "gen", "info", "tune"}) {
        std::istringstream help(heptad_ok({command, "--help"}));
        for (std::string line; std::getline(help, line);) {
            EXPECT_LE(line.size(), 120U) << line;
        }
    }
}

TEST_F(Commands, plan_prints_workspace_time_and_bound) {
    const std::string text = heptad_ok({"plan", "2048", "2048", "2048", "--type", "f64", "--accuracy", "fast"});
    EXPECT_EQ(text.rfind("# expected error: ", 0), 0U) << text;
    EXPECT_EQ(last_line(text).rfind("plan 2048x2048x2048 f64", 0), 0U) << text;
    EXPECT_TRUE(contains(text, "# workspace")) << text;
    EXPECT_TRUE(contains(text, "# predicted time")) << text;
    EXPECT_TRUE(contains(text, "# error bound")) << text;
    const nlohmann::json strict = heptad_json({"plan", "2048", "2048", "2048", "--accuracy", "strict"});
    const nlohmann::json fast =
        heptad_json({"plan", "2048", "2048", "2048", "--algorithm", "winograd", "--levels", "2"});
    EXPECT_EQ(strict["levels"], 0);
    EXPECT_EQ(fast["levels"], 2);
    EXPECT_GT(fast["error_bound"].get<double>(), strict["error_bound"].get<double>());
    EXPECT_GT(fast["workspace_bytes"].get<std::int64_t>(), 0);
    EXPECT_GT(strict["predicted_s"].get<double>(), 0);
    EXPECT_EQ(heptad_json({"plan", "64", "64", "64", "--type", "i32"})["error_bound"], 0);
}

TEST_F(Commands, plan_keeps_to_the_memory_it_is_given) {
    const std::int64_t operands = 3 * 4 * 1024 * 1024;
    const nlohmann::json tight =
        heptad_json({"plan", "1024", "1024", "1024", "--accuracy", "fast", "--memory", std::to_string(operands)});
    EXPECT_EQ(tight["workspace_bytes"], 0);
    EXPECT_EQ(tight["operand_bytes"], operands);
}

TEST_F(Commands, gen_repeats_with_the_seed_and_changes_with_it) {
    for (const auto& [kind, type] : std::vector<std::pair<std::string, std::string>>{{"uniform", "f32"},
                                                                                     {"normal", "f64"},
                                                                                     {"integer", "i32"},
                                                                                     {"uniform", "i64"},
                                                                                     {"bits", "gf2"},
                                                                                     {"graph", "bool"}}) {
        heptad_ok({"gen", kind, "--shape", "20x20", "--type", type, "--seed", "7", "-o", "1.npy"});
        heptad_ok({"gen", kind, "--shape", "20x20", "--type", type, "--seed", "7", "-o", "2.npy"});
        heptad_ok({"gen", kind, "--shape", "20x20", "--type", type, "--seed", "8", "-o", "3.npy"});
        EXPECT_EQ(read("1.npy"), read("2.npy")) << kind;
        EXPECT_NE(read("1.npy"), read("3.npy")) << kind;
    }
}

TEST_F(Commands, gen_keeps_to_shape_range_and_density) {
    heptad_ok({"gen", "integer", "--shape", "30x40", "--type", "f32", "--low", "-3", "--high", "2", "-o", "I.npy"});
    const TestMatrix matrix = read_matrix("I.npy");
    EXPECT_EQ(matrix.rows, 30);
    EXPECT_EQ(matrix.cols, 40);
    for (const double value : matrix.values) {
        EXPECT_GE(value, -3);
        EXPECT_LE(value, 2);
        EXPECT_EQ(value, std::round(value));
    }
    heptad_ok({"gen", "bits", "--shape", "200x200", "--density", "0.1", "-o", "D.npy"});
    EXPECT_NEAR(heptad_json({"info", "D.npy"})["density"].get<double>(), 0.1, 0.02);
    heptad_ok({"gen", "identity", "--shape", "5x5", "-o", "E.npy"});
    heptad_ok({"gen", "uniform", "--shape", "5x5", "-o", "U.npy"});
    heptad_ok({"mul", "E.npy", "U.npy", "-o", "P.npy"});
    EXPECT_EQ(read_matrix("P.npy"), read_matrix("U.npy"));
}

TEST_F(Commands, gen_mul_verify_info_make_a_round) {
    heptad_ok({"gen", "uniform", "--shape", "150x130", "--seed", "1", "-o", "A.npy"});
    heptad_ok({"gen", "uniform", "--shape", "130x170", "--seed", "2", "-o", "B.npy"});
    heptad_ok({"mul", "A.npy", "B.npy", "-o", "C.npy", "--algorithm", "strassen", "--levels", "2"});
    EXPECT_TRUE(contains(heptad_ok({"verify", "A.npy", "B.npy", "C.npy"}), "chance of miss"));
    EXPECT_TRUE(contains(heptad_ok({"verify", "A.npy", "B.npy", "C.npy"}), "threshold"));
    const nlohmann::json verified = heptad_json({"verify", "A.npy", "B.npy", "C.npy", "--accuracy", "fast"});
    EXPECT_GE(verified["threshold"].get<double>(), 8);
    EXPECT_EQ(verified["miss_chance"], std::ldexp(1, -20));
    heptad_ok({"mul", "A.npy", "B.npy", "-o", "Z.npy", "--alpha", "0"});
    heptad_fails(5, {"verify", "A.npy", "B.npy", "Z.npy"});
    const nlohmann::json info = heptad_json({"info", "C.npy"});
    EXPECT_EQ(info["rows"], 150);
    EXPECT_EQ(info["cols"], 170);
    EXPECT_EQ(info["type"], "f32");
    EXPECT_EQ(info["layout"], "c");
    EXPECT_EQ(info["data_bytes"], 150 * 170 * 4);
}

TEST_F(Commands, info_of_a_fortran_file_says_so) {
    write_matrix("F.npy", integers(3, 4, 1), "<f8", true);
    EXPECT_TRUE(contains(heptad_ok({"info", "F.npy"}), "Fortran"));
    EXPECT_EQ(heptad_json({"info", "F.npy"})["layout"], "fortran");
}

TEST_F(Commands, info_describes_the_machine) {
    const nlohmann::json machine = heptad_json({"info"});
    EXPECT_FALSE(machine["cpu"].get<std::string>().empty());
    EXPECT_GE(machine["usable_cores"].get<int>(), 1);
    ASSERT_TRUE(machine["libraries"].is_array());
    for (const nlohmann::json& library : machine["libraries"]) {
        if (library["found"].get<bool>()) {
            EXPECT_FALSE(library["version"].get<std::string>().empty());
            EXPECT_FALSE(library["path"].get<std::string>().empty());
        } else {
            EXPECT_FALSE(library["problem"].get<std::string>().empty());
        }
    }
    EXPECT_FALSE(machine["tune"]["leaf"]["f32"].get<std::string>().empty());
    EXPECT_TRUE(contains(heptad_ok({"info"}), "tuned"));
}

TEST_F(Commands, info_says_where_figures_are_from_and_how_to_undo_them) {
    const std::string file = (folder_ / "tune.json").string();
    setenv("HEPTAD_TUNE_FILE", file.c_str(), 1);
    EXPECT_TRUE(
        contains(heptad_ok({"info"}), "not measured: built-in defaults; 'heptad tune' measures and writes " + file));
    EXPECT_TRUE(contains(heptad_ok({"info"}), " (built-in guesses)\n"));
    const nlohmann::json built_in = heptad_json({"info"})["tune"];
    EXPECT_EQ(built_in["measured"], false);
    EXPECT_EQ(built_in["file"], file);
    EXPECT_EQ(built_in["undo"], "");
    EXPECT_TRUE(built_in["devices"].is_array());
    nlohmann::json machine = heptad_json({"tune", "--show"})["machine"];
    machine["measured"] = true;
    write("tune.json", nlohmann::json{{"key", "made up"}, {"machines", {machine}}}.dump());
    EXPECT_TRUE(contains(heptad_ok({"info"}), "measured: " + file + " (delete " + file + " to go back"));
    const nlohmann::json measured = heptad_json({"info"})["tune"];
    unsetenv("HEPTAD_TUNE_FILE");
    EXPECT_EQ(measured["measured"], true);
    EXPECT_TRUE(contains(measured["undo"].get<std::string>(), "delete " + file));
}

TEST_F(Commands, threads_of_the_environment_count_where_none_were_asked_for) {
    const auto threads = [&](const std::vector<std::string>& more = {}) {
        std::vector<std::string> words{"plan", "512", "512", "512"};
        words.insert(words.end(), more.begin(), more.end());
        const std::string plan = heptad_json(words)["plan"];
        const std::size_t at = plan.find("threads=") + 8;
        return plan.substr(at, plan.find(' ', at) - at);
    };
    setenv("HEPTAD_THREADS", "3", 1);
    setenv("OMP_NUM_THREADS", "1", 1);
    EXPECT_EQ(threads(), "3");
    EXPECT_EQ(threads({"--threads", "2"}), "2");
    unsetenv("HEPTAD_THREADS");
    setenv("OMP_NUM_THREADS", "1,4", 1);
    EXPECT_EQ(threads(), "1");
    unsetenv("OMP_NUM_THREADS");
    setenv("HEPTAD_THREADS", "two", 1);
    const std::string sentence = heptad_fails(2, {"plan", "64", "64", "64"});
    unsetenv("HEPTAD_THREADS");
    EXPECT_TRUE(contains(sentence, "HEPTAD_THREADS is 'two'")) << sentence;
}

TEST_F(Commands, algorithms_lists_facts_that_were_computed) {
    const nlohmann::json list = heptad_json({"algorithms"})["algorithms"];
    EXPECT_GE(list.size(), 15U);
    EXPECT_GT(heptad_json({"algorithms", "--all"})["algorithms"].size(), list.size());
    const nlohmann::json winograd = heptad_json({"algorithms", "winograd"});
    EXPECT_EQ(winograd["rank"], 7);
    EXPECT_EQ(
        winograd["additions_a"].get<int>() + winograd["additions_b"].get<int>() + winograd["additions_c"].get<int>(),
        15);
    const std::string text = heptad_ok({"algorithms", "strassen"});
    EXPECT_TRUE(contains(text, "<2,2,2>:7")) << text;
    EXPECT_TRUE(contains(heptad_ok({"algorithms"}), "strassen"));
    EXPECT_EQ(heptad_json({"algorithms", "classical"})["types"].back(), "bool");
}

TEST_F(Commands, user_algorithm_file_is_proven_and_used) {
    std::string text = heptad_json({"algorithms", "strassen"})["text"];
    write("mine.alg", text);
    const TestMatrix a = integers(16, 16, 1), b = integers(16, 16, 2);
    write_matrix("A.npy", a);
    write_matrix("B.npy", b);
    heptad_ok({"mul", "A.npy", "B.npy", "-o", "C.npy", "--algorithm", "./mine.alg", "--levels", "1"});
    EXPECT_EQ(read_matrix("C.npy"), product(a, b));
}

TEST_F(Commands, tune_show_tells_the_state_without_measuring) {
    setenv("HEPTAD_TUNE_FILE", (folder_ / "tune.json").c_str(), 1);
    const nlohmann::json shown = heptad_json({"tune", "--show"});
    unsetenv("HEPTAD_TUNE_FILE");
    EXPECT_EQ(shown["measured"], false);
    EXPECT_EQ(shown["file"], (folder_ / "tune.json").string());
    EXPECT_TRUE(shown["machine"].is_object());
    EXPECT_FALSE(std::filesystem::exists(folder_ / "tune.json"));
}

TEST_F(Commands, a_mistyped_tune_file_is_said_by_who_plans_and_not_by_who_tells_the_state) {
    setenv("HEPTAD_TUNE_FILE", (folder_ / "mistyped.json").c_str(), 1);
    const std::string sentence = heptad_fails(3, {"plan", "64", "64", "64"});
    EXPECT_EQ(heptad_json({"info"})["tune"]["measured"], false);
    unsetenv("HEPTAD_TUNE_FILE");
    EXPECT_NE(sentence.find("HEPTAD_TUNE_FILE"), std::string::npos) << sentence;
    EXPECT_NE(sentence.find("mistyped.json"), std::string::npos) << sentence;
}

TEST_F(Commands, tune_says_before_it_measures_that_its_file_cannot_be_written) {
    write("file", "");
    setenv("HEPTAD_TUNE_FILE", (folder_ / "file" / "tune.json").c_str(), 1);
    const std::string sentence = heptad_fails(4, {"tune"});  // which takes a minute and a half otherwise
    setenv("HEPTAD_TUNE_FILE", folder_.c_str(), 1);
    heptad_fails(4, {"tune"});
    unsetenv("HEPTAD_TUNE_FILE");
    EXPECT_NE(sentence.find("HEPTAD_TUNE_FILE"), std::string::npos) << sentence;
}

TEST_F(Commands, deeply_nested_json_is_refused_wherever_json_is_read) {
    constexpr std::size_t kDeep = 1000000;
    write("deep.json", "{\"plan\": " + std::string(kDeep, '[') + std::string(kDeep, ']') + "}");
    write_matrix("A.npy", integers(4, 4, 1));
    EXPECT_NE(heptad_fails(3, {"mul", "A.npy", "A.npy", "-o", "C.npy", "--plan", "deep.json"}).find("deep"),
              std::string::npos);
    setenv("HEPTAD_TUNE_FILE", (folder_ / "deep.json").c_str(), 1);
    heptad_fails(3, {"mul", "A.npy", "A.npy", "-o", "C.npy"});
    unsetenv("HEPTAD_TUNE_FILE");
}

}  // namespace
}  // namespace heptad::testing
