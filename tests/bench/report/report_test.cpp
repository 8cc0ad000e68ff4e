// Pages of result files and timelines.
#include "cli/heptad_process.hpp"

namespace heptad::testing {
namespace {

class Report : public HeptadProcess {
protected:
    static nlohmann::json record(std::int64_t n, double vendor_s, double heptad_s) {
        return {{"suite", "cpu"},
                {"type", "f32"},
                {"m", n},
                {"k", n},
                {"n", n},
                {"vendor", "blis<1>"},
                {"vendor_s", vendor_s},
                {"heptad_s", heptad_s},
                {"ratio", vendor_s / heptad_s},
                {"error", 1e-7},
                {"workspace_bytes", 4096},
                {"plan", "plan of a & b"}};
    }
    std::string page_of(const nlohmann::json& file) {
        write("r.json", file.dump());
        EXPECT_EQ(heptad_json({"report", "r.json", "-o", "r.html"})["output"], "r.html");
        return read("r.html");
    }
    nlohmann::json machine_{
        {"cpu", "A processor"},          {"cores", 2},
        {"device", "A device"},          {"commit", "abc123"},
        {"command", "heptad bench cpu"}, {"libraries", {{{"name", "blis"}, {"version", "0.9.0"}, {"core", "zen"}}}}};
};

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST_F(Report, names_machine_libraries_command_and_every_figure) {
    const std::string page =
        page_of({{"machine", machine_}, {"results", {record(1024, 0.25, 0.125), record(2048, 1, 0.75)}}});
    for (const char* part : {"A processor, 2 cores", "A device", "blis 0.9.0 (zen)", "abc123", "heptad bench cpu",
                             "<b>2.000</b>", "<b>1.333</b>", "0.125", "blis&lt;1&gt;", "plan of a &amp; b", "1.00e-07",
                             "4096", "Ratio over n", "<polyline", "<th>error ratio</th>"}) {
        EXPECT_TRUE(contains(page, part)) << part << " is missing in " << page;
    }
    EXPECT_FALSE(contains(page, "joules"));
}

TEST_F(Report, one_size_alone_makes_no_line_and_no_vendor_no_ratio) {
    nlohmann::json alone = record(64, 0, 1);
    alone["vendor"] = "none";
    alone["joules"] = 12.5;
    const std::string page = page_of({{"machine", machine_}, {"results", {alone}}});
    EXPECT_FALSE(contains(page, "<polyline"));
    EXPECT_FALSE(contains(page, "<b>0.000</b>"));
    EXPECT_FALSE(contains(page, "none"));
    EXPECT_TRUE(contains(page, "12.5"));
    for (const char* key : {"vendor", "vendor_s", "vendor_error", "ratio"}) {
        alone[key] = nullptr;  // as `bench bits` writes it without M4RI
    }
    EXPECT_EQ(page_of({{"machine", machine_}, {"results", {alone}}}), page);
    EXPECT_TRUE(contains(page_of({{"results", nlohmann::json::array()}}), "<table>"));
}

TEST_F(Report, timelines_are_drawn) {
    const std::string page = page_of({{"traceEvents",
                                       {{{"name", "DR"}, {"ph", "X"}, {"ts", 0}, {"dur", 5e5}},
                                        {{"name", "MM"}, {"ph", "X"}, {"ts", 5e5}, {"dur", 5e5}}}}});
    EXPECT_TRUE(contains(page, "Timeline"));
    EXPECT_TRUE(contains(page, ">MM<"));
    EXPECT_TRUE(contains(page, "1.00 s"));
}

TEST_F(Report, what_is_no_result_is_refused) {
    write("text.json", "no JSON");
    write("list.json", "[1, 2]");
    write("other.json", "{\"numbers\": [1]}");
    write("record.json", "{\"results\": [1]}");
    write("empty.json", "");
    write("trace.json", "{\"traceEvents\": []}");
    std::filesystem::create_directory(folder_ / "folder.json");
    for (const char* name : {"text.json", "list.json", "other.json", "record.json", "empty.json", "trace.json",
                             "folder.json", "missing.json"}) {
        SCOPED_TRACE(name);
        EXPECT_TRUE(contains(heptad_fails(3, {"report", name, "-o", "r.html"}), name));
    }
    write("good.json", "{\"results\": []}");
    heptad_fails(3, {"report", "good.json", "-o", "nowhere/r.html"});
    heptad_fails(2, {"report", "good.json"});
    heptad_fails(2, {"report", "-o", "r.html"});
}

TEST_F(Report, a_report_does_not_replace_what_it_reports) {
    write("r.json", "{\"machine\": {}, \"results\": []}");
    std::filesystem::create_symlink("r.json", folder_ / "link.html");
    heptad_fails(2, {"report", "r.json", "-o", "r.json"});
    heptad_fails(2, {"report", "r.json", "-o", "./r.json"});
    heptad_fails(2, {"report", "r.json", "-o", "link.html"});
    heptad_ok({"report", "r.json", "-o", "r.html"});
    heptad_ok({"report", "r.json", "-o", "r.html"});
}

TEST_F(Report, deeply_nested_json_is_refused) {
    constexpr std::size_t kDeep = 1000000;
    write("results.json", "{\"results\": [" + std::string(kDeep, '[') + std::string(kDeep, ']') + "]}");
    EXPECT_TRUE(contains(heptad_fails(3, {"report", "results.json", "-o", "r.html"}), "deep"));
}

}  // namespace
}  // namespace heptad::testing
