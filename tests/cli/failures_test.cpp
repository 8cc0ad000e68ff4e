// Everything that can be wrong from outside: the exit code of DESIGN section 5, one sentence on standard error, and a
// folder that is as before.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "cli/heptad_process.hpp"

namespace heptad::testing {
namespace {

class Failures : public HeptadProcess {
protected:
    void SetUp() override {
        HeptadProcess::SetUp();
        write_matrix("A.npy", integers(8, 6, 1));
        write_matrix("B.npy", integers(6, 5, 2));
    }
};

TEST_F(Failures, wrong_usage_exits_2) {
    write("plan.txt", heptad_ok({"plan", "2", "2", "2"}));  // of a whole product
    const std::vector<std::vector<std::string>> lines{
        {"frobnicate"},
        {"--frobnicate"},
        {"mul"},
        {"mul", "A.npy"},
        {"mul", "A.npy", "B.npy"},
        {"mul", "A.npy", "B.npy", "-o"},
        {"mul", "A.npy", "B.npy", "more.npy", "-o", "C.npy"},
        {"mul", "A.npy", "B.npy", "-o", "C.npy", "--frobnicate"},
        {"mul", "A.npy", "B.npy", "-o", "C.npy", "--resumed"},
        {"mul", "A.npy", "B.npy", "-o", "C.npy", "--device", "gpu"},
        {"mul", "A.npy", "B.npy", "-o", "C.npy", "--device", "cuda:"},
        {"mul", "A.npy", "B.npy", "-o", "C.npy", "--device", "cuda:first"},
        {"mul", "A.npy", "B.npy", "-o", "C.npy", "--type", "f128"},
        {"mul", "A.npy", "B.npy", "-o", "C.npy", "--algorithm", "nobody"},
        {"mul", "A.npy", "B.npy", "-o", "C.npy", "--levels", "-1"},
        {"mul", "A.npy", "B.npy", "-o", "C.npy", "--levels", "two"},
        {"mul", "A.npy", "B.npy", "-o", "C.npy", "--levels", "1000"},
        {"mul", "A.npy", "B.npy", "-o", "C.npy", "--accuracy", "exactly"},
        {"mul", "A.npy", "B.npy", "-o", "C.npy", "--mode", "sideways"},
        {"mul", "A.npy", "B.npy", "-o", "C.npy", "--device", "cpu", "--mode", "fused"},
        {"mul", "A.npy", "B.npy", "-o", "C.npy", "--leaf", "nobody"},
        {"mul", "A.npy", "B.npy", "-o", "C.npy", "--threads", "0"},
        {"mul", "A.npy", "B.npy", "-o", "C.npy", "--alpha", "nan"},
        {"mul", "A.npy", "B.npy", "-o", "C.npy", "--alpha", "1,5"},
        {"mul", "A.npy", "B.npy", "-o", "C.npy", "--beta", "1"},
        {"mul", "A.npy", "B.npy", "-o", "C.npy", "--add", "A.npy"},
        {"mul", "A.npy", "B.npy", "-o", "C.npy", "--memory", "lots"},
        {"mul", "A.npy", "B.npy", "-o", "C.npy", "--memory", "8Q"},
        {"mul", "A.npy", "B.npy", "-o", "C.npy", "--memory", "-8G"},
        {"mul", "A.npy", "B.npy", "-o", "C.npy", "--plan", "p.txt", "--levels", "1"},
        {"mul", "A.npy", "B.npy", "-o", "C.npy", "--plan", "p.txt", "--threads", "1"},
        {"mul", "A.npy", "B.npy", "-o", "C.npy", "--levels", "1", "--levels", "2"},
        {"mul", "A.npy", "B.npy", "-o", "C.npy", "-o", "D.npy"},
        {"mul", "A.npy", "B.npy", "-o", "C.npy", "--type", ""},
        {"mul", "A.npy", "B.npy", "-o", "C.npy", "--memory="},
        {"mul", "", "B.npy", "-o", "C.npy"},
        {"mul", "A.npy", "B.npy", "-o", "C.npy", "--memory", "99999999999G"},
        {"mul", "A.npy", "B.npy", "-o", "C.npy", "--memory", "nan"},
        {"info", ""},
        {"algorithms", ""},
        {"plan", "1", "2"},
        {"plan", "1", "2", "x"},
        {"plan", "1", "2", "99999999999999999999"},
        {"gen", "uniform", "--shape", "4", "-o", "G.npy"},
        {"gen", "uniform", "--shape", "4x-4", "-o", "G.npy"},
        {"gen", "nothing", "--shape", "4x4", "-o", "G.npy"},
        {"gen", "bits", "--shape", "4x4", "--density", "2", "-o", "G.npy"},
        {"gen", "uniform", "--shape", "4x4", "--low", "1", "-o", "G.npy"},
        {"gen", "uniform", "--shape", "4x4", "--high", "1", "-o", "G.npy"},
        {"gen", "integer", "--shape", "4x4", "--density", "0.1", "-o", "G.npy"},
        {"gen", "hilbert", "--shape", "4x4", "--type", "i32", "-o", "G.npy"},
        {"info", "--type", "f32"},
        {"info", "--columns", "3"},
        {"info", "P.pbm", "--type", "f32"},
        {"info", "P.pbm", "--columns", "3"},
        {"info", "A.npy", "--columns", "3", "--type", "f32"},
        {"mul", "P.pbm", "P.pbm", "-o", "C.pbm", "--type", "gf2", "--raw-a", "f32:1x1"},
        {"algorithms", "nobody"},
        {"plan", "1", "2", "3", "--device", "cuda1"},
        {"plan", "1", "2", "3", "--device", "cuda", "--type", "gf2", "--leaf", "gfni"},
        {"plan", "1", "2", "3", "--device", "cuda", "--type", "bool", "--levels", "1"},
        {"plan", "1", "2", "3", "--type", "gf2", "--count"},
        {"plan", "1", "2", "3", "--device", "cuda", "--count"},
        {"mul", "A.npy", "B.npy", "-o", "C.npy", "--device", "cpu:2", "--plan", "plan.txt"},
        {"mul", "A.npy", "B.npy", "-o", "C.npy", "--device", "cuda:0,1", "--plan", "plan.txt"},
        {"mul", "A.npy", "B.npy", "-o", "C.npy", "--device", "cuda", "--device-memory", "1G", "--plan", "plan.txt"},
        {"closure", "A.npy", "-o", "R.npy", "--device", "cpu:2"},
    };
    write("plan.txt", heptad_ok({"plan", "8", "6", "5"}));
    for (const auto& words : lines) {
        std::string typed = "heptad";
        for (const std::string& word : words) {
            typed += " " + word;
        }
        SCOPED_TRACE(typed);
        heptad_fails(2, words);
    }
}

TEST_F(Failures, sentences_name_the_value) {
    EXPECT_NE(heptad_fails(2, {"mul", "A.npy", "B.npy", "-o", "C.npy", "--memory", "lots"}).find("'lots'"),
              std::string::npos);
    EXPECT_NE(heptad_fails(2, {"mul", "A.npy", "B.npy", "-o", "C.npy", "--colour"}).find("'--colour'"),
              std::string::npos);
    EXPECT_NE(heptad_fails(2, {"multiply"}).find("'multiply'"), std::string::npos);
    EXPECT_NE(heptad_fails(2, {"plan", "1", "1", "1", "--levels", "1", "--levels", "1"}).find("more than once"),
              std::string::npos);
    EXPECT_NE(heptad_fails(2, {"plan", "1", "1", "1", "--type", ""}).find("'--type'"), std::string::npos);
    EXPECT_NE(heptad_fails(3, {"mul", "A.npy", "A.npy", "-o", "C.npy"}).find("8 x 6"), std::string::npos);
}

TEST_F(Failures, sentences_name_the_way_out) {
    const auto expect = [&](int code, const char* part, std::vector<std::string> words) {
        const std::string said = heptad_fails(code, words);
        EXPECT_NE(said.find(part), std::string::npos) << said;
    };
    const std::vector<std::string> mul{"mul", "A.npy", "B.npy"};
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.begin(), mul.begin(), mul.end());
        return more;
    };
    expect(2, "there is nothing after '--output', where a value was expected", with({"-o"}));
    expect(2, "'C.npy' (the result is named by -o)", with({"C.npy"}));
    expect(2, "unknown argument 'D.npy';", with({"D.npy", "-o", "C.npy"}));
    expect(3, "create its folder or choose another path", with({"-o", "nowhere/C.npy"}));
    expect(2, "--columns is for matrices of packed bits (leave it out for numbers)",
           with({"-o", "C.npy", "--columns", "8"}));
    expect(2, "unknown command 'mull' (did you mean 'mul'?)", {"mull", "A.npy"});
    expect(2, "unknown option '--level=1' (did you mean '--levels'?)", with({"-o", "C.npy", "--level=1"}));
    expect(2, "'stras' (did you mean 'strassen'?)", with({"-o", "C.npy", "--algorithm", "stras"}));
    expect(2, "'float32' is not an element type (did you mean 'f32'?)", with({"-o", "C.npy", "--type", "float32"}));
    expect(2, "'quaternion' is not an element type;", with({"-o", "C.npy", "--type", "quaternion"}));
}

TEST_F(Failures, bad_input_files_exit_3) {
    const std::string good = read("A.npy");
    write("empty.npy", "");
    write("text.npy", "1 2 3\n4 5 6\n");
    write("truncated.npy", good.substr(0, good.size() - 1));
    write("short_header.npy", good.substr(0, 20));
    write("longer.npy", good + "x");
    write("huge.npy",
          npy_bytes("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }", "1234"));
    write("lying.npy", npy_bytes("{'descr': '<f4', 'fortran_order': False, 'shape': (100000, 100000), }", "1234"));
    write("negative.npy", npy_bytes("{'descr': '<f4', 'fortran_order': False, 'shape': (-8, 6), }", ""));
    write("object.npy", npy_bytes("{'descr': '|O', 'fortran_order': False, 'shape': (1, 1), }", "12345678"));
    write("big_endian.npy", npy_bytes("{'descr': '>f4', 'fortran_order': False, 'shape': (1, 1), }", "1234"));
    write("vector.npy", npy_bytes("{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }", std::string(24, '\0')));
    write("bytes.npy", npy_bytes("{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2), }", "\x01\x02"));
    std::filesystem::create_directory(folder_ / "folder.npy");
    for (const char* name :
         {"missing.npy", "empty.npy", "text.npy", "truncated.npy", "short_header.npy", "longer.npy", "huge.npy",
          "lying.npy", "negative.npy", "object.npy", "big_endian.npy", "vector.npy", "bytes.npy", "folder.npy"}) {
        SCOPED_TRACE(name);
        heptad_fails(3, {"mul", name, "B.npy", "-o", "C.npy"});
        heptad_fails(3, {"mul", "A.npy", name, "-o", "C.npy"});
        heptad_fails(3, {"verify", "A.npy", "B.npy", name});
        if (std::string(name) != "bytes.npy") {  // of which info tells what it may hold
            heptad_fails(3, {"info", name});
        }
    }
    heptad_fails(3, {"mul", "bytes.npy", "bytes.npy", "-o", "C.npy", "--type", "gf2", "--transpose-b"});
}

TEST_F(Failures, matrices_that_do_not_match_exit_3) {
    write_matrix("D.npy", integers(6, 5, 2), "<f8");
    write_matrix("I.npy", integers(6, 5, 2), "<i4");
    write_matrix("C0.npy", integers(5, 8, 2));
    heptad_fails(3, {"mul", "A.npy", "A.npy", "-o", "C.npy"});
    heptad_fails(3, {"mul", "A.npy", "B.npy", "-o", "C.npy", "--transpose-a"});
    heptad_fails(3, {"mul", "A.npy", "D.npy", "-o", "C.npy"});
    heptad_fails(3, {"mul", "A.npy", "I.npy", "-o", "C.npy"});
    heptad_fails(3, {"mul", "A.npy", "B.npy", "-o", "C.npy", "--type", "f16"});
    heptad_fails(3, {"mul", "A.npy", "B.npy", "-o", "C.npy", "--type", "gf2"});
    heptad_fails(3, {"mul", "A.npy", "B.npy", "-o", "C.npy", "--beta", "1", "--add", "C0.npy"});
    heptad_fails(3, {"verify", "A.npy", "B.npy", "B.npy"});
    heptad_fails(3, {"verify", "A.npy", "B.npy", "D.npy"});
}

TEST_F(Failures, plans_that_cannot_be_meant_exit_3) {
    write("other.txt", heptad_ok({"plan", "8", "6", "7"}));
    write("type.txt", heptad_ok({"plan", "8", "6", "5", "--type", "f64"}));
    write("nonsense.txt", "multiply them fast\n");
    write("empty.txt", "");
    for (const char* name : {"other.txt", "type.txt", "nonsense.txt", "empty.txt", "missing.txt"}) {
        SCOPED_TRACE(name);
        heptad_fails(3, {"mul", "A.npy", "B.npy", "-o", "C.npy", "--plan", name});
    }
    write("cpu.txt", heptad_ok({"plan", "8", "6", "5", "--device", "cpu"}));
    EXPECT_NE(heptad_fails(2, {"mul", "A.npy", "B.npy", "-o", "C.npy", "--plan", "cpu.txt", "--device", "cuda:1"})
                  .find("a plan for cpu"),
              std::string::npos);
    heptad_ok({"gen", "bits", "--shape", "64x64", "-o", "P.pbm"});
    const std::string bits = heptad_ok({"plan", "64", "64", "64", "--type", "gf2", "--threads", "1"});
    const auto with = [&](const std::string& key, const std::string& value) {
        const std::size_t begin = bits.find(key + "="), end = bits.find(' ', begin);
        return bits.substr(0, begin) + key + "=" + value + bits.substr(end);
    };
    write("threads.txt", with("threads", "1000000000"));
    write("leaf.txt", with("leaf", "nobody"));
    write("core.txt", with("core", "6400000000x64x64"));
    write("old.txt", "bits gf2 64 64 64 algorithm classical levels 0 leaf table 64x64x64 threads 1 workspace 1\n");
    for (const char* name : {"threads.txt", "leaf.txt", "core.txt", "old.txt"}) {
        SCOPED_TRACE(name);
        heptad_fails(3, {"mul", "P.pbm", "P.pbm", "-o", "C.pbm", "--type", "gf2", "--plan", name});
    }
}

TEST_F(Failures, outputs_that_cannot_be_written_exit_3_before_the_product) {
    std::filesystem::create_directory(folder_ / "folder");
    heptad_fails(3, {"mul", "A.npy", "B.npy", "-o", "folder"});
    heptad_fails(3, {"mul", "A.npy", "B.npy", "-o", "nowhere/C.npy"});
    heptad_fails(3, {"gen", "uniform", "--shape", "4x4", "-o", "nowhere/G.npy"});
    if (geteuid() != 0) {
        std::filesystem::permissions(folder_ / "folder", std::filesystem::perms::owner_read);
        heptad_fails(3, {"mul", "A.npy", "B.npy", "-o", "folder/C.npy"});
    }
}

TEST_F(Failures, too_little_memory_exits_4_and_names_both_sizes) {
    const std::string said = heptad_fails(4, {"mul", "A.npy", "B.npy", "-o", "C.npy", "--memory", "100"});
    EXPECT_NE(said.find("needs about"), std::string::npos) << said;
    EXPECT_NE(said.find("100 bytes are allowed"), std::string::npos) << said;
    heptad_fails(4, {"plan", "1000", "1000", "1000", "--memory", "1K"});
    heptad_fails(4, {"gen", "uniform", "--shape", "3000000x3000000", "-o", "G.npy"});
    heptad_ok({"mul", "A.npy", "B.npy", "-o", "C.npy", "--memory", "472"});  // 4 * (8*6 + 6*5 + 8*5)
    EXPECT_EQ(read_matrix("C.npy"), product(integers(8, 6, 1), integers(6, 5, 2)));
}

TEST_F(Failures, names_that_promise_another_format_than_the_result_has_exit_3) {
    write_matrix("L.npy", TestMatrix{6, 6, std::vector<double>(36, 1)}, "|b1");
    for (const char* name : {"C.pbm", "C.png", "C.mtx", "C.PBM"}) {
        SCOPED_TRACE(name);
        EXPECT_NE(heptad_fails(3, {"mul", "A.npy", "B.npy", "-o", name}).find(name), std::string::npos);
        heptad_fails(3, {"mul", "A.npy", "B.npy", "-o", name, "--overlap", "on"});
        heptad_fails(3, {"mul", "L.npy", "L.npy", "-o", name, "--mode", "serial"});
        heptad_fails(3, {"mul", "L.npy", "L.npy", "-o", name, "--device", "reference"});
    }
    heptad_ok({"mul", "L.npy", "L.npy", "-o", "C.pbm"});
    EXPECT_EQ(read("C.pbm").substr(0, 2), "P4");
}

TEST_F(Failures, raw_files_are_what_they_are_said_to_be) {
    write("R.bin", std::string(64 * 64, '\1'));
    write("F.bin", std::string(4 * 64 * 64, '\0'));
    for (const char* type : {"gf2", "bool"}) {
        const std::string shape = std::string(type) + ":64x64";
        const std::string said =
            heptad_fails(3, {"mul", "R.bin", "R.bin", "-o", "C.npy", "--raw-a", shape, "--raw-b", shape});
        EXPECT_NE(said.find("without a header"), std::string::npos) << said;
    }
    const std::vector<std::string> words{"mul",     "F.bin",     "F.bin",   "-o",        "C.npy",
                                         "--raw-a", "f32:64x64", "--raw-b", "f32:64x64", "--type"};
    for (const char* type : {"f64", "i32", "gf2"}) {
        std::vector<std::string> other = words;
        other.emplace_back(type);
        EXPECT_NE(heptad_fails(3, other).find("name one type"), std::string::npos) << type;
    }
    std::vector<std::string> same = words;
    same.emplace_back("tf32");
    EXPECT_EQ(heptad_json(same)["type"], "tf32");
    for (const char* numpy : {"float32:64x64", "<f4:64x64"}) {
        EXPECT_EQ(
            heptad_json({"mul", "F.bin", "F.bin", "-o", "C.npy", "--raw-a", numpy, "--raw-b", "f32:64x64"})["type"],
            "f32");
    }
    heptad_fails(2, {"mul", "F.bin", "F.bin", "-o", "C.npy", "--raw-a", "complex256:64x64", "--raw-b", "f32:64x64"});
}

TEST_F(Failures, a_limit_on_file_sizes_exits_4_and_leaves_nothing) {
    write_matrix("X.npy", integers(64, 64, 1));
    struct rlimit before {};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit small = before;
    small.rlim_cur = 8192;  // a result of 64 x 64 f32 takes 20480
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const Outcome made = heptad({"gen", "uniform", "--shape", "64x64", "-o", "G.npy"});
    const Outcome multiplied = heptad({"mul", "X.npy", "X.npy", "-o", "C.npy"});
    const Outcome streamed = heptad({"mul", "X.npy", "X.npy", "-o", "D.npy", "--overlap", "on"});
    const Outcome dataset = heptad({"mul", "X.npy", "X.npy", "-o", "E.h5:/e"});
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_EQ(made.exit_code, 4) << made.err;
    EXPECT_EQ(multiplied.exit_code, 4) << multiplied.err;
    EXPECT_EQ(streamed.exit_code, 4) << streamed.err;
    const bool has_hdf5 = dataset.err.find("does not have the HDF5 library") == std::string::npos;
    EXPECT_EQ(dataset.exit_code, has_hdf5 ? 4 : 3) << dataset.err;
    EXPECT_EQ(folder_contents().size(), 3U) << "something beside A, B and X is there";
}

TEST_F(Failures, standard_output_that_cannot_be_written_exits_4_and_stays_out_of_the_result) {
    const auto run = [&](const std::string& words) {
        const int status = std::system(("cd '" + folder_.string() + "' && '" HEPTAD_BINARY "' " + words).c_str());
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    };
    EXPECT_EQ(run("info A.npy > /dev/full 2> /dev/null"), 4);
    EXPECT_EQ(run("info A.npy --json >&- 2> /dev/null"), 4);
    EXPECT_EQ(run("mul A.npy B.npy -o C.npy >&- 2> /dev/null"), 4);
    EXPECT_EQ(read_matrix("C.npy"), product(integers(8, 6, 1), integers(6, 5, 2)));
    EXPECT_EQ(run("mul A.npy B.npy -o D.npy --json > /dev/null 2>&- <&-"), 0);
    EXPECT_EQ(read("D.npy"), read("C.npy"));
    EXPECT_EQ(run("mul A.npy A.npy -o E.npy >&- 2>&- <&-"), 3);
}

TEST_F(Failures, a_pipe_whose_reader_has_gone_exits_4) {
    heptad_ok({"gen", "uniform", "--shape", "300x300", "-o", "X.npy"});  // more than a pipe holds
    const std::string lost = "cd '" + folder_.string() + "' && { '" HEPTAD_BINARY "' mul X.npy X.npy -o ";
    EXPECT_EQ(std::system((lost + "- 2> said; echo $? > code; } | true").c_str()), 0);
    EXPECT_EQ(read("code"), "4\n");
    EXPECT_NE(read("said").find("standard output cannot be written"), std::string::npos) << read("said");
    EXPECT_EQ(std::system(("cd '" + folder_.string() +
                           "' && mkfifo pipe && { head -c 9 pipe > /dev/null & } ; '" HEPTAD_BINARY
                           "' mul X.npy X.npy -o pipe 2> said; echo $? > code; rm pipe")
                              .c_str()),
              0);
    EXPECT_EQ(read("code"), "4\n");
    EXPECT_NE(read("said").find("'pipe' cannot be written"), std::string::npos) << read("said");
}

TEST_F(Failures, a_pipe_is_opened_once_for_all_of_the_result) {
    const std::string both = "cd '" + folder_.string() +
                             "' && mkfifo pipe && { cat pipe > C.npy & } && '" HEPTAD_BINARY
                             "' mul A.npy B.npy -o pipe > /dev/null && wait && rm pipe";
    EXPECT_EQ(std::system(both.c_str()), 0);
    EXPECT_EQ(read_matrix("C.npy"), product(integers(8, 6, 1), integers(6, 5, 2)));
}

TEST_F(Failures, zero_sizes_and_sizes_beyond_64_bits) {
    heptad_ok({"gen", "uniform", "--shape", "5x0", "-o", "Z1.npy"});
    heptad_ok({"gen", "uniform", "--shape", "0x4", "-o", "Z2.npy"});
    heptad_ok({"mul", "Z1.npy", "Z2.npy", "-o", "Z.npy", "--verify"});
    EXPECT_EQ(read_matrix("Z.npy"), (TestMatrix{5, 4, std::vector<double>(20, 0)}));
    heptad_ok({"verify", "Z1.npy", "Z2.npy", "Z.npy"});
    EXPECT_EQ(heptad_json({"plan", "0", "5", "0"})["levels"], 0);
    heptad_fails(3, {"plan", "9223372036854775807", "9223372036854775807", "3"});
    heptad_fails(3, {"gen", "uniform", "--shape", "9223372036854775807x3", "-o", "G.npy"});
}

TEST_F(Failures, names_too_long_for_the_system_exit_3) {
    const std::string name = std::string(305, 'n') + ".json";
    heptad_fails(3, {"mul", "A.npy", "B.npy", "-o", "C.npy", "--trace", name});
    heptad_fails(3, {"mul", "A.npy", "B.npy", "-o", name, "--trace", "t.json"});
    heptad_fails(3, {"mul", "A.npy", "B.npy", "-o", name});
}

TEST_F(Failures, rows_without_columns_take_no_time) {
    write("P.pbm", "P4\n0 1000000000000000\n");
    EXPECT_NE(heptad_ok({"info", "P.pbm"}).find("1000000000000000 x 0 bits"), std::string::npos);
}

TEST_F(Failures, wrong_result_exits_5) {
    TestMatrix c = product(integers(8, 6, 1), integers(6, 5, 2));
    write_matrix("C.npy", c);
    EXPECT_NE(heptad_ok({"verify", "A.npy", "B.npy", "C.npy"}).find("passed"), std::string::npos);
    for (const std::int64_t place : {0, 17, 39}) {
        TestMatrix wrong = c;
        wrong.values[static_cast<std::size_t>(place)] += 1;
        write_matrix("wrong.npy", wrong);
        heptad_fails(5, {"verify", "A.npy", "B.npy", "wrong.npy"});
    }
    c.at(2, 2) = std::nan("");
    write_matrix("nan.npy", c);
    heptad_fails(5, {"verify", "A.npy", "B.npy", "nan.npy"});
}

TEST_F(Failures, wrong_result_of_exact_types_exits_5) {
    for (const char* dtype : {"<i4", "|b1"}) {
        SCOPED_TRACE(dtype);
        TestMatrix ones{9, 9, std::vector<double>(81, 1)};
        write_matrix("X.npy", ones, dtype);
        heptad_ok({"mul", "X.npy", "X.npy", "-o", "Y.npy"});
        heptad_ok({"verify", "X.npy", "X.npy", "Y.npy", "--all-rows"});
        TestMatrix wrong = read_matrix("Y.npy");
        wrong.at(4, 5) -= 1;
        write_matrix("W.npy", wrong, dtype);
        heptad_fails(5, {"verify", "X.npy", "X.npy", "W.npy", "--all-rows"});
    }
}

TEST_F(Failures, json_mode_prints_the_error_as_an_object_too) {
    const std::vector<std::pair<int, std::vector<std::string>>> cases{
        {2, {"mul", "A.npy", "B.npy", "-o", "C.npy", "--frobnicate", "--json"}},
        {3, {"mul", "A.npy", "A.npy", "-o", "C.npy", "--json"}},
        {4, {"mul", "A.npy", "B.npy", "-o", "C.npy", "--memory", "1", "--json"}},
    };
    for (const auto& [code, words] : cases) {
        const Outcome outcome = heptad(words);
        EXPECT_EQ(outcome.exit_code, code);
        const nlohmann::json object = nlohmann::json::parse(outcome.out, nullptr, false);
        ASSERT_TRUE(object.is_object()) << outcome.out;
        EXPECT_EQ(object["code"], code);
        EXPECT_EQ("heptad: " + object["error"].get<std::string>() + "\n", outcome.err);
    }
    TestMatrix c = product(integers(8, 6, 1), integers(6, 5, 2));
    c.at(0, 0) += 1;
    write_matrix("C.npy", c);
    const Outcome outcome = heptad({"verify", "A.npy", "B.npy", "C.npy", "--json"});
    const nlohmann::json object = nlohmann::json::parse(outcome.out, nullptr, false);
    EXPECT_EQ(object["code"], 5);
    EXPECT_EQ(object["verdict"], "failed");
    EXPECT_GT(object["residual"].get<double>(), object["tolerance"].get<double>());
}

TEST_F(Failures, json_mode_prints_one_object_from_file_to_file_too) {
    TestMatrix a = integers(8, 6, 1);
    a.at(1, 1) = std::nan("");
    write_matrix("N.npy", a);
    const Outcome outcome = heptad({"mul", "N.npy", "B.npy", "-o", "C.npy", "--verify", "--overlap", "on", "--json"});
    EXPECT_EQ(outcome.exit_code, 5);
    const nlohmann::json object = nlohmann::json::parse(outcome.out, nullptr, false);
    ASSERT_TRUE(object.is_object()) << outcome.out;
    EXPECT_EQ(object["code"], 5);
    EXPECT_EQ(object["output"], "C.npy");
    EXPECT_EQ(object["verified"], false);
    EXPECT_EQ(object["verification"]["verdict"], object["verdict"]);
    EXPECT_TRUE(object.contains("file_plan"));
}

}  // namespace
}  // namespace heptad::testing
