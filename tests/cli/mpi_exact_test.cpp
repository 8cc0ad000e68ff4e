// heptad-mpi with accuracy exact: the bits of one process's product on any number of ranks, by every algorithm that
// leaves k whole; everything else, and data that takes too many bits, is refused by all ranks alike.
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "base/matrix.hpp"
#include "base/stored_type.hpp"
#include "cli/mpi_process.hpp"
#include "product/memory/product.hpp"

namespace heptad::testing {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

/// Of the .npy files that are written here.
std::string dtype_of(Type type) {
    return type == Type::f64 ? "<f8" : type == Type::f16 ? "<f2" : type == Type::bf16 ? "<V2" : "<f4";
}

class MpiExact : public Mpi {
protected:
    /// Numbers with all of their digits, over some powers of two.
    static Matrix random_matrix(Type type, std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
        Matrix matrix(type, rows, cols);
        std::mt19937_64 random(seed);
        std::normal_distribution<double> normal;
        std::uniform_int_distribution<int> power(-6, 6);
        for (std::int64_t i = 0; i < rows; ++i) {
            for (std::int64_t j = 0; j < cols; ++j) {
                set(matrix, i, j, std::ldexp(normal(random), power(random)));
            }
        }
        return matrix;
    }
    static void set(Matrix& matrix, std::int64_t i, std::int64_t j, double value) {
        with_stored_type(matrix.type(), [&]<class T>() {
            static_cast<T*>(matrix.data())[i * matrix.cols() + j] = from_double<T>(value);
        });
    }
    static std::string bytes_of(const Matrix& matrix) {
        return {static_cast<const char*>(matrix.data()), static_cast<std::size_t>(matrix.size_bytes())};
    }
    void write_bytes(const std::string& name, const Matrix& matrix) {
        write(name, npy_bytes("{'descr': '" + dtype_of(matrix.type()) + "', 'fortran_order': False, 'shape': (" +
                                  std::to_string(matrix.rows()) + ", " + std::to_string(matrix.cols()) + "), }",
                              bytes_of(matrix)));
    }
    void make(Type type, std::int64_t m, std::int64_t k, std::int64_t n) {
        left_ = random_matrix(type, m, k, 1);
        right_ = random_matrix(type, k, n, 2);
        c0_ = random_matrix(type, m, n, 3);
    }
    /// And what one process makes of them.
    void write_all(double alpha, double beta) {
        write_bytes("A.npy", left_);
        write_bytes("B.npy", right_);
        write_bytes("C0.npy", c0_);
        Matrix expected(c0_.type(), c0_.rows(), c0_.cols());
        std::memcpy(expected.data(), c0_.data(), static_cast<std::size_t>(c0_.size_bytes()));
        Options options;
        options.accuracy = Accuracy::exact;
        multiply_in_memory(alpha, left_.view(), right_.view(), beta, expected.view(), options, {});
        expected_ = bytes_of(expected);
    }
    void expect_bits(int ranks, const Words& more) {
        SCOPED_TRACE(std::to_string(ranks) + " ranks" + joined(more) + " " + dtype_of(left_.type()));
        Words words{"--accuracy", "exact"};
        words.insert(words.end(), more.begin(), more.end());
        if (left_.type() == Type::bf16 || left_.type() == Type::tf32) {
            words.insert(words.end(), {"--type", left_.type() == Type::bf16 ? "bf16" : "tf32"});
        }
        const Outcome outcome = heptad(started(ranks, mul(words)));
        ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
        const std::string file = read("C.npy");
        ASSERT_GT(file.size(), expected_.size());
        EXPECT_TRUE(file.substr(file.size() - expected_.size()) == expected_);
        std::filesystem::remove(folder_ / "C.npy");
    }
    /// Values of 600 powers of two in the last row of A, which the last rank has.
    void make_too_wide() {
        make(Type::f64, 61, 83, 47);
        set(left_, 60, 0, 1e-90);
        set(left_, 60, 1, 1e90);
        write_bytes("A.npy", left_);
        write_bytes("B.npy", right_);
    }

    Matrix left_, right_, c0_;
    std::string expected_;
};

TEST_F(MpiExact, every_number_of_ranks_gives_the_bits_of_one_process) {
    for (const auto& [type, m, k, n] : {std::tuple{Type::f32, 61, 83, 47}, {Type::f64, 130, 257, 99}}) {
        make(type, m, k, n);
        write_all(1, 0);
        for (const int ranks : {1, 2, 4, 6, 7}) {
            expect_bits(ranks, {});
            expect_bits(ranks, {"--algorithm", "pegmm"});
            expect_bits(ranks, {"--algorithm", "mod-pegmm"});
        }
        expect_bits(6, {"--grid", "1x1x5", "--verify"});
        expect_bits(7, {"--grid", "3x1x2", "--threads", "2"});
        expect_bits(4, {"--algorithm", "pegmm", "--block", "7x300x9", "--verify"});
    }
}

TEST_F(MpiExact, factors_and_what_is_added_are_rounded_with_the_product) {
    for (const Type type : {Type::f32, Type::f64, Type::tf32, Type::f16, Type::bf16}) {
        make(type, 37, 150, 29);
        write_all(0.7, -1.3);
        for (const char* algorithm : {"grid", "pegmm", "mod-pegmm"}) {
            expect_bits(4,
                        {"--algorithm", algorithm, "--alpha", "0.7", "--beta", "-1.3", "--add", "C0.npy", "--verify"});
        }
    }
}

TEST_F(MpiExact, rows_and_columns_that_are_not_finite_leave_the_others_exact) {
    make(Type::f32, 33, 70, 41);
    set(left_, 5, 3, kNaN);
    set(left_, 30, 69, kInf);
    set(right_, 0, 40, -kInf);
    write_all(1, 0);
    for (const char* algorithm : {"grid", "pegmm", "mod-pegmm"}) {
        expect_bits(6, {"--algorithm", algorithm});
    }
}

TEST_F(MpiExact, parts_that_the_root_hands_out_are_whole_rows_and_columns) {
    make(Type::f16, 50, 64, 45);
    write_all(1, 0);
    std::filesystem::create_directory(folder_ / "scratch");
    for (const char* algorithm : {"grid", "pegmm", "mod-pegmm"}) {
        expect_bits(3, {"--algorithm", algorithm, "--scatter", "--scratch", "scratch"});
    }
}

TEST_F(MpiExact, smaller_than_the_job_empty_and_of_one_entry) {
    for (const auto& [m, k, n] : {std::tuple{3, 5, 2}, {1, 400, 1}, {4, 0, 3}}) {
        make(Type::f64, m, k, n);
        write_all(1, 0);
        expect_bits(7, {});
        expect_bits(4, {"--algorithm", "mod-pegmm"});
    }
}

TEST_F(MpiExact, the_report_says_that_nothing_but_one_rounding_is_left) {
    make(Type::f32, 61, 83, 47);
    write_all(1, 0);
    const nlohmann::json told = report(4, {"--accuracy", "exact", "--verify"});
    EXPECT_EQ(told["verified"], true);
    EXPECT_EQ(told["guaranteed_bound"]["norm"], "|AB|_ij") << told;
    EXPECT_NE(told["plan"].get<std::string>().find("x1x"), std::string::npos) << told["plan"];
}

TEST_F(MpiExact, data_of_too_many_bits_is_refused_by_all_ranks_and_nothing_stays) {
    make_too_wide();
    const auto names = [&] {
        Words all;
        for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
            all.push_back(entry.path().filename());
        }
        return all;
    };
    const Words before = names();
    for (const char* algorithm : {"grid", "pegmm", "mod-pegmm"}) {
        expect_failure(3, started(4, mul({"--accuracy", "exact", "--algorithm", algorithm})),
                       {"an exact product of these matrices takes", "accuracy strict", "C.npy was not written"});
        EXPECT_EQ(names().size(), before.size()) << algorithm;
    }
    write("C.npy", "as it was");
    EXPECT_EQ(heptad(started(4, mul({"--accuracy", "exact"}))).exit_code, 3);
    EXPECT_EQ(read("C.npy"), "as it was");
}

TEST_F(MpiExact, a_cut_of_k_levels_and_too_little_memory_are_refused_with_a_way_out) {
    make(Type::f64, 61, 83, 47);
    write_all(1, 0);
    const Words exact{"--accuracy", "exact"};
    const auto refused = [&](int code, Words more, const Words& said) {
        more.insert(more.end(), exact.begin(), exact.end());
        expect_failure(code, started(7, mul(more)), said);
    };
    refused(2, {"--grid", "1x3x2"}, {"cuts k", "--grid 1x1x2"});
    refused(2, {"--algorithm", "pegmm", "--block", "7x10x9"}, {"cut k", "y = 83"});
    refused(2, {"--algorithm", "caps"}, {"rounds sums of blocks", "--algorithm grid"});
    refused(4, {"--memory", "20000"}, {"whole rows of A and columns of B", "--algorithm pegmm"});
    refused(4, {"--algorithm", "pegmm", "--memory", "9400"}, {"accuracy exact takes at least", "give more"});
}

}  // namespace
}  // namespace heptad::testing
