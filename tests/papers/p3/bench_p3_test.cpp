// heptad bench p3, where there is an NVIDIA device, and where there is none; heptad algorithms search-basis.
#include "cli/device_process.hpp"

namespace heptad::testing {
namespace {

TEST_F(Device, bench_p3_writes_a_result_file_or_exits_4) {
    EXPECT_TRUE(contains(heptad_ok({"bench", "p3", "--help"}), "--serial-levels"));
    const std::vector<std::string> words{"bench", "p3",          "--sizes", "1024,2000", "--rounds",
                                         "2",     "--no-tables", "--json",  "r.json"};
    if (!available_) {
        EXPECT_TRUE(contains(heptad_fails(4, words), "device to cpu"));
        return;
    }
    EXPECT_TRUE(contains(heptad_ok(words), "table 13"));
    const nlohmann::json file = nlohmann::json::parse(read("r.json"), nullptr, false);
    // Of each size one over GF(2), one of Booleans, and a sparse one of those.
    ASSERT_EQ(file["results"].size(), 6U);
    EXPECT_EQ(file["results"][1]["type"], "bool");
    EXPECT_FALSE(file["results"][1].contains("variant"));
    EXPECT_TRUE(contains(file["results"][2]["variant"].get<std::string>(), "density"));
    const nlohmann::json& record = file["results"][0];
    EXPECT_EQ(record["suite"], "p3");
    EXPECT_EQ(record["type"], "gf2");
    EXPECT_EQ(record["m"], 1024);
    EXPECT_GT(record["heptad_s"].get<double>(), 0);
    EXPECT_GT(record["vendor_s"].get<double>(), 0);
    EXPECT_GT(record["effective_tops"].get<double>(), 0);
}

TEST_F(Device, bench_p3_refuses_what_cannot_be_meant) {
    const std::vector<std::vector<std::string>> lines{
        {"bench", "p3", "--from-host", "0"}, {"bench", "p3", "--density", "1"},  {"bench", "p3", "--types", "f32"},
        {"bench", "p3", "--sizes", "0"},     {"bench", "p3", "--device", "cpu"}, {"bench", "p3", "--density", "1.5"},
    };
    for (const auto& words : lines) {
        SCOPED_TRACE(words[1] + " " + words.back());
        heptad_fails(2, words);
    }
}

TEST_F(Device, search_basis_finds_twelve_additions) {
    const nlohmann::json search = heptad_json({"algorithms", "search-basis"});
    for (const char* design : {"self_inverse", "chaining"}) {
        const nlohmann::json& additions = search[design]["additions"];
        EXPECT_EQ(additions[0].get<int>() + additions[1].get<int>() + additions[2].get<int>(), 12) << design;
    }
}

}  // namespace
}  // namespace heptad::testing
