// Products of files as a program that includes <heptad/files.hpp> asks for them.
#include <heptad/files.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include <heptad/bits.hpp>

#include "base/matrix.hpp"
#include "io/bit_file.hpp"
#include "io/generate.hpp"
#include "io/npy.hpp"

namespace heptad {
namespace {

namespace fs = std::filesystem;

class FilesApi : public ::testing::Test {
protected:
    void SetUp() override {
        folder_ = fs::temp_directory_path() / ("heptad-files-api-" + std::to_string(getpid()) + "-" +
                                               ::testing::UnitTest::GetInstance()->current_test_info()->name());
        fs::create_directories(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }

    std::string path(const std::string& name) const { return folder_ / name; }
    std::string read(const std::string& name) const {
        std::ifstream stream(path(name), std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    }
    /// Integers, so that every way to multiply gives the same bits.
    void write(const std::string& name, std::int64_t rows, std::int64_t cols, std::uint64_t seed,
               Type type = Type::f32) const {
        write_npy(path(name), generate("integer", rows, cols, type, seed));
    }
    FileReport multiply(const FileOptions& options = {}) const {
        return multiply_files(path("A.npy"), path("B.npy"), path("C.npy"), options);
    }
    /// C by the library's product in memory.
    Matrix product(double alpha = 1) const {
        const Matrix a = read_npy(path("A.npy")), b = read_npy(path("B.npy"));
        Matrix c(a.type(), a.rows(), b.cols());
        heptad::multiply(alpha, a.view(), b.view(), 0, c.view());
        return c;
    }
    void expect_result(const Matrix& expected) const {
        const Matrix c = read_npy(path("C.npy"));
        ASSERT_EQ(c.size_bytes(), expected.size_bytes());
        EXPECT_EQ(std::memcmp(c.data(), expected.data(), static_cast<std::size_t>(c.size_bytes())), 0);
    }
    ErrorCode refusal(const FileOptions& options = {}) const {
        try {
            multiply(options);
        } catch (const Error& error) {
            EXPECT_GT(std::string(error.what()).size(), 20U);
            EXPECT_EQ(std::string(error.what()).find("--"), std::string::npos) << error.what();
            return error.code();
        }
        ADD_FAILURE() << "nothing was refused";
        return ErrorCode::internal;
    }
    std::size_t file_count() const {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
    }

    fs::path folder_;
};

FileOptions in_little_memory() {
    FileOptions options;
    options.memory_bytes = 150 << 10;
    return options;
}

TEST_F(FilesApi, the_same_bits_in_memory_and_in_pieces_of_every_type) {
    for (const Type type : {Type::f32, Type::f64, Type::i32}) {
        write("A.npy", 300, 210, 1, type);
        write("B.npy", 210, 260, 2, type);
        const FileReport whole = multiply();
        EXPECT_FALSE(whole.in_pieces);
        EXPECT_EQ(whole.type, type);
        EXPECT_EQ(whole.size.m * 1000000 + whole.size.k * 1000 + whole.size.n, 300210260);
        EXPECT_FALSE(whole.plan.empty());
        expect_result(product());
        FileOptions options = in_little_memory();
        options.verify = true;
        const FileReport pieces = multiply(options);
        EXPECT_TRUE(pieces.in_pieces);
        EXPECT_GT(pieces.tiles, 1);
        EXPECT_TRUE(pieces.verified);
        EXPECT_LT(pieces.miss_chance, 0.01);
        expect_result(product());
    }
}

TEST_F(FilesApi, alpha_beta_and_transposes_mean_what_they_say) {
    write("A.npy", 210, 300, 1);
    write("B.npy", 260, 210, 2);
    write("C0.npy", 300, 260, 3);
    FileOptions options;
    options.transpose_a = options.transpose_b = true;
    options.alpha = 2;
    options.beta = 3;
    options.c0 = path("C0.npy");
    options.verify = true;
    const FileReport report = multiply(options);
    EXPECT_TRUE(report.verified);
    const Matrix a = read_npy(path("A.npy")), b = read_npy(path("B.npy"));
    Matrix c = read_npy(path("C0.npy"));
    heptad::multiply(2, transposed(a.view()), transposed(b.view()), 3, c.view());
    expect_result(c);
    options.memory_bytes = 200 << 10;
    EXPECT_TRUE(multiply(options).in_pieces);
    expect_result(c);
}

TEST_F(FilesApi, packed_bits_in_memory_and_in_pieces) {
    const BitMatrix a = BitMatrix::random(900, 800, 1), b = BitMatrix::random(800, 850, 2);
    write_bits(path("a.pbm"), a, false);
    write_bits(path("b.pbm"), b, false);
    FileOptions options;
    options.verify = true;
    for (const Type algebra : {Type::gf2, Type::boolean}) {
        options.type = algebra;
        for (const std::int64_t memory : {std::int64_t{1} << 30, std::int64_t{100} << 10}) {
            options.memory_bytes = memory;
            const FileReport report = multiply_files(path("a.pbm"), path("b.pbm"), path("c.pbm"), options);
            EXPECT_EQ(report.in_pieces, memory < 1 << 20);
            EXPECT_TRUE(report.verified);
            EXPECT_TRUE(read_bits(path("c.pbm"), {}) == bits::product(algebra, a, b));
        }
    }
}

TEST_F(FilesApi, cancelled_in_pieces_it_goes_on_where_it_was) {
    write("A.npy", 600, 400, 1);
    write("B.npy", 400, 500, 2);
    FileOptions options = in_little_memory();
    options.resume = true;
    options.progress = [&](const Progress& progress) {
        if (progress.fraction > 0.3) {
            options.cancel.cancel();
        }
    };
    EXPECT_EQ(refusal(options), ErrorCode::cancelled);
    EXPECT_FALSE(fs::exists(path("C.npy")));
    options.cancel.reset();
    options.progress = {};
    const FileReport report = multiply(options);
    EXPECT_GT(report.resumed_tiles, 0);
    EXPECT_LT(report.resumed_tiles, report.tiles);
    expect_result(product());
    EXPECT_EQ(file_count(), 3U) << "something was left behind";
}

TEST_F(FilesApi, progress_names_the_stages_and_a_cancelled_read_writes_nothing) {
    write("A.npy", 700, 700, 1);
    write("B.npy", 700, 700, 2);
    std::set<std::string> stages;
    FileOptions options;
    options.verify = true;
    options.progress = [&](const Progress& progress) {
        EXPECT_GE(progress.fraction, 0);
        EXPECT_LE(progress.fraction, 1);
        stages.insert(progress.stage);
    };
    multiply(options);
    for (const char* stage : {"read A", "read B", "multiply", "write C"}) {
        EXPECT_TRUE(stages.contains(stage)) << stage;
    }
    fs::remove(path("C.npy"));
    options.cancel.cancel();
    EXPECT_EQ(refusal(options), ErrorCode::cancelled);
    EXPECT_FALSE(fs::exists(path("C.npy")));
}

TEST_F(FilesApi, a_trace_is_written_beside_the_product) {
    write("A.npy", 100, 100, 1);
    write("B.npy", 100, 100, 2);
    FileOptions options;
    options.trace_file = path("trace.json");
    EXPECT_TRUE(multiply(options).in_pieces);
    EXPECT_NE(read("trace.json").find("traceEvents"), std::string::npos);
    options.trace_file = path("A.npy");
    EXPECT_EQ(refusal(options), ErrorCode::usage);
}

TEST_F(FilesApi, what_cannot_be_meant_or_does_not_match_is_refused_and_writes_nothing) {
    EXPECT_EQ(refusal(), ErrorCode::input) << "there are no files";
    write("A.npy", 30, 20, 1);
    write("B.npy", 21, 40, 2);
    EXPECT_EQ(refusal(), ErrorCode::input) << "shapes";
    EXPECT_EQ(refusal(in_little_memory()), ErrorCode::input);
    write("B.npy", 20, 40, 2, Type::f64);
    EXPECT_EQ(refusal(), ErrorCode::input) << "types";
    write("B.npy", 20, 40, 2);
    FileOptions options;
    options.beta = 1;
    EXPECT_EQ(refusal(options), ErrorCode::usage) << "beta without C0";
    options.c0 = path("A.npy");
    EXPECT_EQ(refusal(options), ErrorCode::input) << "the shape of C0";
    options.beta = 0;
    EXPECT_EQ(refusal(options), ErrorCode::usage) << "C0 without beta";
    options = {};
    options.threads = -1;
    EXPECT_EQ(refusal(options), ErrorCode::usage);
    options = {};
    options.product.device = "abacus";
    EXPECT_EQ(refusal(options), ErrorCode::usage);
    options = {};
    options.memory_bytes = 10;
    EXPECT_EQ(refusal(options), ErrorCode::resource);
    EXPECT_EQ(file_count(), 2U);
    EXPECT_THROW(multiply_files(path("A.npy"), path("B.npy"), path("missing/C.npy")), Error);
    EXPECT_THROW(multiply_files(path("A.npy"), path("B.npy"), path("")), Error) << "C is the folder of A";
    EXPECT_THROW(multiply_files(path("A.npy"), path("B.npy"), path("C.txt")), Error);
    EXPECT_THROW(multiply_files(path("A.npy"), path("B.npy"), path("A.npy"),
                                [] {
                                    FileOptions in_pieces;
                                    in_pieces.resume = true;
                                    return in_pieces;
                                }()),
                 Error)
        << "an operand is read until the end";
    EXPECT_EQ(file_count(), 2U);
}

TEST_F(FilesApi, uneven_rows_are_told_in_memory_and_in_pieces) {
    write("A.npy", 64, 64, 1);
    write("B.npy", 64, 64, 2);
    FileOptions options;
    options.product.levels = 1;
    EXPECT_FALSE(multiply(options).uneven);
    Matrix a = generate("normal", 64, 64, Type::f32, 1);
    for (std::int64_t j = 0; j < 64; ++j) {
        static_cast<float*>(a.data())[j] *= 1e6F;
    }
    write_npy(path("A.npy"), a);
    EXPECT_TRUE(multiply(options).scaled);
    FileOptions in_pieces = options;
    in_pieces.resume = true;  // with memory for workspace
    EXPECT_TRUE(multiply(in_pieces).scaled);
    for (const char* name : {"A.npy", "B.npy"}) {  // no powers of two make blocks on the diagonal even
        Matrix blocks = generate("normal", 64, 64, Type::f32, 1);
        for (std::int64_t i = 0; i < 64; ++i) {
            for (std::int64_t j = 0; j < 64; ++j) {
                static_cast<float*>(blocks.data())[i * 64 + j] *= (i < 32) == (j < 32) ? 1.0F : 0.0F;
            }
        }
        write_npy(path(name), blocks);
    }
    const FileReport whole = multiply(options), pieces = multiply(in_pieces);
    EXPECT_TRUE(whole.uneven && whole.fell_back && !whole.scaled);
    EXPECT_EQ(whole.expected_error_growth, 1);  // it was multiplied classically
    EXPECT_TRUE(pieces.in_pieces);
    EXPECT_TRUE(pieces.uneven && pieces.fell_back && !pieces.scaled);
}

TEST_F(FilesApi, report_tells_what_to_expect) {
    write("A.npy", 64, 64, 1);
    write("B.npy", 64, 64, 2);
    FileOptions options;
    options.product.levels = 1;
    const FileReport levels = multiply(options);
    EXPECT_GT(levels.expected_error_growth, 1);
    EXPECT_GT(levels.predicted_speedup, 0);
    options.product.accuracy = Accuracy::strict;
    const FileReport strict = multiply(options);
    EXPECT_EQ(strict.expected_error_growth, 1);
    EXPECT_GT(strict.typical_error, 1e-8);
    EXPECT_LT(strict.typical_error, 1e-6);
}

TEST_F(FilesApi, c_may_be_an_input_in_memory) {
    write("A.npy", 60, 60, 1);
    write("B.npy", 60, 60, 2);
    const Matrix expected = product();
    multiply_files(path("A.npy"), path("B.npy"), path("A.npy"));
    fs::rename(path("A.npy"), path("C.npy"));
    expect_result(expected);
}

}  // namespace
}  // namespace heptad
