// Data of all kinds (product/data_families.hpp) among ranks: levels of the ranks' own products and Strassen's of all
// ranks together take powers of two out of lines, lose at most a digit, and say what they did.
#include <cmath>
#include <cstring>

#include "base/half.hpp"
#include "cli/mpi_process.hpp"
#include "product/data_families.hpp"

namespace heptad::testing {
namespace {

namespace data = testing_data;

class MpiFamilies : public Mpi {
protected:
    static TestMatrix of_file(const data::Matrix<float>& matrix) {
        return {matrix.rows, matrix.cols, {matrix.data.begin(), matrix.data.end()}};
    }
    struct Run {
        double error = 0, of_lines = 0;
        nlohmann::json report;
    };
    Run run(const data::Matrix<float>& a, const data::Matrix<float>& b, int ranks, const Words& words) {
        Run run;
        run.report = report(ranks, words);
        const TestMatrix c = read_matrix("C.npy");
        data::Matrix<float> computed(c.rows, c.cols);
        std::transform(c.values.begin(), c.values.end(), computed.data.begin(),
                       [](double x) { return static_cast<float>(x); });
        run.error = data::worst_error(a, b, computed);
        run.of_lines = data::worst_error(a, b, computed, true);
        return run;
    }
    static void expect_within_bound(const Run& made) {
        const nlohmann::json& bound = made.report["guaranteed_bound"];
        const bool of_entries = bound["norm"] == "(|A||B|)_ij";
        EXPECT_LE(of_entries ? made.error : made.of_lines, bound["value"].get<double>()) << bound;
    }
};

TEST_F(MpiFamilies, graded_data_is_scaled_and_loses_at_most_a_digit) {
    for (const data::Family& family : data::all_families()) {
        if (family.way == data::Way::any) {
            continue;
        }
        SCOPED_TRACE(family.name);
        data::Random random(7);
        data::Matrix<double> wide_a(150, 980), wide_b(980, 140);
        family.make(wide_a, wide_b, random);
        const auto a = data::rounded_to<float>(wide_a), b = data::rounded_to<float>(wide_b);
        write_matrix("A.npy", of_file(a));
        write_matrix("B.npy", of_file(b));
        const double classical = std::max(run(a, b, 2, {"--accuracy", "strict"}).error, static_cast<double>(0x1p-24F));
        for (const auto& [ranks, words] : {std::pair{2, Words{"--grid", "2x1x1", "--levels", "1"}},
                                           std::pair{4, Words{"--algorithm", "mod-pegmm", "--levels", "1"}},
                                           std::pair{7, Words{"--algorithm", "caps"}}}) {
            const Run made = run(a, b, ranks, words);
            SCOPED_TRACE(joined(words));
            EXPECT_LE(made.error, 10 * classical);
            expect_within_bound(made);
            if (ranks == 7) {  // what a part of A and B holds may be even where the whole is not
                const bool is_caps = made.report["plan"].get<std::string>().find("algorithm=caps") != std::string::npos;
                EXPECT_EQ(is_caps, family.way != data::Way::classical);
                EXPECT_EQ(made.report["scaled"], family.way == data::Way::scaled);
            } else if (family.way == data::Way::scaled) {
                EXPECT_TRUE(made.report["scaled"]);
            }
            for (const nlohmann::json& rank : made.report["ranks"]) {
                EXPECT_TRUE(family.way == data::Way::classical || !rank["fell_back"]);
            }
        }
    }
}

// Ranks hold pieces of rows, here of 14 values: too few to judge by.
TEST_F(MpiFamilies, small_matrices_are_as_even_among_ranks_as_in_one_place) {
    for (const data::Family& family : data::all_families()) {
        if (family.way != data::Way::fast) {
            continue;
        }
        SCOPED_TRACE(family.name);
        data::Random random(11);
        data::Matrix<double> wide_a(210, 200), wide_b(200, 190);
        family.make(wide_a, wide_b, random);
        const auto a = data::rounded_to<float>(wide_a), b = data::rounded_to<float>(wide_b);
        write_matrix("A.npy", of_file(a));
        write_matrix("B.npy", of_file(b));
        const Run made = run(a, b, 7, {"--algorithm", "caps"});
        EXPECT_NE(made.report["plan"].get<std::string>().find("algorithm=caps"), std::string::npos);
        EXPECT_FALSE(made.report["scaled"]);
        expect_within_bound(made);
    }
}

// Ranks multiply f16 as f32, and round to f16 where C is written.
TEST_F(MpiFamilies, the_bound_counts_the_type_of_the_file) {
    constexpr std::int64_t kSide = 60;
    data::Random random(7);
    data::Matrix<double> a(kSide, kSide), b(kSide, kSide);
    for (data::Matrix<double>* const matrix : {&a, &b}) {
        data::fill_uniform(*matrix, random);
        std::string bytes;
        for (double& x : matrix->data) {
            const f16 half = to_f16(static_cast<float>(std::abs(x)));
            x = static_cast<double>(to_float(half));
            bytes.append(reinterpret_cast<const char*>(&half), sizeof half);
        }
        write(matrix == &a ? "A.npy" : "B.npy",
              npy_bytes("{'descr': '<f2', 'fortran_order': False, 'shape': (60, 60), }", bytes));
    }
    for (const char* const word : {"strict", "balanced"}) {
        const nlohmann::json told = report(2, {"--accuracy", word});
        const std::string bytes = read("C.npy");
        data::Matrix<double> c(kSide, kSide);
        const std::size_t first = bytes.size() - c.data.size() * sizeof(f16);
        for (std::size_t i = 0; i < c.data.size(); ++i) {
            f16 half;
            std::memcpy(&half, bytes.data() + first + i * sizeof half, sizeof half);
            c.data[i] = static_cast<double>(to_float(half));
        }
        const nlohmann::json& bound = told["guaranteed_bound"];
        ASSERT_EQ(bound["norm"], "(|A||B|)_ij");
        const double error = data::worst_error(a, b, c);
        EXPECT_GT(error, 0x1p-13);
        EXPECT_LE(error, bound["value"].get<double>()) << bound;
        EXPECT_LT(bound["value"].get<double>(), 0x1.2p-11);
    }
}

// The bound is told by the largest block. With little memory that has no room for levels, and blocks of other ranks,
// which are a column narrower, might have.
TEST_F(MpiFamilies, no_rank_promises_less_than_the_one_that_tells) {
    data::Random random(3);
    data::Matrix<double> wide_a(96, 64), wide_b(64, 129);
    data::fill_uniform(wide_a, random);
    data::fill_uniform(wide_b, random);
    data::times(wide_a, [](std::int64_t i, std::int64_t k) { return k == 3 ? 1e3 : i == 20 && k == 40 ? 1e4 : 1; });
    const auto a = data::rounded_to<float>(wide_a), b = data::rounded_to<float>(wide_b);
    write_matrix("A.npy", of_file(a));
    write_matrix("B.npy", of_file(b));
    const Run made =
        run(a, b, 5,
            {"--accuracy", "fast", "--levels", "2", "--algorithm", "winograd", "--threads", "1", "--memory", "36910"});
    if (made.report["guaranteed_bound"]["norm"] == "(|A||B|)_ij") {
        expect_within_bound(made);
    }
}

TEST_F(MpiFamilies, people_are_told) {
    data::Random random(7);
    data::Matrix<double> wide_a(150, 980), wide_b(980, 140);
    data::fill_uniform(wide_a, random);
    data::fill_uniform(wide_b, random);
    data::times(wide_a, [](std::int64_t i, std::int64_t) { return data::graded(i, 150, 40); });
    write_matrix("A.npy", of_file(data::rounded_to<float>(wide_a)));
    write_matrix("B.npy", of_file(data::rounded_to<float>(wide_b)));
    const Outcome outcome = heptad(started(7, mul({"--algorithm", "caps"})));
    EXPECT_NE(outcome.out.find("powers of two were taken out"), std::string::npos) << outcome.out << outcome.err;
}

}  // namespace
}  // namespace heptad::testing
