// Pages are complete and well formed whatever the files say: every result file of the repository, and texts that look
// like markup.
#include <filesystem>
#include <fstream>
#include <set>

#include "cli/heptad_process.hpp"

namespace heptad::testing {
namespace {

/// The first thing that is wrong with the tags of a page; "" if nothing is.
std::string wrong_markup(const std::string& page) {
    const std::set<std::string> without_end{"meta", "input", "br"}, raw{"style", "script"};
    std::vector<std::string> open;
    std::size_t at = page.find("<html");
    while ((at = page.find('<', at)) != std::string::npos) {
        // Values may hold any character but quotes, and none is without them.
        std::size_t end = at;
        bool quoted = false;
        for (; end < page.size() && (quoted || page[end] != '>'); ++end) {
            if (page[end] == '<' && end > at) {
                return "a tag inside of a tag: " + page.substr(at, 80);
            }
            if (!quoted && end > 0 && page[end - 1] == '=' && page[end] != '"') {
                return "a value without quotes: " + page.substr(at, 80);
            }
            quoted = quoted != (page[end] == '"');
        }
        if (end == page.size()) {
            return "a tag without an end: " + page.substr(at, 80);
        }
        const bool closes = page[at + 1] == '/', empty = page[end - 1] == '/';
        const std::size_t first = at + (closes ? 2 : 1);
        const std::string name = page.substr(first, page.find_first_of(" />\n", first) - first);
        if (closes) {
            if (open.empty() || open.back() != name) {
                return "</" + name + "> closes <" + (open.empty() ? "" : open.back()) + ">";
            }
            open.pop_back();
        } else if (!empty && without_end.find(name) == without_end.end()) {
            open.push_back(name);
        }
        at = end;
        if (!closes && raw.find(name) != raw.end()) {
            at = page.find("</" + name + ">", at);
        }
    }
    return open.empty() ? "" : "<" + open.back() + "> is never closed";
}

class ReportMarkup : public HeptadProcess {
protected:
    void expect_good_page(const std::string& name) {
        const std::string page = read(name);
        EXPECT_EQ(wrong_markup(page), "");
        EXPECT_EQ(page.rfind("<!doctype html>", 0), 0U);
        for (const char* part : {"http:", "https:", "src=", "@import", "url(", "nan", "inf%"}) {
            EXPECT_EQ(page.find(part), std::string::npos) << part;
        }
        // Every picture says in words what it shows.
        for (std::size_t at = 0; (at = page.find("<svg", at)) != std::string::npos; ++at) {
            const std::string tag = page.substr(at, page.find('>', at) - at);
            EXPECT_TRUE(tag.find("aria-label=\"") != std::string::npos || tag.find("aria-hidden") != std::string::npos)
                << tag;
        }
        const std::size_t headline = page.find("<h1>") + 4;
        EXPECT_NE(page[headline], '<');
    }
};

TEST_F(ReportMarkup, the_check_finds_what_is_wrong) {
    EXPECT_EQ(wrong_markup("<html><p class=\"a\">1 &lt; 2<br></p></html>"), "");
    for (const char* wrong : {"<html><p></html>", "<html><p class=a></p></html>", "<html><p></b></p></html>",
                              "<html><p", "<html><p title=\"<b>\"></p></html>", "<html>"}) {
        EXPECT_NE(wrong_markup(wrong), "") << wrong;
    }
}

TEST_F(ReportMarkup, every_result_file_makes_a_page_and_all_of_them_one) {
    std::vector<std::string> all{"report", "-o", "all.html"};
    for (const auto& entry : std::filesystem::recursive_directory_iterator(HEPTAD_RESULTS)) {
        if (entry.path().extension() != ".json") {
            continue;
        }
        SCOPED_TRACE(entry.path().string());
        std::ifstream file(entry.path());
        if (!nlohmann::json::parse(file).contains("results")) {
            continue;  // of `heptad tune`, and of programs beside heptad
        }
        heptad_ok({"report", entry.path().string(), "-o", "one.html"});
        expect_good_page("one.html");
        all.push_back(entry.path().string());
    }
    ASSERT_GT(all.size(), 50U);
    heptad_ok(all);
    expect_good_page("all.html");
}

TEST_F(ReportMarkup, texts_that_look_like_markup_stay_texts) {
    const std::string bad = "\"><script>alert(1)</script>&<b a='\x01";
    nlohmann::json machine, record;
    for (const char* key : {"cpu", "device", "commit", "command", "date"}) {
        machine[key] = bad;
    }
    machine["cores"] = 2;
    machine["libraries"] = {{{"name", bad}, {"version", bad}, {"core", bad}}};
    for (const char* key : {"suite", "type", "variant", "algorithm", "vendor", "accuracy", "binds"}) {
        record[key] = bad;
    }
    record.update({{"m", 64},
                   {"k", 64},
                   {"n", 64},
                   {"ratio", 2},
                   {"heptad_s", 1},
                   {"vendor_s", 2},
                   {"wall_s", 1},
                   {"joules", 1},
                   {"vendor_joules", 2},
                   {"error", 1},
                   {"vendor_error", 1}});
    record["MM"] = {{"busy_s", 1}, {"amount", 1}};
    nlohmann::json results;
    for (const char* plan :
         {"", "plan 8x8x8 f32 levels=", "bits gf2 8 8 8 algorithm ", "power 2, bits gf2 leaf ", "x="}) {
        record["plan"] = plan + bad + " arithmetic=residues:" + bad + " core=1x2x3 fringe-leaf=" + bad + " leaf=" + bad;
        record["n"] = 64 + results.size();
        record["m"] = record["k"] = record["n"];
        results.push_back(record);
    }
    write("bad.json", nlohmann::json{{"machine", machine}, {"results", results}}.dump());
    write("trace.json", nlohmann::json{{"traceEvents", {{{"name", bad}, {"ph", "X"}, {"ts", 0}, {"dur", 1}}}}}.dump());
    heptad_ok({"report", "bad.json", "trace.json", "bad.json", "-o", "r.html"});
    expect_good_page("r.html");
    EXPECT_EQ(read("r.html").find("<script>alert"), std::string::npos);
}

TEST_F(ReportMarkup, figures_that_make_no_sense_are_left_out) {
    nlohmann::json results;
    for (const nlohmann::json& odd :
         std::vector<nlohmann::json>{-1, 0, 1e300, 1e-300, "text", nullptr, {1}, {{"a", 1}}}) {
        for (const char* key : {"m", "n", "ratio", "heptad_s", "error_ratio", "error", "joules", "vendor_joules",
                                "wall_s", "workspace_bytes", "plan", "type", "levels", "bound_s", "MM", "vendor_s"}) {
            nlohmann::json record{
                {"type", "f32"}, {"m", 8},     {"k", 8},           {"n", 8},      {"vendor", "blis"},   {"vendor_s", 2},
                {"heptad_s", 1}, {"ratio", 2}, {"error_ratio", 1}, {"joules", 1}, {"vendor_joules", 1}, {"wall_s", 1}};
            record["MM"] = {{"busy_s", odd}, {"amount", odd}};
            record[key] = odd;
            results.push_back(record);
            record["n"] = record["m"] = record["k"] = 16;
            record[key] = odd;
            results.push_back(record);
        }
    }
    write(
        "odd.json",
        nlohmann::json{{"machine", {{"libraries", {1, {{"name", 2}}}}, {"cores", "x"}}}, {"results", results}}.dump());
    heptad_ok({"report", "odd.json", "-o", "r.html"});
    expect_good_page("r.html");
}

}  // namespace
}  // namespace heptad::testing
