// heptad demo: a line for every kind of product, with its ratio and its error.
#include <set>

#include "cli/heptad_process.hpp"

namespace heptad::testing {
namespace {

using Demo = HeptadProcess;

const std::set<std::string> kKinds{"f32", "f64", "i32", "bf16", "exact", "gf2", "bool", "files", "verify", "plan"};

TEST_F(Demo, every_kind_has_a_line_with_ratio_and_error) {
    std::set<std::string> seen;
    const nlohmann::json demo = heptad_json({"demo", "--quick"});
    for (const nlohmann::json& line : demo["lines"]) {
        const std::string kind = line["kind"];
        seen.insert(kind);
        EXPECT_GT(line["heptad_s"].get<double>(), 0) << line;
        EXPECT_GT(line["ratio"].get<double>(), 0) << line;
        for (const char* field : {"product", "against", "error"}) {
            EXPECT_FALSE(line[field].get<std::string>().empty()) << line;
        }
        const bool exact = kind == "i32" || kind == "gf2" || kind == "bool";
        EXPECT_EQ(line["error"] == "none: exact", exact) << line;
    }
    for (const std::string& kind : kKinds) {
        EXPECT_TRUE(seen.contains(kind)) << kind;
    }
}

TEST_F(Demo, the_table_is_for_people_and_leaves_nothing_behind) {
    const auto before = folder_contents();
    setenv("TMPDIR", folder_.c_str(), 1);
    const std::string table = heptad_ok({"demo", "--quick", "--threads", "1"});
    unsetenv("TMPDIR");
    for (const std::string& kind : kKinds) {
        EXPECT_NE(table.find("\n" + kind + " "), std::string::npos) << kind << " has no line in\n" << table;
    }
    EXPECT_NE(table.find("'heptad tune'"), std::string::npos) << table;  // never measured in the tests
    EXPECT_EQ(folder_contents(), before);
}

TEST_F(Demo, a_folder_that_cannot_be_written_is_said) {
    setenv("TMPDIR", (folder_ / "missing").c_str(), 1);
    const Outcome refused = heptad({"demo", "--quick"});
    unsetenv("TMPDIR");
    EXPECT_EQ(refused.exit_code, 4);
    EXPECT_NE(refused.err.find("TMPDIR"), std::string::npos) << refused.err;
}

TEST_F(Demo, words_that_mean_nothing_are_refused) {
    heptad_fails(2, {"demo", "--threads", "none"});
    heptad_fails(2, {"demo", "f32"});
}

}  // namespace
}  // namespace heptad::testing
