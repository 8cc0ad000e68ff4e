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

/// What is read: the page without its style, its script and its tags.
std::string shown(const std::string& page) {
    std::string text;
    for (std::size_t at = page.find("<body>"); at < page.size();) {
        const std::size_t tag = page.find('<', at), end = page.find('>', tag);
        if (page.compare(tag, 8, "<script>") == 0 || end == std::string::npos) {
            break;
        }
        text.append(page, at, tag - at).append(" ");
        at = end + 1;
    }
    return text;
}

TEST_F(Report, names_machine_libraries_command_and_every_figure) {
    const std::string page =
        page_of({{"machine", machine_}, {"results", {record(1024, 0.25, 0.125), record(2048, 1, 0.75)}}});
    for (const char* part : {"A processor, 2 cores", "A device", "blis 0.9.0 (zen)", "abc123", "heptad bench cpu",
                             "2.0\u00d7", "1.33\u00d7", "125 ms", "250 ms", "17.2 GFLOP/s", "blis&lt;1&gt;",
                             "plan of a &amp; b", "1.0e-07", "4.00 KiB", "Speed and error over n"}) {
        EXPECT_TRUE(contains(shown(page), part)) << part << " is missing in " << shown(page);
    }
    EXPECT_TRUE(contains(page, "<polyline"));
    EXPECT_FALSE(contains(shown(page), "energy"));
}

TEST_F(Report, one_size_alone_makes_no_line_and_no_vendor_no_ratio) {
    nlohmann::json alone = record(64, 0, 1);
    alone["vendor"] = "none";
    alone["joules"] = 12.5;
    const std::string page = page_of({{"machine", machine_}, {"results", {alone}}});
    EXPECT_FALSE(contains(page, "<polyline"));
    EXPECT_FALSE(contains(shown(page), "0.00\u00d7"));
    EXPECT_FALSE(contains(shown(page), "none"));
    EXPECT_TRUE(contains(shown(page), "12.5 J"));
    for (const char* key : {"vendor", "vendor_s", "vendor_error", "ratio"}) {
        alone[key] = nullptr;  // as `bench bits` writes it without M4RI
    }
    EXPECT_EQ(page_of({{"machine", machine_}, {"results", {alone}}}), page);
    EXPECT_TRUE(contains(page_of({{"results", nlohmann::json::array()}}), "<table>"));
}

TEST_F(Report, headline_says_how_much_and_from_where_on) {
    nlohmann::json odd = record(4095, 9, 1);
    nlohmann::json records{record(1024, 1, 1), record(2048, 2.5, 2), record(4096, 7, 2), odd};
    for (nlohmann::json& one : records) {
        one["vendor"] = "cublas";
    }
    // Libraries are poor at odd sizes: those say nothing of the best.
    EXPECT_TRUE(
        contains(page_of({{"results", records}}), "<h1>f32: up to 3.5 times as fast as cuBLAS, from n = 2048 on</h1>"));
    // Small sizes that are faster still are no part of what begins there.
    nlohmann::json small = records;
    small.push_back(record(16, 9, 1));
    EXPECT_TRUE(contains(page_of({{"results", small}}),
                         "<h1>f32: up to 3.5 times as fast as the fastest library, from n = 2048 on"));
    records[2] = record(4096, 0.5, 2);
    records[2]["vendor"] = "cublas";
    EXPECT_TRUE(
        contains(page_of({{"results", records}}), "<h1>f32: up to 1.25 times as fast as cuBLAS, at n = 2048</h1>"));
    records[1] = records[0];
    EXPECT_TRUE(contains(page_of({{"results", records}}), "<h1>f32: no faster than cuBLAS</h1>"));
}

TEST_F(Report, noise_and_products_of_the_library_are_no_gains) {
    nlohmann::json same = record(2048, 1.2, 1), noise = record(2048, 1.04, 1), own = record(2048, 1.2, 1);
    own["vendor"] = same["vendor"] = "torch";
    const std::string plan = "plan 2048x2048x2048 bf16 backend=cuda threads=1 levels=";
    same["plan"] = plan + "none leaf=cublas fringe-leaf=cublas core=2048x2048x2048";
    own["plan"] = plan + "winograd:parallel leaf=cublas fringe-leaf=cublas core=2048x2048x2048";
    EXPECT_TRUE(contains(page_of({{"results", {same}}}), "<h1>f32: no faster than torch</h1>"));
    EXPECT_TRUE(contains(shown(page_of({{"results", {same}}})), " as fast  f32 against torch"));
    EXPECT_TRUE(contains(page_of({{"results", {noise}}}), "<h1>f32: no faster than blis&lt;1&gt;</h1>"));
    EXPECT_TRUE(contains(page_of({{"results", {own}}}), "<h1>f32: 1.20 times as fast as torch, at n = 2048</h1>"));
    same["plan"] = "plan 8x8x8 f32 arithmetic=residues:7 levels=none leaf=cublas core=8x8x8";
    EXPECT_TRUE(contains(page_of({{"results", {same}}}), "<h1>f32: 1.20 times as fast as torch, at n = 2048</h1>"));
}

TEST_F(Report, of_several_machines_the_headline_names_its_own) {
    write("a.json", nlohmann::json{{"machine", machine_}, {"results", {record(1024, 2, 1)}}}.dump());
    machine_["device"] = "Another device";
    write("b.json", nlohmann::json{{"machine", machine_}, {"results", {record(1024, 3, 1)}}}.dump());
    heptad_ok({"report", "a.json", "b.json", "-o", "r.html"});
    const std::string text = shown(read("r.html"));
    EXPECT_TRUE(contains(text, "times as fast as blis&lt;1&gt;, at n = 1024 (Another device)")) << text;
    EXPECT_TRUE(contains(text, "2 machines"));
}

TEST_F(Report, rows_are_sorted_by_type_and_size_and_only_odd_points_have_a_legend) {
    nlohmann::json other = record(1024, 1, 1);
    other["type"] = "f64";
    const std::string text = shown(page_of({{"results", {record(4096, 2, 1), other, record(2048, 2, 1)}}}));
    const std::size_t table = text.rfind("size");
    const std::size_t first = text.find("n = 2048", table), second = text.find("n = 4096", table);
    EXPECT_LT(first, second);
    EXPECT_LT(second, text.find("n = 1024", table));
    EXPECT_TRUE(contains(text, "even n"));
    EXPECT_FALSE(contains(text, "odd n"));
}

TEST_F(Report, grades_have_a_headline_and_words_to_the_left) {
    const nlohmann::json good{{"type", "f32"}, {"product", "strict"}, {"grade", "A"}, {"growth", 1.25}};
    nlohmann::json poor = good;
    poor["grade"] = "below A";
    const std::string page =
        page_of({{"machine", machine_}, {"results", nlohmann::json::array()}, {"grades", {good, poor}}});
    EXPECT_TRUE(contains(page, "<h1>Grade A: 1 of 2 products</h1>"));
    EXPECT_TRUE(contains(page, R"(<th scope="col" class="text">grade</th>)"));
    EXPECT_TRUE(contains(page, R"(<td class="text" data-l="grade">below A</td>)"));
    EXPECT_TRUE(contains(page, R"(<td class="number" data-l="growth with n">1.25</td>)"));
}

TEST_F(Report, odd_sizes_are_marks_of_their_own_and_thin_shapes_no_part_of_a_curve) {
    nlohmann::json thin = record(2048, 1, 0.5);
    thin["k"] = 64;
    const std::string page = page_of({{"results", {record(1024, 1, 1), record(1023, 3, 1), record(2048, 2, 1), thin}}});
    const std::size_t line = page.find("<polyline points=\"", page.find("role=\"img\"")) + 18;
    const std::string points = page.substr(line, page.find('"', line) - line);
    EXPECT_EQ(std::count(points.begin(), points.end(), ','), 2) << points;
    EXPECT_TRUE(contains(page, "class=\"odd\""));
    EXPECT_TRUE(contains(page, "class=\"even\""));  // where both are as fast
    EXPECT_TRUE(contains(shown(page), "Thin shapes and single sizes"));
    EXPECT_TRUE(contains(shown(page), "2048 \u00d7 64 \u00d7 2048"));
}

TEST_F(Report, plans_are_trees_and_their_text_is_for_the_clipboard_only) {
    nlohmann::json planned = record(4096, 2, 1);
    planned["plan"] =
        "plan 4096x4096x4096 f32 backend=cuda threads=1 levels=winograd*winograd:parallel leaf=cublas "
        "fringe-leaf=cublas core=4096x4096x4096 accumulate=no workspace-bytes=1048576 predicted-s=0.25";
    const std::string page = page_of({{"results", {planned}}}), text = shown(page);
    EXPECT_FALSE(contains(text, "levels="));
    EXPECT_FALSE(contains(text, "workspace-bytes"));
    for (const char* part : {"winograd*winograd \u203a cublas", "49 products of 1024 \u00d7 1024 \u00d7 1024",
                             "leaf cublas, 49 times", "workspace 1.00 MiB", "predicted 250 ms"}) {
        EXPECT_TRUE(contains(text, part)) << part << " is missing in " << text;
    }
    EXPECT_TRUE(contains(page, "data-plan=\"plan 4096x4096x4096 f32"));
    // A name that would be that of a file is not looked up.
    planned["plan"] = "plan 8x8x8 f32 levels=./secret.alg:serial leaf=heptad core=8x8x8";
    EXPECT_TRUE(contains(shown(page_of({{"results", {planned}}})), "./secret.alg, serial"));
}

TEST_F(Report, powers_and_densities_of_bits_are_no_part_of_the_curve_of_their_type) {
    nlohmann::json small = record(1024, 1, 0.5), large = record(2048, 1, 0.25), power = record(2048, 1, 2),
                   sparse = record(1024, 1, 0.5);
    for (nlohmann::json* bits : {&small, &large, &power, &sparse}) {
        bits->update({{"type", "gf2"}, {"vendor", "m4ri"}});
    }
    power["vendor"] = "3 products";
    sparse["plan"] = "bits gf2 1024 1024 1024 density 0.0185";
    const std::string text = shown(page_of({{"results", {small, large, power, sparse}}}));
    EXPECT_TRUE(contains(text, "gf2: up to 4.0 times as fast as M4RI, from n = 1024 on")) << text;
    EXPECT_TRUE(contains(text, "n = 2048, A^8")) << text;
    EXPECT_TRUE(contains(text, "n = 1024, density 0.0185")) << text;
}

TEST_F(Report, stages_of_file_runs_and_energy_are_drawn_where_they_were_measured) {
    nlohmann::json run = record(8192, 2, 1);
    run.update({{"joules", 5}, {"vendor_joules", 1024}, {"wall_s", 4}, {"binds", "disk"}});
    run["DR"] = {{"busy_s", 2}, {"amount", 4e9}};
    const std::string text = shown(page_of({{"results", {run}}}));
    for (const char* part : {"DR: disk read", "2 s, 2 GB/s", "bottleneck: disk", "5 J instead of 1.02 kJ"}) {
        EXPECT_TRUE(contains(text, part)) << part << " is missing in " << text;
    }
}

TEST_F(Report, roofline_takes_its_bandwidth_from_a_tuning_file) {
    nlohmann::json measured = record(4096, 2, 1);
    measured["vendor"] = "blis";
    machine_["device"] = "cpu";
    write("r.json", nlohmann::json{{"machine", machine_}, {"results", {measured}}}.dump());
    write("tune.json", R"({"machines": [{"cpu": "A processor", "combine_bytes_per_s": 2e10}]})");
    heptad_ok({"report", "r.json", "-o", "without.html"});
    heptad_ok({"report", "r.json", "tune.json", "-o", "with.html"});
    EXPECT_FALSE(contains(shown(read("without.html")), "Roofline"));
    EXPECT_TRUE(contains(shown(read("with.html")), "memory 0.02 TB/s"));
    heptad_fails(3, {"report", "tune.json", "-o", "r.html"});
}

TEST_F(Report, timelines_are_drawn) {
    const std::string page = page_of({{"traceEvents",
                                       {{{"name", "DR"}, {"ph", "X"}, {"ts", 0}, {"dur", 5e5}},
                                        {{"name", "MM"}, {"ph", "X"}, {"ts", 5e5}, {"dur", 5e5}}}}});
    EXPECT_TRUE(contains(page, "Timeline"));
    EXPECT_TRUE(contains(page, ">MM: multiply<"));
    EXPECT_TRUE(contains(page, "1.00 s"));
}

TEST_F(Report, what_is_no_result_is_refused) {
    write("text.json", "not JSON");
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
    write("A.npy", "\x93NUMPY");
    EXPECT_TRUE(contains(heptad_fails(3, {"report", "A.npy", "-o", "r.html"}), "(this is not JSON, as byte 1 shows)"));
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
