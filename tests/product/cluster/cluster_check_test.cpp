// The check of a result whose parts are on several ranks: what is right passes, and one wrong element anywhere is
// found. Started by mpirun; every rank runs every test, and the root judges.
#include "product/cluster/cluster_check.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>

#include "base/error.hpp"
#include "io/npy.hpp"
#include "io/scratch_folder.hpp"
#include "product/cluster/tree_merge.hpp"
#include "product/memory/product.hpp"

namespace heptad {
namespace {

Communicator* all_ranks = nullptr;  // of the whole program; MPI begins once

template <class T>
void set(Matrix& matrix, std::int64_t i, std::int64_t j, double value) {
    static_cast<T*>(matrix.data())[i * matrix.cols() + j] = static_cast<T>(value);
}
/// Another integer is the imaginary part.
template <class T>
void set_complex(Matrix& matrix, std::int64_t i, std::int64_t j, double value) {
    static_cast<std::complex<T>*>(matrix.data())[i * matrix.cols() + j] = {static_cast<T>(value),
                                                                           static_cast<T>(3 - 2 * value)};
}
void set(Matrix& matrix, std::int64_t i, std::int64_t j, double value) {
    switch (matrix.type()) {
        case Type::f64:
            return set<double>(matrix, i, j, value);
        case Type::f32:
            return set<float>(matrix, i, j, value);
        case Type::i32:
            return set<std::int32_t>(matrix, i, j, value);
        case Type::i64:
            return set<std::int64_t>(matrix, i, j, value);
        case Type::c64:
            return set_complex<float>(matrix, i, j, value);
        case Type::c128:
            return set_complex<double>(matrix, i, j, value);
        default:
            return set<std::uint8_t>(matrix, i, j, value);
    }
}

Matrix small_integers(Type type, std::int64_t rows, std::int64_t cols, std::int64_t seed) {
    Matrix matrix(type, rows, cols);
    const bool bits = type == Type::gf2 || type == Type::boolean;
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < cols; ++j) {
            const std::int64_t value = (seed * 31 + i * 17 + j * j * 5 + i * j) % 11;
            set(matrix, i, j, bits ? static_cast<double>(value < 2) : static_cast<double>(value - 5));
        }
    }
    return matrix;
}

/// A product that was computed, on its way through the check. The root makes the files, and one of its elements wrong.
class ClusterCheck : public ::testing::Test {
protected:
    /// On all ranks, whatever the cut says.
    VerifyResult check(Type type, RankCut cut, const Matrix& c) {
        cut.ranks = all_ranks->size();
        const ProductPlan plan = plan_among_ranks({23, 40, 19}, type, cut);
        Communicator& ranks = *all_ranks;
        const std::string folder = ranks.broadcast_text(ranks.rank() == 0 ? folder_ / "" : "");
        std::optional<WindowWriter> result;
        const WindowWriter::Shape shape{{0, 0, plan.m, plan.n}, plan.type};
        if (ranks.rank() == 0) {
            write_npy(folder + "A.npy", small_integers(plan.type, plan.m, plan.k, 1));
            write_npy(folder + "B.npy", small_integers(plan.type, plan.k, plan.n, 2));
            result.emplace(WindowWriter::create(folder + "C.npy", shape));
            result->write(shape.held, c.data());
        }
        ranks.barrier();
        if (!result) {
            result.emplace(WindowWriter::open(folder + "C.npy", shape));
            result->keep();
        }
        const MatrixWindows a(folder + "A.npy", plan.type, false), b(folder + "B.npy", plan.type, false);
        StageTrace trace(false);
        const NodeSettings node;
        const CheckWork work{
            plan, ranks, checked_windows(plan, ranks.rank(), readers_), &a, &b, nullptr, &*result, plan.type,
            node, trace};
        try {
            const VerifyResult verdict = check_result(work);
            ranks.barrier();
            return verdict;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::verification) << error.what();
            EXPECT_EQ(ranks.rank(), 0);
            ranks.barrier();
            VerifyResult failed;
            failed.verdict = Verdict::failed;
            failed.explanation = error.what();
            return failed;
        }
    }

    static Matrix right_result(Type type, std::int64_t m, std::int64_t k, std::int64_t n) {
        const Matrix a = small_integers(type, m, k, 1), b = small_integers(type, k, n, 2);
        Matrix c(type, m, n);
        multiply_in_memory(1, a, b, 0, c.view(), Options{});
        return c;
    }
    /// Every place of a plan's C in turn, some of them.
    void expect_found_anywhere(const RankCut& cut, Type type) {
        const std::int64_t m = 23, k = 40, n = 19;
        SCOPED_TRACE(std::string(cluster_algorithm_name(cut.algorithm)) + " " + type_name(type));
        EXPECT_EQ(check(type, cut, right_result(type, m, k, n)).verdict, Verdict::passed);
        for (const auto& [i, j] : {std::pair{0, 0}, std::pair{22, 18}, std::pair{11, 0}, std::pair{5, 17}}) {
            Matrix c = right_result(type, m, k, n);
            set(c, i, j, type == Type::gf2 || type == Type::boolean ? (is_zero(c, i, j) ? 1 : 0) : 123456);
            const VerifyResult verdict = check(type, cut, c);
            if (all_ranks->rank() == 0) {
                EXPECT_EQ(verdict.verdict, Verdict::failed) << i << ", " << j;
                EXPECT_NE(verdict.explanation.find(std::to_string(i)), std::string::npos) << verdict.explanation;
            }
        }
    }

    CheckReaders readers_;

private:
    static bool is_zero(const Matrix& bits, std::int64_t i, std::int64_t j) {
        return static_cast<const std::uint8_t*>(bits.data())[i * bits.cols() + j] == 0;
    }
    ScratchFolder folder_;
};

const RankCut kPegmm{.algorithm = ClusterAlgorithm::pegmm, .block = {4, 7, 5}};
const RankCut kModPegmm{.algorithm = ClusterAlgorithm::mod_pegmm, .block = {4, 7, 2}};

TEST_F(ClusterCheck, one_wrong_element_of_any_type_is_found) {
    const RankCut row_of_ranks{.grid = {1, 1, all_ranks->size()}, .panels = 3};
    const RankCut sums_of_ranks{.grid = {1, all_ranks->size(), 1}, .panels = 2};
    for (const Type type :
         {Type::i32, Type::i64, Type::f32, Type::f64, Type::c64, Type::c128, Type::gf2, Type::boolean}) {
        for (const RankCut& cut : {row_of_ranks, sums_of_ranks, kPegmm, kModPegmm}) {
            expect_found_anywhere(cut, type);
        }
    }
}

TEST_F(ClusterCheck, root_that_reads_all_operands_finds_a_wrong_element_too) {
    readers_.root_reads_operands = true;
    readers_.all_read_own_results = true;
    for (const RankCut& cut : {kPegmm, kModPegmm}) {
        expect_found_anywhere(cut, Type::i32);
    }
}

TEST_F(ClusterCheck, results_of_zeros_negated_or_a_thousandth_too_large_fail) {
    for (const Type type : {Type::f32, Type::f64}) {
        for (const double factor : {0.0, -1.0, 1.001}) {
            Matrix c = right_result(type, 23, 40, 19);
            for (std::int64_t i = 0; i < 23 * 19; ++i) {
                set(c, i / 19, i % 19,
                    factor * (type == Type::f64 ? static_cast<const double*>(c.data())[i]
                                                : static_cast<const float*>(c.data())[i]));
            }
            const VerifyResult verdict = check(type, kPegmm, c);
            if (all_ranks->rank() == 0) {
                EXPECT_EQ(verdict.verdict, Verdict::failed) << factor << ": " << verdict.explanation;
            }
        }
    }
}

TEST_F(ClusterCheck, one_wrong_part_of_a_complex_number_is_found) {
    for (const bool imaginary : {false, true}) {
        Matrix c = right_result(Type::c64, 23, 40, 19);
        static_cast<float*>(c.data())[2 * (7 * 19 + 4) + (imaginary ? 1 : 0)] += 50;
        const VerifyResult verdict = check(Type::c64, kModPegmm, c);
        if (all_ranks->rank() == 0) {
            EXPECT_EQ(verdict.verdict, Verdict::failed) << imaginary << ": " << verdict.explanation;
        }
    }
}

TEST_F(ClusterCheck, trees_add_what_every_rank_has) {
    Communicator& ranks = *all_ranks;
    std::vector<std::int64_t> values{ranks.rank() + 1, 10 * ranks.rank()};
    merge_everywhere(ranks, values, [](std::int64_t& all, std::int64_t part) { all += part; });
    const std::int64_t p = ranks.size();
    EXPECT_EQ(values, (std::vector<std::int64_t>{p * (p + 1) / 2, 10 * p * (p - 1) / 2}));
}

}  // namespace
}  // namespace heptad

int main(int argc, char** argv) {
    ::testing::InitGoogleTest(&argc, argv);
    heptad::Communicator ranks(&argc, &argv);
    heptad::all_ranks = &ranks;
    return RUN_ALL_TESTS();
}
