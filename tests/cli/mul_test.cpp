// heptad mul from files to a file: values against the definition, bit for bit on small integers.
#include <cmath>
#include <fstream>

#include "cli/heptad_process.hpp"

namespace heptad::testing {
namespace {

using Mul = HeptadProcess;

TEST_F(Mul, product_of_two_files_equals_the_definition) {
    const TestMatrix a = integers(13, 7, 1), b = integers(7, 9, 2);
    for (const char* dtype : {"<f4", "<f8", "<i4"}) {
        write_matrix("A.npy", a, dtype);
        write_matrix("B.npy", b, dtype);
        const std::string said = heptad_ok({"mul", "A.npy", "B.npy", "-o", "C.npy"});
        EXPECT_NE(said.find("13 x 9"), std::string::npos) << said;
        EXPECT_EQ(read_matrix("C.npy"), product(a, b)) << dtype;
    }
}

TEST_F(Mul, fast_levels_of_odd_sizes_equal_the_definition) {
    const TestMatrix a = integers(45, 51, 1), b = integers(51, 39, 2);
    write_matrix("A.npy", a);
    write_matrix("B.npy", b);
    for (const char* algorithm : {"strassen", "winograd", "2x3x3-15"}) {
        heptad_ok({"mul", "A.npy", "B.npy", "-o", "C.npy", "--algorithm", algorithm, "--levels", "2", "--verify"});
        EXPECT_EQ(read_matrix("C.npy"), product(a, b)) << algorithm;
    }
}

TEST_F(Mul, every_device_and_mode_gives_the_same_file) {
    const TestMatrix a = integers(40, 40, 3), b = integers(40, 40, 4);
    write_matrix("A.npy", a, "<f8");
    write_matrix("B.npy", b, "<f8");
    const std::vector<std::vector<std::string>> choices{{"--device", "reference"},
                                                        {"--device", "cpu", "--threads", "1"},
                                                        {"--levels", "1", "--mode", "serial"},
                                                        {"--levels", "1", "--mode", "parallel"},
                                                        {"--device", "reference", "--levels", "1", "--mode", "fused"},
                                                        {"--device", "reference", "--levels", "2", "--mode", "fused"},
                                                        {"--leaf", "heptad"},
                                                        {"--accuracy", "strict"},
                                                        {"--accuracy", "exact", "--verify"},
                                                        {"--device", "reference", "--accuracy", "exact"},
                                                        {"--memory", "1M"}};
    for (const auto& choice : choices) {
        std::vector<std::string> words{"mul", "A.npy", "B.npy", "-o", "C.npy"};
        words.insert(words.end(), choice.begin(), choice.end());
        heptad_ok(words);
        EXPECT_EQ(read_matrix("C.npy"), product(a, b)) << choice[1];
    }
}

TEST_F(Mul, exact_plans_are_carried_out_and_what_cannot_be_exact_is_refused) {
    write_matrix("A.npy", integers(40, 30, 3), "<f4");
    write_matrix("B.npy", integers(30, 50, 4), "<f4");
    heptad_ok({"mul", "A.npy", "B.npy", "-o", "C.npy"});
    const TestMatrix expected = read_matrix("C.npy");
    const Outcome plan = heptad({"plan", "40", "30", "50", "--accuracy", "exact", "--levels", "1"});
    ASSERT_EQ(plan.exit_code, 0) << plan.err;
    EXPECT_NE(plan.out.find("expected error: one rounding of the exact product"), std::string::npos) << plan.out;
    EXPECT_NE(plan.out.find("arithmetic=residues:24"), std::string::npos) << plan.out;
    std::ofstream(folder_ / "plan.txt") << plan.out;
    heptad_ok({"mul", "A.npy", "B.npy", "-o", "C.npy", "--plan", "plan.txt"});
    EXPECT_EQ(read_matrix("C.npy"), expected);
    const std::vector<std::string> from_files{"mul",        "A.npy", "B.npy",    "-o", "F.npy",
                                              "--accuracy", "exact", "--memory", "14K"};
    heptad_ok(from_files);
    EXPECT_EQ(read_matrix("F.npy"), expected);
    std::vector<std::string> with_levels = from_files;
    with_levels.insert(with_levels.end(), {"--host-levels", "1"});
    const Outcome levels = heptad(with_levels);
    EXPECT_EQ(levels.exit_code, 2);
    EXPECT_NE(levels.err.find("--accuracy exact allows no levels through files"), std::string::npos) << levels.err;
    TestMatrix wide = integers(40, 30, 3);
    wide.at(7, 0) = 1e-40;
    wide.at(7, 1) = 1e38;
    write_matrix("A.npy", wide, "<f4");
    const Outcome refused = heptad({"mul", "A.npy", "B.npy", "-o", "D.npy", "--accuracy", "exact"});
    EXPECT_EQ(refused.exit_code, 3);
    EXPECT_NE(refused.err.find("bits"), std::string::npos) << refused.err;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "D.npy"));
}

TEST_F(Mul, transposes_and_fortran_order_mean_the_same_matrix) {
    const TestMatrix a = integers(11, 5, 1), b = integers(5, 8, 2);
    for (const bool fortran : {false, true}) {
        write_matrix("A.npy", a, "<f4", fortran);
        write_matrix("B.npy", b, "<f4", fortran);
        write_matrix("At.npy", transposed(a), "<f4", fortran);
        write_matrix("Bt.npy", transposed(b), "<f4", fortran);
        heptad_ok({"mul", "A.npy", "B.npy", "-o", "C1.npy"});
        heptad_ok({"mul", "At.npy", "B.npy", "-o", "C2.npy", "--transpose-a"});
        heptad_ok({"mul", "A.npy", "Bt.npy", "-o", "C3.npy", "--transpose-b"});
        heptad_ok({"mul", "At.npy", "Bt.npy", "-o", "C4.npy", "--transpose-a", "--transpose-b"});
        for (const char* name : {"C1.npy", "C2.npy", "C3.npy", "C4.npy"}) {
            EXPECT_EQ(read_matrix(name), product(a, b)) << name << " fortran " << fortran;
        }
    }
}

TEST_F(Mul, alpha_beta_and_add_update_a_matrix) {
    const TestMatrix a = integers(6, 10, 1), b = integers(10, 7, 2), c0 = integers(6, 7, 3);
    write_matrix("A.npy", a, "<f8");
    write_matrix("B.npy", b, "<f8");
    for (const bool fortran : {false, true}) {
        write_matrix("C0.npy", c0, "<f8", fortran);
        for (const bool verify : {false, true}) {
            std::vector<std::string> words{"mul",  "A.npy",  "B.npy", "-o",    "C.npy", "--alpha",
                                           "-2.5", "--beta", "0.5",   "--add", "C0.npy"};
            if (verify) {
                words.emplace_back("--verify");
            }
            heptad_ok(words);
            EXPECT_EQ(read_matrix("C.npy"), product(a, b, -2.5, 0.5, c0)) << fortran << verify;
        }
    }
    heptad_ok({"verify", "A.npy", "B.npy", "C.npy", "--alpha", "-2.5", "--beta", "0.5", "--add", "C0.npy"});
}

TEST_F(Mul, output_may_replace_an_input) {
    const TestMatrix a = integers(9, 9, 1), b = integers(9, 9, 2);
    write_matrix("A.npy", a);
    write_matrix("B.npy", b);
    heptad_ok({"mul", "A.npy", "B.npy", "-o", "A.npy"});
    EXPECT_EQ(read_matrix("A.npy"), product(a, b));
}

TEST_F(Mul, empty_sizes_give_zeros_or_an_empty_file) {
    write_matrix("A.npy", integers(4, 0, 1));
    write_matrix("B.npy", integers(0, 3, 1));
    heptad_ok({"mul", "A.npy", "B.npy", "-o", "C.npy"});
    EXPECT_EQ(read_matrix("C.npy"), (TestMatrix{4, 3, std::vector<double>(12, 0.0)}));
    heptad_ok({"mul", "B.npy", "A.npy", "-o", "D.npy", "--transpose-a", "--transpose-b"});
    EXPECT_EQ(read_matrix("D.npy"), (TestMatrix{3, 4, std::vector<double>(12, 0.0)}));
    write_matrix("E.npy", integers(0, 4, 1));
    write_matrix("F.npy", integers(4, 3, 1));
    heptad_ok({"mul", "E.npy", "F.npy", "-o", "G.npy"});
    EXPECT_EQ(read_matrix("G.npy"), (TestMatrix{0, 3, {}}));
}

TEST_F(Mul, bytes_of_zeros_and_ones_are_gf2_or_bool_as_asked) {
    TestMatrix a{2, 3, {1, 1, 1, 0, 1, 1}}, b{3, 2, {1, 0, 1, 1, 1, 1}};
    write_matrix("A.npy", a, "|u1");
    write_matrix("B.npy", b, "|u1");
    heptad_ok({"mul", "A.npy", "B.npy", "-o", "X.npy", "--type", "gf2", "--verify"});
    EXPECT_EQ(read_matrix("X.npy"), (TestMatrix{2, 2, {1, 0, 0, 0}}));
    heptad_ok({"mul", "A.npy", "B.npy", "-o", "O.npy", "--type", "bool", "--verify"});
    EXPECT_EQ(read_matrix("O.npy"), (TestMatrix{2, 2, {1, 1, 1, 1}}));
}

TEST_F(Mul, operands_of_several_types_are_widened_where_a_type_is_named_that_holds_them_all) {
    const TestMatrix a = integers(30, 20, 1), b = integers(20, 25, 2), c0 = integers(30, 25, 3);
    write_matrix("A32.npy", a, "<f4", true);  // in Fortran order
    write_matrix("B64.npy", b, "<f8");
    write_matrix("C0.npy", c0, "<i4");
    EXPECT_EQ(heptad_json({"mul", "A32.npy", "B64.npy", "-o", "C.npy", "--type", "f64", "--verify"})["type"], "f64");
    EXPECT_NE(read("C.npy").find("<f8"), std::string::npos);
    EXPECT_EQ(read_matrix("C.npy"), product(a, b));
    heptad_ok({"verify", "A32.npy", "B64.npy", "C.npy", "--type", "f64"});
    heptad_ok({"mul", "A32.npy", "B64.npy", "-o", "S.npy", "--type", "f64", "--beta", "2", "--add", "C0.npy"});
    EXPECT_EQ(read_matrix("S.npy"), product(a, b, 1, 2, c0));
    // A value that f32 does not hold must not be rounded on the way.
    TestMatrix third{1, 1, {1.0 / 3}}, one{1, 1, {1}};
    write_matrix("third.npy", third, "<f8");
    write_matrix("one.npy", one, "<f4");
    heptad_ok({"mul", "one.npy", "third.npy", "-o", "C.npy", "--type", "f64"});
    EXPECT_EQ(read_matrix("C.npy"), third);
}

TEST_F(Mul, operands_are_not_rounded_to_a_type_and_the_sentence_says_what_to_do) {
    write_matrix("A32.npy", integers(4, 4, 1), "<f4");
    write_matrix("B64.npy", integers(4, 4, 2), "<f8");
    const std::string without = heptad_fails(3, {"mul", "A32.npy", "B64.npy", "-o", "C.npy"});
    EXPECT_NE(without.find("--type f64"), std::string::npos) << without;
    const std::string rounded = heptad_fails(3, {"mul", "A32.npy", "B64.npy", "-o", "C.npy", "--type", "f32"});
    EXPECT_NE(rounded.find("B64.npy"), std::string::npos) << rounded;
    EXPECT_NE(rounded.find("round"), std::string::npos) << rounded;
    const std::string by_files =
        heptad_fails(3, {"mul", "A32.npy", "B64.npy", "-o", "C.npy", "--type", "f64", "--overlap", "on"});
    EXPECT_NE(by_files.find("A32.npy"), std::string::npos) << by_files;
    EXPECT_NE(by_files.find("memory"), std::string::npos) << by_files;
}

TEST_F(Mul, integers_wrap) {
    write_matrix("A.npy", {1, 2, {65536, 65536}}, "<i4");
    write_matrix("B.npy", {2, 1, {65536, 32767}}, "<i4");
    heptad_ok({"mul", "A.npy", "B.npy", "-o", "C.npy"});
    EXPECT_EQ(read_matrix("C.npy"), (TestMatrix{1, 1, {32767.0 * 65536}}));
}

TEST_F(Mul, nan_reaches_its_row_only) {
    TestMatrix a = integers(33, 33, 1);
    const TestMatrix b = integers(33, 33, 2);
    a.at(3, 4) = std::nan("");
    write_matrix("A.npy", a);
    write_matrix("B.npy", b);
    heptad_ok({"mul", "A.npy", "B.npy", "-o", "C.npy", "--algorithm", "strassen", "--levels", "1"});
    const TestMatrix c = read_matrix("C.npy"), expected = product(a, b);
    for (std::int64_t i = 0; i < 33; ++i) {
        for (std::int64_t j = 0; j < 33; ++j) {
            if (i == 3) {
                EXPECT_TRUE(std::isnan(c.at(i, j)));
            } else {
                EXPECT_EQ(c.at(i, j), expected.at(i, j));
            }
        }
    }
}

TEST_F(Mul, printed_plan_is_carried_out_when_given_back) {
    const TestMatrix a = integers(64, 48, 1), b = integers(48, 80, 2);
    write_matrix("A.npy", a);
    write_matrix("B.npy", b);
    const std::vector<std::string> ask{"plan", "64", "48", "80", "--algorithm", "winograd", "--levels", "2"};
    write("plan.txt", heptad_ok(ask));
    const nlohmann::json planned = heptad_json(ask);
    EXPECT_EQ(planned["levels"], 2);
    const nlohmann::json done = heptad_json({"mul", "A.npy", "B.npy", "-o", "C.npy", "--plan", "plan.txt"});
    EXPECT_EQ(done["plan"], planned["plan"]);
    EXPECT_EQ(read_matrix("C.npy"), product(a, b));
    write("plan.json", planned.dump());
    heptad_ok({"mul", "A.npy", "B.npy", "-o", "D.npy", "--plan", "plan.json"});
    EXPECT_EQ(read_matrix("D.npy"), product(a, b));
}

TEST_F(Mul, a_plan_that_overwrites_its_inputs_is_carried_out_but_not_verified) {
    const TestMatrix a = integers(64, 64, 1), b = integers(64, 64, 2);
    write_matrix("A.npy", a, "<i4");
    write_matrix("B.npy", b, "<i4");
    write("plan.txt",
          "plan 64x64x64 i32 backend=cpu threads=1 levels=winograd:serial:boyer-in-place-overwrite leaf=heptad "
          "fringe-leaf=heptad core=64x64x64 overwrite-inputs=yes accumulate=no change-basis=no workspace-bytes=0 "
          "predicted-s=0.001 error-bound=0\n");
    heptad_ok({"mul", "A.npy", "B.npy", "-o", "C.npy", "--plan", "plan.txt"});
    EXPECT_EQ(read_matrix("C.npy"), product(a, b));
    EXPECT_EQ(read_matrix("A.npy"), a);
    const std::string said =
        heptad_fails(3, {"mul", "A.npy", "B.npy", "-o", "D.npy", "--plan", "plan.txt", "--verify"});
    EXPECT_NE(said.find("--verify"), std::string::npos) << said;
}

TEST_F(Mul, json_tells_the_run) {
    write_matrix("A.npy", integers(20, 30, 1));
    write_matrix("B.npy", integers(30, 10, 2));
    const nlohmann::json said = heptad_json({"mul", "A.npy", "B.npy", "-o", "C.npy", "--verify"});
    EXPECT_EQ(said["m"], 20);
    EXPECT_EQ(said["k"], 30);
    EXPECT_EQ(said["n"], 10);
    EXPECT_EQ(said["type"], "f32");
    EXPECT_EQ(said["output"], "C.npy");
    EXPECT_GT(said["multiply_s"].get<double>(), 0);
    EXPECT_GE(said["workspace_bytes"].get<std::int64_t>(), 0);
    EXPECT_GT(said["error_bound"].get<double>(), 0);
    EXPECT_EQ(said["verified"], true);
    EXPECT_EQ(said["verification"]["verdict"], "passed");
    EXPECT_GT(said["verification"]["threshold"].get<double>(), 0);
    EXPECT_LE(said["verification"]["residual"].get<double>(), said["verification"]["tolerance"].get<double>());
}

}  // namespace
}  // namespace heptad::testing
