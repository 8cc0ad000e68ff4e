// heptad mul and plan from file to file with outer levels through files, as a user runs them.
#include <cmath>

#include "cli/random_kills.hpp"

namespace heptad::testing {
namespace {

/// In both programs' own words.
class FileLayers : public RandomKills {
protected:
    void expect_bytes_as_planned(bool verify) {
        std::vector<std::string> besides{"--memory", "3M", "--host-levels", "1"};
        if (verify) {
            besides.emplace_back("--verify");
        }
        std::vector<std::string> plan_words{"plan", "1024", "768", "1280", "--files", "--disk", "2G"},
            mul_words{"mul", "A.npy", "B.npy", "-o", "C.npy"};
        plan_words.insert(plan_words.end(), besides.begin(), besides.end());
        mul_words.insert(mul_words.end(), besides.begin(), besides.end());
        const nlohmann::json plan = heptad_json(plan_words), said = heptad_json(mul_words);
        const std::int64_t moved = said["read_bytes"].get<std::int64_t>() + said["written_bytes"].get<std::int64_t>();
        EXPECT_EQ(plan["moved_bytes"], moved);
        EXPECT_EQ(said["DR"]["amount"].get<double>() + said["DW"]["amount"].get<double>(), static_cast<double>(moved));
        EXPECT_EQ(plan["outer_levels"]["scratch_bytes"], 7 * 512 * 640 * 4);
        EXPECT_EQ(plan["error_bound"], said["error_bound"]);
        EXPECT_LE(plan["used_bytes"], 3 << 20);
    }
};

bool contains(const std::string& text, const std::string& word) {
    return text.find(word) != std::string::npos;
}

TEST_F(FileLayers, product_in_little_memory_equals_the_definition) {
    const TestMatrix a = integers(301, 211, 1), b = integers(211, 259, 2), c0 = integers(301, 259, 3);
    for (const char* dtype : {"<f4", "<f8", "<i4"}) {
        for (const bool fortran : {false, true}) {
            write_matrix("A.npy", a, dtype, fortran);
            write_matrix("B.npy", b, dtype);
            write_matrix("C0.npy", c0, dtype, fortran);
            const nlohmann::json said =
                heptad_json({"mul", "A.npy", "B.npy", "-o", "C.npy", "--memory", "150K", "--host-levels", "1"});
            EXPECT_EQ(said["outer_levels"]["products"], 7);
            EXPECT_EQ(said["outer_levels"]["algorithm"], "strassen");
            EXPECT_EQ(read_matrix("C.npy"), product(a, b));
            heptad_ok({"mul", "A.npy", "B.npy", "-o", "C0.npy", "--memory", "250K", "--beta", "-1", "--add", "C0.npy",
                       "--host-levels", "2", "--host-algorithm", "winograd", "--overlap", "off"});
            EXPECT_EQ(read_matrix("C0.npy"), product(a, b, 1, -1, c0));
        }
    }
    EXPECT_EQ(folder_contents().size(), 4U) << "something was left behind";
}

TEST_F(FileLayers, plan_tells_the_bytes_that_mul_moves_and_the_scratch_file) {
    random_inputs(1024, 768, 1280);
    for (const bool verify : {false, true}) {
        expect_bytes_as_planned(verify);
    }
}

TEST_F(FileLayers, random_floats_are_verified_and_resumed_ones_too) {
    random_inputs(600, 500, 700);
    for (const char* type : {"f32", "tf32"}) {
        const nlohmann::json said = heptad_json({"mul", "A.npy", "B.npy", "-o", "C.npy", "--memory", "1500K",
                                                 "--host-levels", "1", "--verify", "--resume", "--type", type});
        EXPECT_EQ(said["verified"], true) << said["verification"];
        EXPECT_EQ(said["outer_levels"]["products"], 7);
        heptad_ok({"verify", "A.npy", "B.npy", "C.npy", "--type", type});
    }
}

TEST_F(FileLayers, plan_offers_a_level_only_where_it_is_predicted_to_be_faster) {
    const std::vector<std::string> large{"plan",     "65536", "65536",  "65536", "--files",
                                         "--memory", "2G",    "--disk", "4G"};
    const nlohmann::json plan = heptad_json(large);
    std::vector<std::string> with = large;
    with.insert(with.end(), {"--host-levels", "1"});
    const bool offered = !plan["outer_level_hint"].get<std::string>().empty();
    EXPECT_EQ(offered, heptad_json(with)["wall_s"].get<double>() <= 0.95 * plan["wall_s"].get<double>());
    std::vector<std::string> strict = large;
    strict.insert(strict.end(), {"--accuracy", "strict"});
    EXPECT_EQ(heptad_json(strict)["outer_level_hint"], "");
}

TEST_F(FileLayers, resident_memory_stays_within_the_limit_and_64_mib) {
    random_inputs(4096, 4096, 4096);  // three matrices of 64 MiB
    const nlohmann::json said = nlohmann::json::parse(
        long_run({"mul", "A.npy", "B.npy", "-o", "C.npy", "--memory", "48M", "--host-levels", "1", "--json"}));
    EXPECT_LE(said["peak_resident_bytes"], (48 + 64) << 20) << said["file_plan"];
}

TEST_F(FileLayers, nan_is_answered_as_without_levels_and_said) {
    TestMatrix a = integers(300, 210, 1);
    a.values[5] = std::nan("");
    write_matrix("A.npy", a, "<f4");
    write_matrix("B.npy", integers(210, 260, 2), "<f4");
    const nlohmann::json said =
        heptad_json({"mul", "A.npy", "B.npy", "-o", "C.npy", "--memory", "150K", "--host-levels", "1"});
    EXPECT_EQ(said["outer_levels"], nullptr);
    EXPECT_NE(said["outer_levels_given_up"].get<std::string>().find("NaN"), std::string::npos);
    const std::string with = read("C.npy");
    heptad_ok({"mul", "A.npy", "B.npy", "-o", "C.npy", "--memory", "150K"});
    EXPECT_EQ(with, read("C.npy"));
}

TEST_F(FileLayers, what_cannot_be_had_is_refused_in_a_sentence) {
    random_inputs(300, 210, 260);
    const auto refused = [&](std::vector<std::string> besides, const std::string& word) {
        std::vector<std::string> words{"mul",      "A.npy", "B.npy",         "-o", "C.npy",
                                       "--memory", "150K",  "--host-levels", "1"};
        words.insert(words.end(), besides.begin(), besides.end());
        EXPECT_TRUE(contains(heptad_fails(2, words), word));
        EXPECT_FALSE(exists("C.npy"));
    };
    refused({"--accuracy", "strict"}, "strict");
    refused({"--host-algorithm", "nothing"}, "nothing");
    refused({"--pipelines", "2"}, "--pipelines");
    EXPECT_TRUE(contains(heptad_fails(2, {"mul", "A.npy", "B.npy", "-o", "C.npy", "--host-levels", "1"}), "in memory"));
    EXPECT_TRUE(contains(heptad_fails(2, {"plan", "300", "210", "260", "--host-levels", "1"}), "in memory"));
    EXPECT_TRUE(contains(
        heptad_fails(2, {"mul", "A.npy", "B.npy", "-o", "C.npy", "--memory", "150K", "--host-algorithm", "strassen"}),
        "--host-levels 1"));
    EXPECT_TRUE(contains(heptad_fails(2, {"plan", "300", "210", "260", "--files", "--type", "gf2", "--memory", "1M",
                                          "--host-levels", "1"}),
                         "packed bits"));
}

TEST_F(FileLayers, killed_at_random_moments_it_resumes_to_the_same_bits) {
    survive_kills(6, {"--host-levels", "1"});
}

}  // namespace
}  // namespace heptad::testing
