// Matrices in every format that a command reads and writes beside .npy and packed bits: Matrix Market and HDF5; names
// that promise a format which is not written.
#include "cli/heptad_process.hpp"

namespace heptad::testing {
namespace {

std::string market(const TestMatrix& matrix, const std::string& field) {
    std::string text = "%%MatrixMarket matrix array " + field + " general\n" + std::to_string(matrix.rows) + " " +
                       std::to_string(matrix.cols) + "\n";
    for (std::int64_t j = 0; j < matrix.cols; ++j) {
        for (std::int64_t i = 0; i < matrix.rows; ++i) {
            text += std::to_string(static_cast<int>(matrix.at(i, j))) + "\n";
        }
    }
    return text;
}

class Formats : public HeptadProcess {
protected:
    void SetUp() override {
        HeptadProcess::SetUp();
        write("A.mtx", market(a_, "real"));
        write("I.mtx", market(a_, "integer"));
        write("B.mtx", market(b_, "integer"));
        write_matrix("B32.npy", b_);
        write("P.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 3\n1 2\n2 3\n3 1\n");
    }
    const TestMatrix a_ = integers(6, 4, 1), b_ = integers(4, 5, 2);
};

TEST_F(Formats, numbers_of_matrix_market_files_are_multiplied) {
    EXPECT_EQ(heptad_json({"mul", "A.mtx", "B.mtx", "-o", "C.npy", "--verify"})["type"], "f64");
    EXPECT_EQ(read_matrix("C.npy"), product(a_, b_));
    EXPECT_EQ(heptad_json({"mul", "I.mtx", "B.mtx", "-o", "C.npy"})["type"], "i32");
    EXPECT_EQ(read_matrix("C.npy"), product(a_, b_));
    const TestMatrix c0 = integers(5, 6, 3);
    write("C0.mtx", market(c0, "integer"));
    heptad_ok({"mul", "B.mtx", "A.mtx", "-o", "T.npy", "--transpose-a", "--transpose-b", "--alpha", "2", "--beta", "-1",
               "--add", "C0.mtx", "--verify"});
    EXPECT_EQ(read_matrix("T.npy"), product(transposed(b_), transposed(a_), 2, -1, c0));
}

TEST_F(Formats, matrix_market_files_take_the_type_of_the_others) {
    EXPECT_EQ(heptad_json({"mul", "A.mtx", "B32.npy", "-o", "C.npy"})["type"], "f32");
    EXPECT_EQ(read_matrix("C.npy"), product(a_, b_));
    heptad_ok({"verify", "A.mtx", "B.mtx", "C.npy"});
    EXPECT_EQ(heptad_json({"mul", "I.mtx", "B.mtx", "-o", "C.npy", "--type", "f32"})["type"], "f32");
    EXPECT_EQ(read_matrix("C.npy"), product(a_, b_));
    write("F.bin", std::string(4 * 4 * 5, '\0'));
    EXPECT_EQ(heptad_json({"mul", "A.mtx", "F.bin", "-o", "C.npy", "--raw-b", "f32:4x5"})["type"], "f32");
}

TEST_F(Formats, patterns_are_bits_or_ones_as_the_type_says) {
    EXPECT_NE(heptad_fails(2, {"mul", "P.mtx", "P.mtx", "-o", "C.npy"}).find("--type"), std::string::npos);
    const TestMatrix pattern{3, 3, {0, 1, 0, 0, 0, 1, 1, 0, 0}};
    for (const char* type : {"bool", "gf2", "f32", "i32"}) {
        EXPECT_EQ(heptad_json({"mul", "P.mtx", "P.mtx", "-o", "C.npy", "--type", type})["type"], type);
        EXPECT_EQ(read_matrix("C.npy"), product(pattern, pattern)) << type;
    }
    heptad_ok({"mul", "P.mtx", "P.mtx", "-o", "C.npy", "--type", "gf2", "--mode", "serial", "--levels", "1"});
    EXPECT_EQ(read_matrix("C.npy"), product(pattern, pattern));
}

TEST_F(Formats, info_tells_field_symmetry_and_the_type_that_a_product_takes) {
    const nlohmann::json real = heptad_json({"info", "A.mtx"});
    EXPECT_EQ(real["rows"], 6);
    EXPECT_EQ(real["cols"], 4);
    EXPECT_EQ(real["type"], "f64");
    EXPECT_EQ(real["layout"], "array");
    EXPECT_EQ(real["field"], "real");
    EXPECT_EQ(real["symmetry"], "general");
    EXPECT_EQ(heptad_json({"info", "A.mtx", "--type", "f32"})["type"], "f32");
    EXPECT_EQ(heptad_json({"info", "P.mtx"})["type"], "bool");
    EXPECT_EQ(heptad_json({"info", "P.mtx"})["entries"], 3);
    EXPECT_NE(heptad_ok({"info", "P.mtx"}).find("pattern"), std::string::npos);
    heptad_fails(2, {"info", "P.mtx", "--columns", "3"});
    heptad_ok({"gen", "bits", "--shape", "4x9", "-o", "G.pbm"});
    EXPECT_EQ(heptad_json({"info", "G.pbm"})["type"], "bool");
    EXPECT_EQ(heptad_json({"info", "G.pbm", "--type", "gf2"})["type"], "gf2");
    EXPECT_EQ(heptad_json({"info", "G.pbm"})["layout"], "c");
}

TEST_F(Formats, info_reads_a_file_as_any_type_that_products_widen_it_to) {
    const nlohmann::json wide = heptad_json({"info", "B32.npy", "--type", "f64"});
    EXPECT_EQ(wide["type"], "f64");
    EXPECT_EQ(wide["dtype"], "<f4");
    heptad_fails(3, {"info", "B32.npy", "--type", "c64"});
    EXPECT_NE(heptad_fails(3, {"info", "B32.npy", "--columns", "5"}).find("packed bits are '|u1'"), std::string::npos);
}

TEST_F(Formats, what_a_matrix_market_file_cannot_be_is_told) {
    write("W.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n0.5\nx\n4\n");
    EXPECT_NE(heptad_fails(3, {"mul", "W.mtx", "W.mtx", "-o", "C.npy"}).find("line 5"), std::string::npos);
    EXPECT_NE(heptad_fails(3, {"mul", "W.mtx", "W.mtx", "-o", "C.npy", "--type", "i32"}).find("0.5"),
              std::string::npos);
    EXPECT_NE(heptad_fails(3, {"mul", "A.mtx", "B.mtx", "-o", "C.npy", "--memory", "100"}).find("in memory"),
              std::string::npos);
    heptad_fails(3, {"mul", "A.mtx", "B.mtx", "-o", "C.npy", "--overlap", "on"});
    heptad_fails(3, {"mul", "A.mtx", "A.mtx", "-o", "C.npy"});
    write("huge.mtx", "%%MatrixMarket matrix coordinate real general\n3000000 3000000 1\n1 1 1\n");
    heptad_fails(4, {"verify", "huge.mtx", "huge.mtx", "huge.mtx"});
}

TEST_F(Formats, complex_matrices_are_multiplied_conjugated_and_verified_in_memory_and_from_file_to_file) {
    heptad_ok({"gen", "uniform", "--shape", "90x70", "--type", "c64", "-o", "A.npy"});
    heptad_ok({"gen", "uniform", "--shape", "90x80", "--type", "c64", "--seed", "2", "-o", "B.npy"});
    const std::vector<std::string> mul{"mul", "A.npy", "B.npy", "-o", "C.npy", "--transpose-a"};
    const auto with = [](std::vector<std::string> words, const std::vector<std::string>& more) {
        words.insert(words.end(), more.begin(), more.end());
        return words;
    };
    for (const char* accuracy : {"exact", "strict", "balanced", "fast"}) {
        const nlohmann::json told = heptad_json(with(mul, {"--conjugate-a", "--verify", "--accuracy", accuracy}));
        EXPECT_EQ(told["type"], "c64");
        EXPECT_EQ(told["verified"], true);
        heptad_ok({"verify", "A.npy", "B.npy", "C.npy", "--transpose-a", "--conjugate-a"});
        heptad_fails(5, {"verify", "A.npy", "B.npy", "C.npy", "--transpose-a"});
    }
    EXPECT_EQ(heptad_json({"info", "C.npy"})["dtype"], "<c8");
    EXPECT_NE(heptad_fails(2, with(mul, {"--device", "cpu:2", "--host-levels", "1"})).find("real numbers"),
              std::string::npos);
    EXPECT_NE(heptad_fails(2, with(mul, {"--overlap", "on", "--host-levels", "1"})).find("--host-levels"),
              std::string::npos);
    const std::vector<std::string> sum{"--conjugate-a", "--alpha", "1.5-2i", "--beta", "-i", "--add", "C.npy"};
    for (const std::vector<std::string>& way : {std::vector<std::string>{},
                                                {"--overlap", "on"},
                                                {"--overlap", "on", "--memory", "400K"},
                                                {"--device", "cpu:3", "--device-memory", "100K"},
                                                {"--device", "cpu:2", "--overlap", "on", "--memory", "600K"}}) {
        const nlohmann::json told =
            heptad_json(with(with({"mul", "A.npy", "B.npy", "-o", "S.npy", "--transpose-a", "--verify"}, sum), way));
        EXPECT_EQ(told["verified"], true);
        heptad_ok(with({"verify", "A.npy", "B.npy", "S.npy", "--transpose-a"}, sum));
        heptad_fails(5, {"verify", "A.npy", "B.npy", "S.npy", "--transpose-a", "--conjugate-a", "--alpha", "1.5+2i",
                         "--beta", "-i", "--add", "C.npy"});
    }
    write_matrix("R.npy", a_);
    write_matrix("Q.npy", b_);
    EXPECT_NE(heptad_fails(2, {"mul", "R.npy", "Q.npy", "-o", "C.npy", "--alpha", "2i"}).find("c64"),
              std::string::npos);
    heptad_fails(2, {"mul", "A.npy", "B.npy", "-o", "C.npy", "--transpose-a", "--alpha", "1+2k"});
    heptad_fails(2, {"mul", "A.npy", "B.npy", "-o", "C.npy", "--transpose-a", "--alpha", "1+-2i"});
}

TEST_F(Formats, complex_plans_are_printed_and_carried_out) {
    heptad_ok({"gen", "uniform", "--shape", "70x70", "--type", "c128", "-o", "A.npy"});
    for (const std::vector<std::string>& how :
         {std::vector<std::string>{}, {"--accuracy", "strict"}, {"--levels", "1"}, {"--memory", "100K"}}) {
        std::vector<std::string> words{"plan", "70", "70", "70", "--type", "c128"};
        words.insert(words.end(), how.begin(), how.end());
        const nlohmann::json told = heptad_json(words);
        const std::string plan = told["plan"];
        EXPECT_NE(plan.find(" complex="), std::string::npos);
        write("P.txt", plan + "\n");
        heptad_ok({"mul", "A.npy", "A.npy", "-o", "C.npy", "--plan", "P.txt"});
        heptad_ok({"verify", "A.npy", "A.npy", "C.npy"});
    }
    write("P.txt",
          "plan 70x70x70 c128 backend=cpu threads=1 levels=none leaf=heptad core=70x70x70 accumulate=no "
          "change-basis=no workspace-bytes=0 predicted-s=1 error-bound=1\n");
    EXPECT_NE(heptad_fails(3, {"mul", "A.npy", "A.npy", "-o", "C.npy", "--plan", "P.txt"}).find("complex="),
              std::string::npos);
}

TEST_F(Formats, info_reads_every_file_that_gen_writes) {
    const bool has_hdf5 = heptad({"gen", "ones", "--shape", "2x2", "-o", "try.h5:/x"}).exit_code == 0;
    int files = 0;
    for (const char* kind : {"uniform", "positive", "normal", "integer", "bits", "identity", "ones", "zeros", "graph",
                             "hilbert", "kaporin"}) {
        for (const char* type : {"f64", "f32", "tf32", "bf16", "f16", "c64", "c128", "i32", "i64", "gf2", "bool"}) {
            for (const std::string file : {"x.npy", "x.h5:/set", "x.pbm", "x.png", "packed.npy"}) {
                std::vector<std::string> words{"gen", kind, "--shape", "13x13", "--type", type, "-o", file};
                if (file == "packed.npy") {
                    words.emplace_back("--packed");
                }
                if (heptad(words).exit_code != 0) {
                    continue;  // not every kind, type and format go together
                }
                ++files;
                SCOPED_TRACE(std::string(kind) + " " + type + " " + file);
                EXPECT_NE(heptad_ok({"info", file}).find(": 13 x "), std::string::npos);
                const nlohmann::json told = heptad_json({"info", file});
                EXPECT_EQ(told["rows"], 13);
                if (file == "packed.npy") {
                    EXPECT_EQ(told["least_packed_columns"], 9);
                    EXPECT_EQ(told["most_packed_columns"], 16);
                    EXPECT_EQ(heptad_json({"info", file, "--columns", "13"})["cols"], 13);
                } else {
                    EXPECT_EQ(told["cols"], 13);
                }
                std::filesystem::remove(folder_ / file.substr(0, file.find(':')));
            }
        }
    }
    EXPECT_GE(files, has_hdf5 ? 100 : 60);
}

TEST_F(Formats, a_packed_npy_without_its_columns_is_told_to_want_them) {
    heptad_ok({"gen", "graph", "--shape", "13x13", "--packed", "-o", "P.npy"});
    heptad_ok({"gen", "bits", "--shape", "2x16", "--packed", "-o", "Q.npy"});  // 2 x 2 bytes: the shapes go together
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"mul", "P.npy", "P.npy", "-o", "C.npy", "--type", "gf2"},
          {"mul", "P.npy", "P.npy", "-o", "C.npy"},
          {"mul", "Q.npy", "Q.npy", "-o", "C.npy", "--type", "bool"},
          {"mul", "Q.npy", "Q.npy", "-o", "C.npy", "--type", "bool", "--device", "reference"},
          {"closure", "P.npy", "-o", "C.npy"},
          {"verify", "P.npy", "P.npy", "P.npy", "--type", "gf2"}}) {
        EXPECT_NE(heptad_fails(3, words).find("--columns"), std::string::npos);
    }
    heptad_ok({"mul", "P.npy", "P.npy", "-o", "C.npy", "--type", "gf2", "--columns", "13"});
}

TEST_F(Formats, results_keep_to_formats_that_are_written) {
    for (const char* name : {"C.mtx", "C.csv", "C.txt", "C.CSV", "C.bin", "C.npz", "C.h5"}) {
        SCOPED_TRACE(name);
        EXPECT_NE(heptad_fails(3, {"mul", "A.mtx", "B.mtx", "-o", name}).find(name), std::string::npos);
        heptad_fails(3, {"mul", "B32.npy", "B32.npy", "-o", name, "--transpose-b", "--overlap", "on"});
        heptad_fails(3, {"mul", "P.mtx", "P.mtx", "-o", name, "--type", "gf2"});
        heptad_fails(3, {"gen", "uniform", "--shape", "2x2", "-o", name});
        heptad_fails(3, {"gen", "bits", "--shape", "2x2", "--packed", "-o", name});
        heptad_fails(3, {"closure", "P.mtx", "-o", name});
    }
    heptad_ok({"mul", "A.mtx", "B.mtx", "-o", "without-suffix"});
    EXPECT_EQ(read_matrix("without-suffix"), product(a_, b_));
}

TEST_F(Formats, results_are_written_as_datasets_where_the_library_is_there) {
    const Outcome first = heptad({"mul", "A.mtx", "B.mtx", "-o", "C.h5:/products/c"});
    if (first.exit_code == 3 && first.err.find("does not have the HDF5 library") != std::string::npos) {
        GTEST_SKIP() << first.err;
    }
    ASSERT_EQ(first.exit_code, 0) << first.err;
    EXPECT_EQ(heptad_json({"info", "C.h5:/products/c"})["type"], "f64");
    heptad_ok({"verify", "A.mtx", "B.mtx", "C.h5:/products/c"});
    heptad_ok({"gen", "identity", "--shape", "5x5", "--type", "f64", "-o", "C.h5:/e"});
    heptad_ok({"mul", "C.h5:/products/c", "C.h5:/e", "-o", "D.npy"});
    EXPECT_EQ(read_matrix("D.npy"), product(a_, b_));
    heptad_fails(3, {"mul", "C.h5:/products/c", "C.h5:/e", "-o", "C.h5:/products"});
    heptad_fails(3, {"mul", "C.h5:/products/c", "C.h5:/e", "-o", "E.h5:/x", "--overlap", "on"});
    heptad_fails(3, {"mul", "P.mtx", "P.mtx", "-o", "E.h5:/x", "--type", "bool"});
}

}  // namespace
}  // namespace heptad::testing
