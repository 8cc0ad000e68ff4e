// Bit matrices on the command line: every format in, every format out, both algebras, plans, checks, closure.
#include "cli/heptad_process.hpp"

namespace {

using namespace heptad::testing;

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

class Bits : public HeptadProcess {
protected:
    /// Zeros and ones.
    static TestMatrix bits(std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
        TestMatrix m = integers(rows, cols, seed);
        for (double& value : m.values) {
            value = static_cast<std::int64_t>(value) % 2 != 0 ? 1 : 0;
        }
        return m;
    }
    static TestMatrix over_gf2(TestMatrix m) {
        for (double& value : m.values) {
            value = static_cast<double>(static_cast<std::int64_t>(value) % 2);
        }
        return m;
    }
    static TestMatrix as_bool(TestMatrix m) {
        for (double& value : m.values) {
            value = value != 0 ? 1 : 0;
        }
        return m;
    }
    static std::string pbm(const TestMatrix& m) {
        std::string sizes = std::to_string(m.cols).insert(0, 1, '\n');
        sizes.append(" ").append(std::to_string(m.rows)).append("\n");
        std::string bytes = "P4\n# padded to 4096 bytes";  // as the program writes it
        bytes.resize(4096 - sizes.size(), ' ');
        bytes += sizes;
        for (std::int64_t i = 0; i < m.rows; ++i) {
            for (std::int64_t j = 0; j < m.cols; j += 8) {
                int byte = 0;
                for (std::int64_t bit = 0; bit < 8 && j + bit < m.cols; ++bit) {
                    byte |= m.at(i, j + bit) != 0 ? 0x80 >> bit : 0;
                }
                bytes += static_cast<char>(byte);
            }
        }
        return bytes;
    }
};

TEST_F(Bits, result_that_is_not_packed_is_not_written_piece_by_piece) {
    const TestMatrix a = bits(70, 131, 1), b = bits(131, 93, 2);
    write("A.pbm", pbm(a));
    write("B.pbm", pbm(b));
    const std::string told =
        heptad_fails(3, {"mul", "A.pbm", "B.pbm", "-o", "X.npy", "--type", "gf2", "--overlap", "on"});
    EXPECT_TRUE(contains(told, ".pbm")) << told;
    heptad_ok({"mul", "A.pbm", "B.pbm", "-o", "X.pbm", "--type", "gf2", "--overlap", "on"});
    EXPECT_EQ(read("X.pbm"), pbm(over_gf2(product(a, b))));
}

TEST_F(Bits, products_of_pbm_files_equal_the_definition) {
    const TestMatrix a = bits(70, 131, 1), b = bits(131, 93, 2), c0 = bits(70, 93, 3);
    write("A.pbm", pbm(a));
    write("B.pbm", pbm(b));
    write("C0.pbm", pbm(c0));
    heptad_ok({"mul", "A.pbm", "B.pbm", "-o", "X.npy", "--type", "gf2", "--verify"});
    EXPECT_EQ(read_matrix("X.npy"), over_gf2(product(a, b)));
    heptad_ok({"mul", "A.pbm", "B.pbm", "-o", "O.npy", "--type", "bool", "--verify"});
    EXPECT_EQ(read_matrix("O.npy"), as_bool(product(a, b)));
    heptad_ok({"mul", "A.pbm", "B.pbm", "-o", "S.npy", "--type", "gf2", "--beta", "1", "--add", "C0.pbm", "--verify"});
    EXPECT_EQ(read_matrix("S.npy"), over_gf2(product(a, b, 1, 1, c0)));
    heptad_ok({"mul", "A.pbm", "B.pbm", "-o", "Y.pbm", "--type", "gf2"});
    EXPECT_EQ(read("Y.pbm"), pbm(over_gf2(product(a, b))));
    for (const char* algorithm : {"classical", "winograd", "self-inverse", "chaining"}) {
        const std::string levels = algorithm == std::string("classical") ? "0" : "2";
        heptad_ok({"mul", "A.pbm", "B.pbm", "-o", "Z.pbm", "--type", "gf2", "--algorithm", algorithm, "--levels",
                   levels, "--threads", "2"});
        EXPECT_EQ(read("Z.pbm"), read("Y.pbm")) << algorithm;
    }
}

TEST_F(Bits, transposes_and_inputs_that_are_replaced) {
    const TestMatrix a = bits(40, 70, 1), b = bits(50, 40, 2);
    write("A.pbm", pbm(a));
    write("B.pbm", pbm(b));
    heptad_ok({"mul", "A.pbm", "B.pbm", "-o", "A.pbm", "--type", "gf2", "--transpose-a", "--transpose-b"});
    EXPECT_EQ(read("A.pbm"), pbm(over_gf2(product(transposed(a), transposed(b)))));
}

TEST_F(Bits, npy_of_bool_is_multiplied_as_packed_bits) {
    const TestMatrix a = bits(30, 30, 1);
    write_matrix("A.npy", a, "|b1");
    const auto object = heptad_json({"mul", "A.npy", "A.npy", "-o", "C.npy", "--verify"});
    EXPECT_EQ(object["type"], "bool");
    EXPECT_TRUE(contains(object["plan"], "padded=yes"));
    EXPECT_EQ(read_matrix("C.npy"), as_bool(product(a, a)));
    // What only the general way can do goes the general way.
    const auto general = heptad_json(
        {"mul", "A.npy", "A.npy", "-o", "D.npy", "--type", "gf2", "--algorithm", "strassen", "--levels", "1"});
    EXPECT_FALSE(contains(general["plan"], "padded=yes"));
    EXPECT_EQ(read_matrix("D.npy"), over_gf2(product(a, a)));
}

TEST_F(Bits, packed_npy_needs_only_the_columns_of_the_last) {
    heptad_ok({"gen", "bits", "--shape", "20x77", "--packed", "-o", "A.npy"});
    heptad_ok({"gen", "bits", "--shape", "77x45", "--packed", "--seed", "2", "-o", "B.npy"});
    heptad_ok({"gen", "bits", "--shape", "20x77", "-o", "A.pbm"});
    heptad_ok({"gen", "bits", "--shape", "77x45", "--seed", "2", "-o", "B.pbm"});
    heptad_ok({"mul", "A.npy", "B.npy", "-o", "C.npy", "--type", "gf2", "--columns", "45"});
    heptad_ok({"verify", "A.npy", "B.npy", "C.npy", "--type", "gf2", "--columns", "45"});
    heptad_ok({"mul", "A.pbm", "B.pbm", "-o", "C.pbm", "--type", "gf2"});
    const auto packed = heptad_json({"info", "C.npy", "--columns", "45"}), plain = heptad_json({"info", "C.pbm"});
    EXPECT_EQ(packed["ones"], plain["ones"]);
    EXPECT_EQ(packed["cols"], 45);
    heptad_fails(3, {"info", "C.npy", "--columns", "49"});
}

TEST_F(Bits, plans_print_and_are_carried_out) {
    write("A.pbm", pbm(bits(64, 64, 1)));
    write("p.txt", heptad_ok({"plan", "64", "64", "64", "--type", "gf2", "--algorithm", "chaining", "--levels", "2"}));
    const auto object = heptad_json({"mul", "A.pbm", "A.pbm", "-o", "C.pbm", "--type", "gf2", "--plan", "p.txt"});
    EXPECT_EQ(object["levels"], 2);
    EXPECT_TRUE(contains(object["plan"], "chaining"));
    heptad_ok({"mul", "A.pbm", "A.pbm", "-o", "D.pbm", "--type", "gf2"});
    EXPECT_EQ(read("C.pbm"), read("D.pbm"));
    const auto refused = [&](int code, const std::vector<std::string>& planned, const std::vector<std::string>& more) {
        write("q.txt", heptad_ok(planned));
        std::vector<std::string> words{"mul", "A.pbm", "A.pbm", "-o", "C.pbm", "--plan", "q.txt"};
        words.insert(words.end(), more.begin(), more.end());
        return heptad_fails(code, words);
    };
    const std::string said = refused(3, {"plan", "64", "64", "65", "--type", "gf2"}, {"--type", "gf2"});
    EXPECT_TRUE(contains(said, "plans a product of 64 x 64 x 65 in gf2")) << said;
    refused(3, {"plan", "64", "64", "64", "--type", "bool"}, {"--type", "gf2"});
    refused(2, {"plan", "64", "64", "64", "--type", "gf2"}, {"--type", "gf2", "--device", "cuda"});
    // One bit to a byte, with what packed bits do not have.
    write_matrix("B.npy", bits(64, 64, 1), "|b1");
    write("p.txt", heptad_ok({"plan", "64", "64", "64", "--type", "bool"}));
    const std::string other =
        heptad_fails(3, {"mul", "B.npy", "B.npy", "-o", "C.npy", "--plan", "p.txt", "--alpha", "2"});
    EXPECT_TRUE(contains(other, "packed bits")) << other;
}

TEST_F(Bits, a_wrong_result_is_found) {
    const TestMatrix a = bits(64, 64, 1);
    TestMatrix c = over_gf2(product(a, a));
    write("A.pbm", pbm(a));
    write("C.pbm", pbm(c));
    heptad_ok({"verify", "A.pbm", "A.pbm", "C.pbm", "--type", "gf2"});
    c.at(17, 5) = 1 - c.at(17, 5);
    write("C.pbm", pbm(c));
    EXPECT_EQ(heptad({"verify", "A.pbm", "A.pbm", "C.pbm", "--type", "gf2"}).exit_code, 5);
    EXPECT_EQ(heptad({"verify", "A.pbm", "A.pbm", "C.pbm", "--type", "bool"}).exit_code, 5);
}

TEST_F(Bits, closure_of_a_path) {
    write("G.mtx", "%%MatrixMarket matrix coordinate pattern general\n4 4 3\n1 2\n2 3\n3 4\n");
    const auto object = heptad_json({"closure", "G.mtx", "-o", "R.npy"});
    EXPECT_EQ(object["vertices"], 4);
    EXPECT_EQ(object["edges"], 3);
    EXPECT_EQ(object["reachable_pairs"], 6);
    EXPECT_EQ(read_matrix("R.npy"), (TestMatrix{4, 4, {0, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0}}));
    EXPECT_TRUE(contains(heptad_ok({"closure", "G.mtx", "-o", "R.pbm", "--threads", "1"}), "6 reachable pairs"));
}

TEST_F(Bits, info_shows_the_density) {
    heptad_ok({"gen", "bits", "--shape", "200x300", "--density", "0.25", "-o", "A.pbm"});
    const auto object = heptad_json({"info", "A.pbm"});
    EXPECT_NEAR(object["density"].get<double>(), 0.25, 0.02);
    EXPECT_EQ(object["format"], "PBM P4");
    EXPECT_TRUE(contains(heptad_ok({"info", "A.pbm"}), "density"));
}

TEST_F(Bits, what_cannot_be_meant_is_refused) {
    write("A.pbm", pbm(bits(8, 8, 1)));
    write("B.pbm", pbm(bits(9, 8, 1)));
    write("cut.pbm", pbm(bits(8, 8, 1)).substr(0, 12));
    heptad_fails(2, {"mul", "A.pbm", "A.pbm", "-o", "C.pbm"});
    heptad_fails(2, {"mul", "A.pbm", "A.pbm", "-o", "C.pbm", "--type", "f32"});
    heptad_fails(2, {"mul", "A.pbm", "A.pbm", "-o", "C.pbm", "--type", "gf2", "--device", "reference"});
    heptad_fails(2, {"mul", "A.pbm", "A.pbm", "-o", "C.pbm", "--type", "gf2", "--mode", "serial"});
    heptad_fails(2, {"mul", "A.pbm", "A.pbm", "-o", "C.pbm", "--type", "gf2", "--alpha", "2"});
    heptad_fails(2, {"mul", "A.pbm", "A.pbm", "-o", "C.pbm", "--type", "gf2", "--algorithm", "2x2x3-11"});
    heptad_fails(2, {"mul", "A.pbm", "A.pbm", "-o", "C.pbm", "--type", "bool", "--levels", "1"});
    heptad_fails(3, {"mul", "A.pbm", "B.pbm", "-o", "C.pbm", "--type", "gf2"});
    heptad_fails(3, {"mul", "A.pbm", "cut.pbm", "-o", "C.pbm", "--type", "gf2"});
    heptad_fails(3, {"mul", "A.pbm", "A.pbm", "-o", "C.mtx", "--type", "gf2"});
    heptad_fails(3, {"closure", "B.pbm", "-o", "R.pbm"});
    heptad_fails(3, {"closure", "missing.pbm", "-o", "R.pbm"});
    heptad_fails(2, {"gen", "uniform", "--shape", "3x3", "-o", "U.pbm"});
    heptad_fails(4, {"mul", "A.pbm", "A.pbm", "-o", "C.pbm", "--type", "gf2", "--memory", "100"});
}

}  // namespace
