// heptad mul from file to file, as a user runs it: matrices far larger than --memory, kills and interruptions at any
// moment, a full disk, and inputs that lie.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
#include <csignal>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <random>
#include <set>
#include <thread>

#include "cli/random_kills.hpp"

namespace heptad::testing {
namespace {

namespace fs = std::filesystem;

class Files : public RandomKills {
protected:
    /// Pieces need a file with a name.
    void expect_refused_in_pieces(const std::string& output) {
        const Outcome outcome = heptad({"mul", "A.npy", "B.npy", "-o", output, "--overlap", "on"});
        EXPECT_EQ(outcome.exit_code, 3);
        EXPECT_EQ(outcome.out, "");
        EXPECT_NE(outcome.err.find("piece by piece"), std::string::npos) << outcome.err;
    }
};

TEST_F(Files, product_in_little_memory_equals_the_definition) {
    const TestMatrix a = integers(300, 210, 1), b = integers(210, 260, 2), c0 = integers(300, 260, 3);
    for (const char* dtype : {"<f4", "<f8", "<i4"}) {
        for (const bool fortran : {false, true}) {
            write_matrix("A.npy", a, dtype, fortran);
            write_matrix("B.npy", b, dtype);
            write_matrix("C0.npy", c0, dtype, fortran);
            const nlohmann::json said =
                heptad_json({"mul", "A.npy", "B.npy", "-o", "C.npy", "--memory", "150K", "--verify"});
            EXPECT_GT(said["tiles"], 1);
            EXPECT_EQ(said["verified"], true);
            EXPECT_EQ(read_matrix("C.npy"), product(a, b));
            heptad_ok({"mul", "A.npy", "B.npy", "-o", "C.npy", "--memory", "150K", "--beta", "2", "--add", "C0.npy"});
            EXPECT_EQ(read_matrix("C.npy"), product(a, b, 1, 2, c0));
            heptad_ok({"mul", "A.npy", "B.npy", "-o", "C0.npy", "--memory", "150K", "--beta", "-1", "--add", "C0.npy",
                       "--overlap", "off"});
            EXPECT_EQ(read_matrix("C0.npy"), product(a, b, 1, -1, c0));
        }
    }
    EXPECT_EQ(folder_contents().size(), 4U) << "something was left behind";
}

TEST_F(Files, raw_files_are_multiplied_in_memory_and_from_file_to_file) {
    const TestMatrix a = integers(90, 70, 1), b = integers(70, 80, 2);
    write("A.bin", npy_file(a, "<f4").substr(128));
    write_matrix("B.npy", b);
    ASSERT_EQ(fs::file_size(folder_ / "A.bin"), 90U * 70 * 4);
    heptad_ok({"mul", "A.bin", "B.npy", "-o", "C.npy", "--raw-a", "f32:90x70"});
    EXPECT_EQ(read_matrix("C.npy"), product(a, b));
    heptad_ok({"mul", "A.bin", "B.npy", "-o", "C.npy", "--raw-a", "f32:90x70", "--memory", "30K"});
    EXPECT_EQ(read_matrix("C.npy"), product(a, b));
    fs::remove(folder_ / "C.npy");
    for (const char* memory : {"30K", "30M"}) {
        heptad_fails(3, {"mul", "A.bin", "B.npy", "-o", "C.npy", "--raw-a", "f32:90x71", "--memory", memory});
        heptad_fails(2, {"mul", "A.bin", "B.npy", "-o", "C.npy", "--raw-a", "90x70", "--memory", memory});
        heptad_fails(2, {"mul", "A.bin", "B.npy", "-o", "C.npy", "--raw-a", "f31:90x70", "--memory", memory});
    }
}

TEST_F(Files, trace_is_json_with_the_stages) {
    random_inputs(200, 200, 200);
    heptad_ok({"mul", "A.npy", "B.npy", "-o", "C.npy", "--memory", "150K", "--trace", "t.json"});
    const nlohmann::json trace = nlohmann::json::parse(read("t.json"), nullptr, false);
    ASSERT_TRUE(trace.is_object());
    std::set<std::string> names;
    for (const auto& event : trace["traceEvents"]) {
        if (event["ph"] == "X") {
            names.insert(event["name"]);
            EXPECT_GE(event["dur"], 0);
        }
    }
    EXPECT_EQ(names, (std::set<std::string>{"DR", "MM", "DW"}));
}

TEST_F(Files, trace_that_cannot_be_written_or_replaces_a_matrix_is_refused_before_the_product) {
    random_inputs(100, 100, 100);
    fs::copy_file(folder_ / "A.npy", folder_ / "C0.npy");
    fs::create_symlink("B.npy", folder_ / "link.json");
    const std::string a = read("A.npy"), b = read("B.npy"), c0 = read("C0.npy");
    const auto mul = [](const char* trace) {
        return std::vector<std::string>{"mul",   "A.npy",  "B.npy",    "-o",  "C.npy",   "--beta", "1",
                                        "--add", "C0.npy", "--memory", "40K", "--trace", trace};
    };
    for (const char* trace : {"A.npy", "./B.npy", "C0.npy", "link.json", "C.npy", "C.npy.partial", "C.npy.journal"}) {
        heptad_fails(2, mul(trace));
    }
    heptad_fails(3, mul("none/t.json"));
    EXPECT_EQ(read("A.npy"), a);
    EXPECT_EQ(read("B.npy"), b);
    EXPECT_EQ(read("C0.npy"), c0);
    EXPECT_FALSE(exists("C.npy"));
}

TEST_F(Files, report_draws_timelines_and_result_files) {
    random_inputs(200, 200, 200);
    heptad_ok({"mul", "A.npy", "B.npy", "-o", "C.npy", "--memory", "150K", "--trace", "t.json"});
    write("r.json",
          R"({"machine": {"cpu": "a<b", "cores": 2}, "results": [{"suite": "files", "type": "f32", "m": 1, "k": 2,
        "n": 3, "vendor": "none", "vendor_s": 2.0, "heptad_s": 1.0, "ratio": 2.0}]})");
    heptad_ok({"report", "t.json", "r.json", "-o", "page.html"});
    const std::string page = read("page.html");
    for (const char* part : {"class=\"track\"", "DR: ", "MM: ", "DW: ", "a&lt;b", "2.0×"}) {
        EXPECT_NE(page.find(part), std::string::npos) << part;
    }
    fs::remove(folder_ / "page.html");
    write("empty.json", "{}");
    write("text.json", "not JSON");
    write("odd.json", R"({"results": [1]})");
    write("no-stage.json", R"({"traceEvents": [{"ph": "X"}]})");
    write("no-objects.json", R"({"traceEvents": [1, "X", null, [2]]})");
    write("no-words.json",
          R"({"traceEvents": [{"ph": 1, "ts": 1, "dur": 1}, {"ph": "X", "name": 7, "ts": 1, "dur": 1}]})");
    for (const char* bad :
         {"empty.json", "text.json", "odd.json", "no-stage.json", "no-objects.json", "no-words.json", "missing.json"}) {
        heptad_fails(3, {"report", bad, "-o", "page.html"});
    }
    heptad_fails(2, {"report", "-o", "page.html"});
}

TEST_F(Files, resident_memory_stays_within_the_limit_and_64_mib) {
    random_inputs(4096, 4096, 4096);  // three matrices of 64 MiB
    for (const std::int64_t mebibytes : {48, 96}) {
        const nlohmann::json said = nlohmann::json::parse(
            long_run({"mul", "A.npy", "B.npy", "-o", "C.npy", "--memory", std::to_string(mebibytes) + "M", "--json"}));
        EXPECT_LE(said["peak_resident_bytes"], (mebibytes + 64) << 20) << said["file_plan"];
        EXPECT_GT(said["tiles"], 0);
    }
}

TEST_F(Files, reported_peak_is_that_of_the_run_and_not_of_the_program_that_started_it) {
    random_inputs(300, 300, 300);
    const std::vector<char> of_the_parent(std::size_t{400} << 20, 'x');  // a child counts it until it has a program
    const nlohmann::json said = heptad_json({"mul", "A.npy", "B.npy", "-o", "C.npy", "--memory", "150K"});
    EXPECT_EQ(of_the_parent.back(), 'x');
    EXPECT_LT(said["peak_resident_bytes"], 250 << 20);
    EXPECT_GT(said["peak_resident_bytes"], 1 << 20);
    EXPECT_LE(said["resident_at_start_bytes"], said["peak_resident_bytes"]);
}

TEST_F(Files, names_with_line_ends_are_one_line_of_text_and_survive) {
    const TestMatrix a = integers(300, 210, 1), b = integers(210, 260, 2);
    write_matrix("A\n\\.npy", a);
    write_matrix("B.npy", b);
    for (const char* overlap : {"on", "off"}) {
        const std::string said = heptad_ok({"mul", "A\n\\.npy", "B.npy", "-o", "C\n.npy", "--memory", "150K",
                                            "--resume", "--verify", "--overlap", overlap});
        EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 3) << said;  // the name stands in the first of three
        EXPECT_EQ(said.rfind("C\\n.npy: ", 0), 0U) << said;
        EXPECT_EQ(read_matrix("C\n.npy"), product(a, b));
    }
    const std::string said = heptad_ok({"mul", "A\n\\.npy", "B.npy", "-o", "D\n.npy"});
    EXPECT_EQ(said.rfind("D\\n.npy: ", 0), 0U) << said;
    EXPECT_EQ(heptad_json({"mul", "A\n\\.npy", "B.npy", "-o", "C\n.npy", "--memory", "150K"})["output"], "C\n.npy");
    heptad_fails(3, {"mul", "A\n\\.npy", "missing\n.npy", "-o", "C\n.npy"});
    heptad_fails(3, {"mul", "A\n\\.npy", "B.npy", "-o", "none\n/C.npy", "--memory", "150K"});
}

TEST_F(Files, damaged_journal_is_said_and_nothing_starts_over) {
    random_inputs(300, 300, 300);
    const std::vector<std::string> words{"mul", "A.npy", "B.npy", "-o", "C.npy", "--memory", "150K", "--resume"};
    write("C.npy.partial", "what hours of work left");
    for (const char* journal : {"", "x\n", "heptad-journal 1 #0123456789abcdef\n"}) {
        write("C.npy.journal", journal);
        const std::string said = heptad_fails(3, words);
        EXPECT_NE(said.find("damaged at line 1"), std::string::npos) << said;
        EXPECT_NE(said.find("without --resume"), std::string::npos) << said;
    }
}

TEST_F(Files, products_without_elements_go_from_file_to_file) {
    for (const auto& [m, k, n] : {std::array{0, 3, 4}, std::array{3, 0, 4}, std::array{3, 4, 0}}) {
        const TestMatrix a = integers(m, k, 1), b = integers(k, n, 2), c0 = integers(m, n, 3);
        write_matrix("A.npy", a);
        write_matrix("B.npy", b);
        write_matrix("C0.npy", c0);
        for (const std::vector<std::string>& way : {std::vector<std::string>{"--resume"},
                                                    {"--overlap", "on"},
                                                    {"--overlap", "off", "--verify"},
                                                    {"--trace", "t.json"},
                                                    {"--host-levels", "1", "--resume"},
                                                    {"--device", "cpu:2", "--resume"}}) {
            std::vector<std::string> words{"mul", "A.npy", "B.npy", "-o", "C.npy"};
            words.insert(words.end(), way.begin(), way.end());
            EXPECT_EQ(heptad_json(words)["tiles"], 0) << way[0];
            EXPECT_EQ(read_matrix("C.npy"), product(a, b));
            words.insert(words.end(), {"--beta", "2", "--add", "C0.npy"});
            heptad_ok(words);
            EXPECT_EQ(read_matrix("C.npy"), product(a, b, 1, 2, c0));
        }
    }
    for (const auto& [a, b] : {std::pair{"0x40", "40x9"}, std::pair{"9x0", "0x30"}}) {
        heptad_ok({"gen", "bits", "--shape", a, "-o", "A.pbm"});
        heptad_ok({"gen", "bits", "--shape", b, "-o", "B.pbm"});
        heptad_ok({"mul", "A.pbm", "B.pbm", "-o", "whole.pbm", "--type", "gf2"});
        heptad_ok({"mul", "A.pbm", "B.pbm", "-o", "C.pbm", "--type", "gf2", "--resume"});
        EXPECT_EQ(read("C.pbm"), read("whole.pbm")) << a;
    }
}

TEST_F(Files, result_on_standard_output_is_data_alone) {
    const TestMatrix a = integers(30, 21, 1), b = integers(21, 26, 2);
    write_matrix("A.npy", a);
    write_matrix("B.npy", b);
    for (const char* name : {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
        for (const bool json : {false, true}) {
            std::vector<std::string> words{"mul", "A.npy", "B.npy", "-o", name, "--verify"};
            if (json) {
                words.emplace_back("--json");
            }
            const Outcome outcome = heptad(words);
            EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
            EXPECT_EQ(parse_npy(outcome.out), product(a, b)) << name;
            EXPECT_NE(outcome.err.find(json ? "\"plan\"" : "multiplied in"), std::string::npos) << outcome.err;
        }
        expect_refused_in_pieces(name);
    }
    const Outcome generated = heptad({"gen", "identity", "--shape", "3x3", "-o", "-"});
    EXPECT_EQ(parse_npy(generated.out), (TestMatrix{3, 3, {1, 0, 0, 0, 1, 0, 0, 0, 1}}));
    const Outcome failed = heptad({"mul", "A.npy", "missing.npy", "-o", "-", "--json"});
    EXPECT_EQ(failed.exit_code, 3);
    EXPECT_EQ(failed.out, "");
    EXPECT_EQ(folder_contents().size(), 2U) << "something was left behind";
}

TEST_F(Files, plan_tells_bytes_memory_and_what_binds) {
    const nlohmann::json plan =
        heptad_json({"plan", "32768", "32768", "32768", "--memory", "2G", "--files", "--disk", "2G"});
    EXPECT_LE(plan["moved_bytes"].get<double>(), 1.03 * plan["reference_bytes"].get<double>());
    EXPECT_GE(plan["moved_bytes"], plan["lower_bound_bytes"]);
    EXPECT_LE(plan["used_bytes"], plan["memory_bytes"]);
    // Rates are decimal: 32768 x 32768 f32 are 2^32 bytes, at 2 * 10^9 bytes a second.
    EXPECT_NEAR(plan["write_s"].get<double>(), std::ldexp(1.0, 32) / 2e9, 0.01);
    const std::string text = heptad_ok({"plan", "4096", "4096", "4096", "--memory", "40M", "--files", "--disk", "2G"});
    EXPECT_EQ(plan["type"], "f32");
    EXPECT_EQ(plan["m"], 32768);
    EXPECT_EQ(plan["predicted_s"], plan["wall_s"]);
    EXPECT_GT(plan["error_bound"].get<double>(), 0);
    EXPECT_TRUE(plan["workspace_bytes"].is_number_integer());
    for (const char* word : {"lower bound", "DR", "MM", "DW", "bottleneck", "error bound"}) {
        EXPECT_NE(text.find(word), std::string::npos) << word;
    }
    heptad_fails(4, {"plan", "4096", "4096", "4096", "--memory", "1K", "--files", "--disk", "2G"});
    const nlohmann::json bits =
        heptad_json({"plan", "32768", "32768", "32768", "--type", "gf2", "--memory", "64M", "--files", "--disk", "2G"});
    EXPECT_LE(bits["moved_bytes"].get<double>(), 1.03 * bits["reference_bytes"].get<double>());
    EXPECT_LE(bits["used_bytes"], bits["memory_bytes"]);
    EXPECT_EQ(bits["error_bound"], 0);
}

TEST_F(Files, packed_bits_go_from_file_to_file_and_equal_the_product_in_memory) {
    heptad_ok({"gen", "bits", "--shape", "901x777", "--seed", "1", "-o", "A.pbm"});
    heptad_ok({"gen", "bits", "--shape", "777x1003", "--seed", "2", "-o", "B.pbm"});
    for (const char* type : {"gf2", "bool"}) {
        heptad_ok({"mul", "A.pbm", "B.pbm", "-o", "whole.pbm", "--type", type});
        const nlohmann::json run = heptad_json({"mul", "A.pbm", "B.pbm", "-o", "pieces.pbm", "--type", type, "--memory",
                                                "300K", "--verify", "--overlap", "on"});
        EXPECT_EQ(run["verified"], true);
        EXPECT_EQ(read("pieces.pbm"), read("whole.pbm"));
    }
    heptad_fails(2, {"mul", "A.pbm", "B.pbm", "-o", "C.pbm", "--type", "gf2", "--memory", "300K", "--overlap", "on",
                     "--device", "reference"});
    heptad_fails(3, {"mul", "A.pbm", "B.pbm", "-o", "C.png", "--type", "gf2", "--overlap", "on"});
    EXPECT_EQ(folder_contents().size(), 4U) << "something was left behind";
}

TEST_F(Files, packed_bits_are_multiplied_by_cores_as_devices_and_transposed_from_file_to_file) {
    heptad_ok({"gen", "bits", "--shape", "777x2901", "--seed", "1", "-o", "A.pbm"});
    heptad_ok({"gen", "bits", "--shape", "3003x777", "--seed", "2", "-o", "B.pbm"});
    for (const char* type : {"gf2", "bool"}) {
        heptad_ok({"mul", "A.pbm", "B.pbm", "-o", "whole.pbm", "--type", type, "--transpose-a", "--transpose-b"});
        for (const std::vector<std::string>& device : {std::vector<std::string>{"--device", "cpu:2"},
                                                       {"--device", "cpu:3", "--host-levels", "0"},
                                                       {"--device", "cpu"}}) {
            std::vector<std::string> words{"mul",   "A.pbm",    "B.pbm", "-o",       "pieces.pbm",    "--type",
                                           type,    "--memory", "400K",  "--verify", "--transpose-a", "--transpose-b",
                                           "--json"};
            words.insert(words.end(), device.begin(), device.end());
            const nlohmann::json run = heptad_json(words);
            EXPECT_EQ(run["verified"], true);
            EXPECT_GT(run["tiles"], 1);
            EXPECT_EQ(read("pieces.pbm"), read("whole.pbm")) << device[1];
        }
    }
    const nlohmann::json plan = heptad_json({"plan", "65536", "65536", "65536", "--type", "gf2", "--files", "--memory",
                                             "512M", "--disk", "1G", "--device", "cpu:2"});
    EXPECT_LE(plan["used_bytes"], plan["memory_bytes"]);
}

TEST_F(Files, cores_as_devices_and_levels_at_the_host_multiply_the_steps) {
    heptad_ok({"gen", "integer", "--shape", "401x303", "--low", "-4", "--high", "4", "-o", "A.npy"});
    heptad_ok({"gen", "integer", "--shape", "303x500", "--low", "-4", "--high", "4", "-o", "B.npy"});
    heptad_ok({"mul", "A.npy", "B.npy", "-o", "whole.npy"});
    for (const char* levels : {"0", "1"}) {
        heptad_ok({"mul", "A.npy", "B.npy", "-o", "C.npy", "--memory", "1M", "--overlap", "on", "--device", "cpu:2",
                   "--host-levels", levels});
        EXPECT_EQ(read("C.npy"), read("whole.npy"));
    }
}

TEST_F(Files, memory_too_small_for_anything_is_refused_before_anything_is_written) {
    random_inputs(100, 100, 100);
    const std::string said = heptad_fails(4, {"mul", "A.npy", "B.npy", "-o", "C.npy", "--memory", "1K"});
    EXPECT_NE(said.find("needs about"), std::string::npos) << said;
}

TEST_F(Files, killed_at_random_moments_it_resumes_to_the_same_bits) {
    survive_kills(8);
}

TEST_F(Files, interrupt_finishes_the_tile_keeps_the_journal_and_exits_130) {
    random_inputs(1500, 1500, 1500);
    // Plain loops and many tiles: long enough to be hit by a signal on any machine.
    const std::vector<std::string> words{"mul",      "A.npy", "B.npy",    "-o",        "C.npy",
                                         "--memory", "2M",    "--device", "reference", "--resume"};
    int interrupts = 0;
    for (int run = 0; run < 3 && !exists("C.npy"); ++run) {
        const Outcome outcome = heptad(words, [&](int process) {
            std::this_thread::sleep_for(std::chrono::milliseconds(700));
            kill(process, SIGINT);
        });
        if (outcome.exit_code == 130) {
            ++interrupts;
            EXPECT_NE(outcome.err.find("interrupted"), std::string::npos) << outcome.err;
            EXPECT_EQ(exists("C.npy.partial"), exists("C.npy.journal"));
        } else {
            EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
        }
    }
    EXPECT_GT(interrupts, 0);
}

TEST_F(Files, second_interrupt_ends_at_once) {
    random_inputs(2000, 2000, 2000);
    const Outcome outcome =
        heptad({"mul", "A.npy", "B.npy", "-o", "C.npy", "--memory", "20M", "--device", "reference", "--overlap", "on"},
               [&](int process) {
                   std::this_thread::sleep_for(std::chrono::milliseconds(400));
                   kill(process, SIGINT);
                   std::this_thread::sleep_for(std::chrono::milliseconds(200));
                   kill(process, SIGINT);
               });
    EXPECT_EQ(outcome.exit_code, 130);
    EXPECT_FALSE(exists("C.npy"));
}

TEST_F(Files, full_disk_is_known_at_the_start_and_nothing_is_lost) {
    const fs::path small = folder_ / "small";
    fs::create_directory(small);
    if (mount("tmpfs", small.c_str(), "tmpfs", 0, "size=256k") != 0) {
        GTEST_SKIP() << "this user may not mount a small file system";
    }
    random_inputs(300, 300, 300);
    write("small/C.npy", "old");
    const Outcome outcome = heptad({"mul", "A.npy", "B.npy", "-o", "small/C.npy", "--memory", "150K"});
    EXPECT_EQ(outcome.exit_code, 4) << outcome.err;
    EXPECT_NE(outcome.err.find("No space left"), std::string::npos) << outcome.err;
    EXPECT_EQ(read("small/C.npy"), "old");
    EXPECT_EQ(std::distance(fs::directory_iterator(small), fs::directory_iterator()), 1);
    EXPECT_EQ(umount(small.c_str()), 0);
}

TEST_F(Files, odd_places_are_refused_in_one_sentence) {
    random_inputs(100, 100, 100);
    fs::create_directory(folder_ / "folder");
    ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
    const auto mul = [](const std::string& a, const std::string& b, const std::string& c) {
        return std::vector<std::string>{"mul", a, b, "-o", c, "--memory", "40K"};
    };
    heptad_fails(3, mul("folder", "B.npy", "C.npy"));
    heptad_fails(3, mul("A.npy", "missing.npy", "C.npy"));
    heptad_fails(3, mul("A.npy", "B.npy", "folder"));
    heptad_fails(3, mul("A.npy", "B.npy", "folder/none/C.npy"));
    heptad_fails(3, mul("A.npy", "B.npy", "A.npy"));
    heptad_fails(3, mul("A.npy", "B.npy", "./B.npy"));
    heptad_fails(3, mul("A.npy", "B.npy", "/dev/null"));
    heptad_fails(3, mul("A.h5", "B.npy", "C.npy"));
    heptad_fails(3, mul("A.h5:/a", "B.npy", "C.npy"));
    heptad_fails(3, mul("pipe", "B.npy", "C.npy"));
    ASSERT_EQ(mkfifo((folder_ / "pipe.h5").c_str(), 0600), 0);
    heptad_fails(3, mul("pipe.h5:/a", "B.npy", "C.npy"));
    heptad_fails(3, mul("A.npy", "B.npy", "pipe"));
    if (geteuid() != 0) {
        fs::permissions(folder_ / "A.npy", fs::perms::none);
        EXPECT_EQ(heptad(mul("A.npy", "B.npy", "C.npy")).exit_code, 3);
    }
    heptad_fails(2, {"mul", "A.npy", "B.npy", "-o", "C.npy", "--overlap", "perhaps"});
}

TEST_F(Files, lying_headers_and_every_truncation_are_refused_without_much_memory) {
    const TestMatrix a = integers(60, 50, 1);
    write_matrix("B.npy", integers(50, 60, 2));
    const std::string whole = npy_file(a, "<f4");
    const auto refused = [&](const std::string& bytes) {
        write("A.npy", bytes);
        heptad_fails(3, {"mul", "A.npy", "B.npy", "-o", "C.npy", "--memory", "20K"});
    };
    for (const std::size_t length : {0U, 3U, 6U, 8U, 9U, 10U, 50U, 127U, 128U, 130U, 5000U}) {
        refused(whole.substr(0, length));
    }
    refused(whole + "x");
    const std::string data = whole.substr(128);
    for (const char* shape : {"(-60, 50)", "(9223372036854775807, 50)", "(9223372036854775808, 1)",
                              "(4294967296, 4294967296)", "(60, 51)", "(60,)", "(60, 50, 1)"}) {
        refused(npy_bytes(std::string("{'descr': '<f4', 'fortran_order': False, 'shape': ") + shape + ", }", data));
    }
    for (const char* dtype : {"|O", ">f4", "<c8", "<f8", "<i2"}) {
        refused(
            npy_bytes(std::string("{'descr': '") + dtype + "', 'fortran_order': False, 'shape': (60, 50), }", data));
    }
    refused(std::string("\x93NUMPY\x02\x00\xff\xff\xff\x7f", 12) + data);
}

}  // namespace
}  // namespace heptad::testing
