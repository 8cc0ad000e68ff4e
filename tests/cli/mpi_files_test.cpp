// heptad-mpi mul: which files the ranks read, and whether they all see the same ones.
#include <cstring>

#include "base/half.hpp"
#include "cli/mpi_process.hpp"

namespace heptad::testing {
namespace {

namespace fs = std::filesystem;

class MpiFiles : public Mpi {
protected:
    void SetUp() override {
        Mpi::SetUp();
        for (const char* name : {"left", "right", "scratch"}) {
            fs::create_directory(folder_ / name);
        }
    }

    /// Two ranks, each in a working folder of its own.
    Outcome in_two_folders(const Words& words) {
        Words all = launcher();
        for (const char* name : {"left", "right"}) {
            all.insert(all.end(), {"-n", "1", "-wdir", (folder_ / name).string(), HEPTAD_MPI_BINARY});
            all.insert(all.end(), words.begin(), words.end());
            all.emplace_back(":");
        }
        all.pop_back();
        return heptad(all);
    }
    /// The same product, into one file that both see.
    Words mul_into_one(const Words& more = {}) {
        Words words{"mul", "A.npy", "B.npy", "-o", (folder_ / "C.npy").string(), "--grid", "2x1x1"};
        words.insert(words.end(), more.begin(), more.end());
        return words;
    }
    /// The same file for both ranks, with the same time of change.
    void put(const std::string& name, const std::string& bytes) {
        write("left/" + name, bytes);
        write("right/" + name, bytes);
        set_times_equal(name);
    }
    void set_times_equal(const std::string& name) {
        fs::last_write_time(folder_ / "right" / name, fs::last_write_time(folder_ / "left" / name));
    }
    void flip_byte(const std::string& name, std::int64_t from_end) {
        std::string bytes = read(name);
        bytes[bytes.size() - static_cast<std::size_t>(from_end)] ^= 1;
        write(name, bytes);
    }
    void expect_refused(const Outcome& outcome, int exit_code, const Words& said) {
        EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
        for (const std::string& part : said) {
            EXPECT_NE(outcome.err.find(part), std::string::npos) << part << "\n" << outcome.err;
        }
        for (const auto& entry : fs::directory_iterator(folder_)) {
            EXPECT_FALSE(entry.path().filename().string().starts_with("C.npy")) << entry.path();
        }
    }

    /// A .npy file of 16-bit floats.
    static std::string halves(const TestMatrix& matrix, Type type) {
        std::string data;
        for (const double value : matrix.values) {
            const auto number = static_cast<float>(value);
            const std::uint16_t bits = type == Type::bf16 ? to_bf16(number).bits : to_f16(number).bits;
            data.append(reinterpret_cast<const char*>(&bits), sizeof bits);
        }
        return npy_bytes(std::string("{'descr': '") + (type == Type::bf16 ? "<V2" : "<f2") +
                             "', 'fortran_order': False, 'shape': (" + std::to_string(matrix.rows) + ", " +
                             std::to_string(matrix.cols) + "), }",
                         data);
    }
    /// The values of such a file, whose header has 4096 bytes.
    TestMatrix read_halves(const std::string& name, std::int64_t rows, std::int64_t cols, Type type) {
        const std::string bytes = read(name);
        TestMatrix matrix{rows, cols, {}};
        EXPECT_EQ(bytes.size(), static_cast<std::size_t>(4096 + 2 * rows * cols));
        EXPECT_NE(bytes.find(type == Type::bf16 ? "V2" : "<f2"), std::string::npos);
        for (std::size_t place = 4096; place + 2 <= bytes.size(); place += 2) {
            std::uint16_t bits = 0;
            std::memcpy(&bits, bytes.data() + place, 2);
            matrix.values.push_back(
                static_cast<double>(type == Type::bf16 ? to_float(bf16{bits}) : to_float(f16{bits})));
        }
        return matrix;
    }
    static std::string market(const TestMatrix& matrix) {
        std::string text = "%%MatrixMarket matrix array integer general\n" + std::to_string(matrix.rows) + " " +
                           std::to_string(matrix.cols) + "\n";
        for (std::int64_t j = 0; j < matrix.cols; ++j) {
            for (std::int64_t i = 0; i < matrix.rows; ++i) {
                text += std::to_string(static_cast<int>(matrix.at(i, j))) + "\n";
            }
        }
        return text;
    }
};

TEST_F(MpiFiles, rank_that_sees_another_matrix_is_named_before_the_product) {
    const TestMatrix a = integers(256, 256, 1), b = integers(256, 256, 2);
    TestMatrix half = a;
    std::fill(half.values.begin() + 128 * 256, half.values.end(), 3.0);
    put("A.npy", npy_file(a, "<f4"));
    put("B.npy", npy_file(b, "<f4"));
    put("C0.npy", npy_file(b, "<f4"));
    EXPECT_EQ(in_two_folders(mul_into_one()).exit_code, 0);
    EXPECT_TRUE(read_matrix("C.npy") == product(a, b));
    fs::remove(folder_ / "C.npy");

    write("right/A.npy", npy_file(half, "<f4"));
    expect_refused(in_two_folders(mul_into_one({"--verify"})), 3, {"rank 1", "'A.npy'", "rank 0", "other contents"});
    set_times_equal("A.npy");
    expect_refused(in_two_folders(mul_into_one()), 3, {"rank 1", "'A.npy'", "other contents", "--scatter"});
    put("A.npy", npy_file(a, "<f4"));
    write("right/B.npy", npy_file(integers(256, 255, 2), "<f4"));
    expect_refused(in_two_folders(mul_into_one()), 3, {"rank 1", "'B.npy'", "bytes"});
    put("B.npy", npy_file(b, "<f4"));
    flip_byte("right/C0.npy", 1);
    expect_refused(in_two_folders(mul_into_one({"--beta", "1", "--add", "C0.npy"})), 3, {"rank 1", "'C0.npy'"});
}

// Files of a megabyte and more, so that there are places between the samples of 64 times 4096 bytes.
TEST_F(MpiFiles, copies_with_other_times_are_compared_byte_by_byte) {
    const TestMatrix a = integers(600, 500, 1), b = integers(500, 3, 2);
    put("A.npy", npy_file(a, "<i4"));
    put("B.npy", npy_file(b, "<i4"));
    fs::last_write_time(folder_ / "right/A.npy", fs::file_time_type::clock::now() - std::chrono::hours(1));
    const Outcome outcome = in_two_folders(mul_into_one());
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_TRUE(read_matrix("C.npy") == product(a, b));
    fs::remove(folder_ / "C.npy");
    flip_byte("right/A.npy", 13'000);
    expect_refused(in_two_folders(mul_into_one()), 3, {"rank 1", "'A.npy'", "time of change"});
}

TEST_F(MpiFiles, verify_reads_through_another_rank_than_the_one_that_multiplied) {
    const TestMatrix a = integers(600, 500, 1), b = integers(500, 3, 2);
    put("A.npy", npy_file(a, "<i4"));
    put("B.npy", npy_file(b, "<i4"));
    flip_byte("right/A.npy", 13'000);  // in a row of rank 1, between the samples
    set_times_equal("A.npy");
    for (const char* algorithm : {"grid", "pegmm", "mod-pegmm"}) {
        Words words{"mul", "A.npy", "B.npy", "-o", (folder_ / "C.npy").string(), "--algorithm", algorithm};
        const Outcome unseen = in_two_folders(words);
        EXPECT_EQ(unseen.exit_code, 0) << unseen.err;  // nothing tells the files apart
        EXPECT_FALSE(read_matrix("C.npy") == product(a, b));
        fs::remove(folder_ / "C.npy");
        words.emplace_back("--verify");
        expect_refused(in_two_folders(words), 5, {"C is certainly wrong"});
    }
}

TEST_F(MpiFiles, ranks_that_write_in_different_folders_are_refused) {
    make_operands(20, 30, 10);
    const Words words{"mul", (folder_ / "A.npy").string(), (folder_ / "B.npy").string(), "-o", "C.npy"};
    for (const bool stale : {false, true}) {
        if (stale) {  // as left by another job, of the right length: it could be filled for nobody
            heptad(started(1, mul({"--keep-parts"})));
            fs::rename(folder_ / "C.npy.part-0.npy", folder_ / "right/C.npy.partial");
        }
        const Outcome outcome = in_two_folders(words);
        EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
        EXPECT_NE(outcome.err.find("another folder"), std::string::npos) << outcome.err;
        EXPECT_NE(outcome.err.find("rank 1"), std::string::npos) << outcome.err;
        EXPECT_TRUE(fs::is_empty(folder_ / "left"));
    }
}

TEST_F(MpiFiles, sixteen_bit_floats_are_multiplied_as_f32_and_rounded_once) {
    for (const Type type : {Type::bf16, Type::f16}) {
        const TestMatrix a = integers(25, 41, 1), b = integers(41, 19, 2);
        write("A.npy", halves(a, type));
        write("B.npy", halves(b, type));
        for (const Words& more :
             {Words{"--grid", "1x2x2"}, Words{"--algorithm", "pegmm", "--block", "4x7x9", "--verify"},
              Words{"--algorithm", "mod-pegmm", "--block", "4x7x3", "--scatter", "--scratch", "scratch"},
              Words{"--grid", "2x2x1", "--verify"}}) {
            SCOPED_TRACE(joined(more));
            Words words = more;
            words.insert(words.end(), {"--type", type == Type::bf16 ? "bf16" : "f16"});
            const nlohmann::json object = report(4, words);
            ASSERT_TRUE(object.is_object());
            EXPECT_EQ(object["type"], type == Type::bf16 ? "bf16" : "f16");
            EXPECT_TRUE(read_halves("C.npy", 25, 19, type) == product(a, b));
            fs::remove(folder_ / "C.npy");
        }
    }
    // 4107 ones: partial sums of 2053 and 2054, of which f16 holds only the second, make 4108 if they are rounded once.
    const TestMatrix row{1, 4107, std::vector<double>(4107, 1)}, column{4107, 1, std::vector<double>(4107, 1)};
    write("A.npy", halves(row, Type::f16));
    write("B.npy", halves(column, Type::f16));
    report(2, {"--grid", "1x2x1"});
    EXPECT_EQ(read_halves("C.npy", 1, 1, Type::f16).at(0, 0), 4108);
}

TEST_F(MpiFiles, pieces_of_sixteen_bit_floats_are_known_again_by_a_job_that_resumes) {
    TestMatrix a = integers(900, 900, 1), b = integers(900, 900, 2);
    for (TestMatrix* matrix : {&a, &b}) {
        for (double& value : matrix->values) {
            value /= 7;
        }
    }
    write("A.npy", halves(a, Type::f16));
    write("B.npy", halves(b, Type::f16));
    const Words words =
        mul({"--algorithm", "pegmm", "--block", "150x300x75", "--device", "reference", "--threads", "1"});
    const auto pieces = [&] {
        std::ifstream file(folder_ / "C.npy.part-0.journal");
        int units = 0;
        for (std::string line; std::getline(file, line);) {
            units += line.starts_with("unit ") ? 1 : 0;
        }
        return units;
    };
    ASSERT_NE(killed(2, words, Victims::all, [&] { return pieces() >= 2; }).exit_code, 0);
    Words again(words.begin() + 5, words.end());
    again.emplace_back("--resume");
    const nlohmann::json object = report(2, again);
    ASSERT_TRUE(object.is_object());
    EXPECT_GE(object["ranks"][0]["resumed_units"], 2);
    const std::string resumed = read("C.npy");
    again.pop_back();
    report(2, again);
    EXPECT_TRUE(read("C.npy") == resumed);
}

TEST_F(MpiFiles, matrix_market_files_are_read) {
    const TestMatrix a = integers(31, 23, 1), b = integers(23, 17, 2);
    write("A.mtx", market(a));
    write("B.mtx", market(b));
    write_matrix("B.npy", b, "<f4");
    const auto expect = [&](const Words& more, const std::string& right, const char* type) {
        Words words{"mul", "A.mtx", right, "-o", "C.npy", "--json"};
        words.insert(words.end(), more.begin(), more.end());
        SCOPED_TRACE(joined(words));
        const Outcome outcome = heptad(started(3, words));
        ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
        EXPECT_EQ(nlohmann::json::parse(outcome.out)["type"], type);
        EXPECT_TRUE(read_matrix("C.npy") == product(a, b));
        fs::remove(folder_ / "C.npy");
    };
    expect({}, "B.mtx", "i32");
    expect({"--verify"}, "B.npy", "f32");
    expect({"--type", "f64", "--grid", "1x3x1"}, "B.mtx", "f64");
    expect({"--algorithm", "mod-pegmm", "--scatter", "--scratch", "scratch"}, "B.npy", "f32");
    const Words small{"mul", "A.mtx", "B.mtx", "-o", "C.npy", "--memory", "3000"};  // A and B take 4416 bytes
    expect_failure(4, started(2, small), {"Matrix Market", "4416", "3000", ".npy"});
}

TEST_F(MpiFiles, help_shows_the_operands_and_no_option_that_is_refused) {
    const std::string help = heptad(started(2, {"mul", "--help"})).out;
    for (const char* word : {"A ", "B ", "-o,--output", "--grid", "--scatter", "--verify", "--trace", "--type"}) {
        EXPECT_NE(help.find(word), std::string::npos) << word << "\n" << help;
    }
    for (const char* word : {"--plan", "--overlap", "--columns", "--raw-a", "--pipelines", ".h5"}) {
        EXPECT_EQ(help.find(word), std::string::npos) << word << "\n" << help;
    }
    EXPECT_EQ(help.find("--trace"), help.rfind("--trace"));
}

}  // namespace
}  // namespace heptad::testing
