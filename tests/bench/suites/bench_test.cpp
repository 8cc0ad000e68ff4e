// The benchmark as a smoke test: tiny sizes, every field of the result file, and the tune file that plans read.
#include <cstdlib>

#include "cli/heptad_process.hpp"

namespace heptad::testing {
namespace {

class Bench : public HeptadProcess {
protected:
    void SetUp() override {
        HeptadProcess::SetUp();
        const nlohmann::json info = heptad_json({"info"});  // lives as long as the loop
        for (const nlohmann::json& library : info["libraries"]) {
            has_library_ = has_library_ || library["found"].get<bool>();
        }
    }
    void expect_record(const nlohmann::json& record) {
        for (const char* field : {"suite", "type", "device", "vendor", "plan"}) {
            EXPECT_FALSE(record[field].get<std::string>().empty()) << field;
        }
        for (const char* field : {"m", "k", "n"}) {
            EXPECT_GE(record[field].get<std::int64_t>(), 1) << field;
        }
        for (const char* field : {"vendor_s", "heptad_s", "ratio", "effective_tops"}) {
            EXPECT_GT(record[field].get<double>(), 0) << field;
        }
        for (const char* field : {"error", "vendor_error", "workspace_bytes", "predicted_s", "levels"}) {
            EXPECT_GE(record[field].get<double>(), 0) << field;
        }
        EXPECT_DOUBLE_EQ(record["ratio"].get<double>(),
                         record["vendor_s"].get<double>() / record["heptad_s"].get<double>());
        EXPECT_LE(record["error"].get<double>(), record["error_bound"].get<double>());
        if (record["suite"] == "cpu") {
            EXPECT_EQ(record["accuracy"], "balanced");  // as products are without a word
        }
        if (record["type"] != "i32" && record["error"].get<double>() > 0) {
            EXPECT_GE(record["error_ratio"].get<double>(), 0);
            EXPECT_LT(record["error_ratio"].get<double>(), 100);
        }
        EXPECT_GT(record["libraries_s"][record["vendor"].get<std::string>()].get<double>(), 0);
    }
    bool has_library_ = false;
};

TEST_F(Bench, cpu_suite_writes_a_complete_result_file) {
    const std::string types = has_library_ ? "f32,f64,i32" : "i32";
    const Outcome outcome =
        heptad({"bench", "cpu", "--quick", "--types", types, "--sizes", "1,33,40x8x24", "--json", "result.json"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.out.find(" ratio error x "), std::string::npos) << outcome.out;
    const nlohmann::json file = nlohmann::json::parse(read("result.json"), nullptr, false);
    ASSERT_TRUE(file.is_object());
    for (const char* field : {"cpu", "cores", "device", "libraries", "commit", "command", "date"}) {
        EXPECT_TRUE(file["machine"].contains(field)) << field;
    }
    EXPECT_NE(file["machine"]["command"].get<std::string>().find("bench cpu --quick"), std::string::npos);
    ASSERT_EQ(file["results"].size(), has_library_ ? 9U : 3U);
    for (const nlohmann::json& record : file["results"]) {
        expect_record(record);
        if (record["type"] == "i32") {
            EXPECT_EQ(record["vendor"], "blocked-loop");
            EXPECT_EQ(record["error"], 0);
            EXPECT_EQ(record["vendor_error"], 0);
        }
    }
}

TEST_F(Bench, results_are_written_as_a_page_too) {
    const Outcome outcome = heptad({"bench", "cpu", "--quick", "--types", "i32", "--sizes", "4,8", "--html", "r.html"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("results: r.html"), std::string::npos) << outcome.out;
    const std::string page = read("r.html");
    for (const char* part : {"bench cpu --quick", "blocked-loop", "<polyline", "plan 8x8x8"}) {
        EXPECT_NE(page.find(part), std::string::npos) << part;
    }
    EXPECT_EQ(folder_contents().size(), 1U);
    heptad_fails(2, {"bench", "cpu", "--sizes", "4", "--json", "x.json", "--html", "./x.json"});
    heptad_fails(3, {"bench", "cpu", "--sizes", "4", "--html", "nowhere/r.html"});
}

TEST_F(Bench, a_library_against_itself_is_told_where_asked_for) {
    const std::string type = has_library_ ? "f32" : "i32";
    const Outcome outcome = heptad(
        {"bench", "cpu", "--quick", "--types", type, "--sizes", "8", "--against-itself", "--json", "result.json"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("against itself"), std::string::npos) << outcome.out;
    const nlohmann::json file = nlohmann::json::parse(read("result.json"), nullptr, false);
    expect_record(file["results"][0]);
    EXPECT_GT(file["results"][0]["vendor_over_itself"].get<double>(), 0);
    const Outcome without = heptad({"bench", "cpu", "--quick", "--types", type, "--sizes", "8"});
    EXPECT_EQ(without.out.find("against itself"), std::string::npos) << without.out;
}

TEST_F(Bench, graded_data_is_timed_beside_uniform_data) {
    if (!has_library_) {
        GTEST_SKIP() << "there is no library to compare with";
    }
    for (const std::string data : {"lines", "inner"}) {
        const Outcome outcome = heptad({"bench", "cpu", "--quick", "--types", "f64", "--sizes", "96", "--levels", "1",
                                        "--data", data, "--json", data + ".json"});
        ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
        EXPECT_NE(outcome.out.find("over uniform"), std::string::npos) << outcome.out;
        const nlohmann::json file = nlohmann::json::parse(read(data + ".json"), nullptr, false);
        expect_record(file["results"][0]);
        EXPECT_GT(file["results"][0]["over_uniform"].get<double>(), 0);
        EXPECT_EQ(file["results"][0]["variant"], data == "lines" ? "graded lines" : "graded k");
    }
}

TEST_F(Bench, grades_tell_words_apart) {
    const Outcome outcome = heptad(
        {"bench", "grade", "--types", "f64", "--sizes", "16,48,160", "--json", "grades.json", "--html", "grades.html"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const auto grade_of = [&](const std::string& word) {
        std::istringstream lines(outcome.out);
        for (std::string line; std::getline(lines, line);) {
            if (line.starts_with("f64   " + word)) {
                return line.substr(line.rfind("  ") + 2);
            }
        }
        return std::string();
    };
    EXPECT_EQ(grade_of("library"), "A") << outcome.out;
    EXPECT_EQ(grade_of("strict"), "A") << outcome.out;
    EXPECT_EQ(grade_of("exact"), "A, or refused") << outcome.out;
    EXPECT_FALSE(grade_of("balanced").empty());
    EXPECT_FALSE(grade_of("fast").empty());
    const nlohmann::json file = nlohmann::json::parse(read("grades.json"), nullptr, false);
    ASSERT_EQ(file["grades"].size(), 5U);
    EXPECT_EQ(file["grades"][1]["product"], "strict");
    EXPECT_EQ(file["grades"][1]["grade"], "A");
    EXPECT_GT(file["grades"][1]["error_over_u"].get<double>(), 0);
    EXPECT_FALSE(file["machine"]["command"].get<std::string>().empty());
    EXPECT_NE(read("grades.html").find("data-l=\"product\">balanced</td>"), std::string::npos);
    EXPECT_EQ(heptad({"bench", "grade", "--sizes", "16x8x16"}).exit_code, 2);
    EXPECT_EQ(heptad({"bench", "grade", "--types", "i32"}).exit_code, 2);
}

TEST_F(Bench, bits_suite_writes_a_result_file) {
    const Outcome outcome =
        heptad({"bench", "bits", "--quick", "--sizes", "64,40x130x24", "--threads", "2", "--json", "result.json"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const nlohmann::json file = nlohmann::json::parse(read("result.json"), nullptr, false);
    ASSERT_EQ(file["results"].size(), 6U);  // each size once over GF(2), twice for booleans
    for (const nlohmann::json& record : file["results"]) {
        EXPECT_EQ(record["suite"], "bits");
        if (!record["vendor"].is_null()) {  // M4RI is optional
            expect_record(record);
        }
    }
    EXPECT_NE(file["results"][3]["plan"].get<std::string>().find(" density 0.1"), std::string::npos)
        << "sqrt(0.7 / 64), so that half of C is ones";
    heptad_fails(2, {"bench", "bits", "--types", "f32"});
    heptad_fails(2, {"bench", "bits", "--sizes", "64", "--leaf", "nothing"});
}

TEST_F(Bench, bits_suite_without_m4ri_leaves_the_columns_of_the_vendor_empty) {
    // heptad-m4ri is looked for beside the program, and beside a copy there is none.
    program_ = folder_ / "alone";
    std::filesystem::copy_file(HEPTAD_BINARY, program_);
    const Outcome outcome = heptad({"bench", "bits", "--quick", "--types", "gf2", "--sizes", "64", "--json", "r.json"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("M4RI: not built"), std::string::npos) << outcome.out;
    for (const char* nonsense : {"none", "0.000", "0 ns"}) {
        EXPECT_EQ(outcome.out.find(nonsense), std::string::npos) << outcome.out;
    }
    const nlohmann::json file = nlohmann::json::parse(read("r.json"), nullptr, false);
    const nlohmann::json& record = file["results"][0];
    for (const char* field : {"vendor", "vendor_s", "vendor_min_s", "vendor_max_s", "vendor_error", "ratio"}) {
        EXPECT_TRUE(record.contains(field) && record[field].is_null()) << field << ": " << record;
    }
    EXPECT_GT(record["heptad_s"].get<double>(), 0);
    heptad_json({"report", "r.json", "-o", "r.html"});
    EXPECT_EQ(read("r.html").find(">none<"), std::string::npos);
}

TEST_F(Bench, bits_suite_has_a_line_for_every_density) {
    const Outcome outcome = heptad({"bench", "bits", "--quick", "--types", "bool", "--sizes", "64", "--threads", "1",
                                    "--density", "0.5,0.02,0.9", "--json", "result.json"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("density 0.02"), std::string::npos) << outcome.out;
    const nlohmann::json results = nlohmann::json::parse(read("result.json"), nullptr, false)["results"];
    ASSERT_EQ(results.size(), 3U);
    const auto plan = [&](std::size_t line) { return results[line]["plan"].get<std::string>(); };
    EXPECT_EQ(plan(0).find("density"), std::string::npos) << plan(0) << ": a half is what is meant without a word";
    EXPECT_TRUE(plan(1).ends_with(" density 0.02")) << plan(1);
    EXPECT_TRUE(plan(2).ends_with(" density 0.9")) << plan(2);
    for (const char* wrong : {"0", "1", "0.5,", "0.5,-1", "much"}) {
        heptad_fails(2, {"bench", "bits", "--sizes", "64", "--density", wrong});
    }
}

TEST_F(Bench, files_suite_compares_checks_and_writes_the_product) {
    const TestMatrix a = integers(30, 20, 1), b = integers(20, 25, 2);
    const char* dtype = has_library_ ? "<f4" : "<i4";
    write_matrix("A.npy", a, dtype);
    write_matrix("B.npy", b, dtype);
    const Outcome outcome =
        heptad({"bench", "files", "A.npy", "B.npy", "-o", "C.npy", "--quick", "--json", "result.json"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    for (const char* word : {"ratio", "error ratio", "time", "effective rate", "error", "workspace", "plan 30x20x25"}) {
        EXPECT_NE(outcome.out.find(word), std::string::npos) << word << " missing in " << outcome.out;
    }
    EXPECT_EQ(read_matrix("C.npy"), product(a, b));
    const nlohmann::json file = nlohmann::json::parse(read("result.json"), nullptr, false);
    ASSERT_EQ(file["results"].size(), 1U);
    expect_record(file["results"][0]);
}

TEST_F(Bench, set_1_of_p4_goes_from_file_to_file_and_is_compared_with_the_product_in_memory) {
    for (const bool quick : {false, true}) {
        std::vector<std::string> words{"bench", "files", "--size", "200", "--memory", "120K", "--json", "set.json"};
        if (quick) {
            words.emplace_back("--quick");
        }
        const Outcome outcome = heptad(words);
        ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
        const nlohmann::json record = nlohmann::json::parse(read("set.json"), nullptr, false)["results"][0];
        EXPECT_EQ(record["variant"], "p4-set-1");
        if (quick) {
            EXPECT_TRUE(record["vendor"].is_null() && record["vendor_s"].is_null() && record["ratio"].is_null());
        } else {
            EXPECT_EQ(record["vendor"], "one stage after another");
            EXPECT_GT(record["vendor_s"].get<double>(), 0);
        }
        EXPECT_GT(record["in_core_s"].get<double>(), 0);
        EXPECT_GE(record["bound_s"], record["in_core_s"]);
        EXPECT_GT(record["tiles"], 1);
    }
    EXPECT_EQ(folder_contents().size(), 1U) << "the matrices of the set were left behind";
}

TEST_F(Bench, tune_measures_and_plans_use_it) {
    setenv("HEPTAD_TUNE_FILE", (folder_ / "tune.json").c_str(), 1);
    const Outcome outcome = heptad({"tune", "--quick", "--anyway", "--json"});
    const nlohmann::json shown = heptad_json({"tune", "--show"});
    const nlohmann::json info = heptad_json({"info"});
    unsetenv("HEPTAD_TUNE_FILE");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const nlohmann::json measured = nlohmann::json::parse(outcome.out, nullptr, false);
    EXPECT_EQ(measured["measured"], true);
    EXPECT_TRUE(std::filesystem::exists(folder_ / "tune.json"));
    EXPECT_EQ(shown["measured"], true);
    EXPECT_EQ(info["tune"]["measured"], true);
}

}  // namespace
}  // namespace heptad::testing
