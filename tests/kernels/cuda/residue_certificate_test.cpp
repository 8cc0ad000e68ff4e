// The certificate of `strict` by residues, with the kernels' arithmetic in loops on the host: whatever it accepts is
// within the bound after rows and columns were rounded to integers, and it accepts ordinary data.
#include "kernels/cuda/residue/residue_certificate.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/device_layout.hpp"
#include "base/types.hpp"
#include "plan/search/device_residue_plan.hpp"
#include "plan/search/planner.hpp"
#include "product/data_families.hpp"

namespace heptad::test {
namespace {

using testing_data::Family;
using testing_data::Matrix;
__extension__ using Wide = __int128;

ProductPlan strict_plan(std::int64_t m, std::int64_t k, std::int64_t n, Type type) {
    Problem problem{m, k, n, type, 1, {}};
    problem.options.device = "cuda";
    problem.options.accuracy = Accuracy::strict;
    problem.options.leaf = kResidueLeaf;
    problem.options.levels = 0;
    return make_plan(problem, Machine{});
}

/// Rows of A, or columns of B.
struct Lines {
    std::vector<std::vector<double>> numbers;
    std::vector<double> log2_norms;

    Lines(const Matrix<double>& x, bool by_rows) {
        for (std::int64_t line = 0; line < (by_rows ? x.rows : x.cols); ++line) {
            std::vector<double>& own = numbers.emplace_back();
            double squares = 0;
            for (std::int64_t p = 0; p < (by_rows ? x.cols : x.rows); ++p) {
                own.push_back(by_rows ? x.at(line, p) : x.at(p, line));
                squares += own.back() * own.back();
            }
            log2_norms.push_back(std::log2(squares) / 2 + 1e-9);
        }
    }
    double usual_size(std::size_t line) const {
        return std::exp2(log2_norms[line]) / std::sqrt(static_cast<double>(numbers[line].size()));
    }
    void count(int operand, Type type, cuda::CountedLines& counts, double& inverse_least) const {
        for (std::size_t line = 0; line < numbers.size(); ++line) {
            const double usual = usual_size(line);
            double least = std::numeric_limits<double>::infinity();
            for (const double x : numbers[line]) {
                least = x == 0 ? least : std::min(least, std::abs(x));
            }
            if (std::isinf(least)) {
                continue;
            }
            inverse_least = std::max(inverse_least, usual / least);
            for (int s = 0; s < cuda::kCountedSteps; ++s) {
                double step = cuda::counted_step(s) * usual;
                if (type == Type::f32 && static_cast<double>(static_cast<float>(step)) < step) {
                    step = std::nextafter(static_cast<float>(step), std::numeric_limits<float>::infinity());
                }
                unsigned long long below = 0;
                for (const double x : numbers[line]) {
                    below += std::abs(x) < step ? 1U : 0U;
                }
                counts.most_below[operand][s] = std::max(counts.most_below[operand][s], below);
            }
        }
    }
    /// Numbers of a line as integers with so many moduli, and the exponent of the factor.
    std::vector<Wide> integers(std::size_t line, int moduli, int& exponent) const {
        exponent = std::isinf(log2_norms[line])
                       ? 0
                       : static_cast<int>(std::floor(log2_of_integers(moduli) - log2_norms[line]));
        std::vector<Wide> own;
        for (const double x : numbers[line]) {
            own.push_back(static_cast<Wide>(std::llrint(std::ldexp(x, exponent))));
        }
        return own;
    }
};

struct Verdict {
    int moduli = 0;  // 0: none are certified
    double evenness = 0;
};

Verdict judge(const ProductPlan& plan, const Lines& a, const Lines& b) {
    cuda::CountedLines counts{};
    double inverse_least[2] = {};
    a.count(0, plan.type, counts, inverse_least[0]);
    b.count(1, plan.type, counts, inverse_least[1]);
    Verdict verdict{0, cuda::evenness_by_counts(counts, inverse_least, static_cast<double>(plan.k))};
    double least = certified_evenness(plan);
    for (int count = plan.arithmetic.moduli; count <= most_moduli(plan); ++count, least *= kEvennessOfModulus) {
        if (verdict.evenness >= least) {
            verdict.moduli = count;
            break;
        }
    }
    return verdict;
}

/// The largest error of exact products of the integers, over (k - 2) u |A||B|.
double error_over_room(const ProductPlan& plan, const Lines& a, const Lines& b, int moduli) {
    double worst = 0;
    for (std::size_t i = 0; i < a.numbers.size(); ++i) {
        int of_row = 0;
        const std::vector<Wide> left = a.integers(i, moduli, of_row);
        for (std::size_t j = 0; j < b.numbers.size(); ++j) {
            int of_col = 0;
            const std::vector<Wide> right = b.integers(j, moduli, of_col);
            Wide sum = 0;
            long double exact = 0, size = 0;
            for (std::size_t p = 0; p < left.size(); ++p) {
                sum += left[p] * right[p];
                const long double product = static_cast<long double>(a.numbers[i][p]) * b.numbers[j][p];
                exact += product;
                size += std::abs(product);
            }
            const long double computed = std::ldexp(static_cast<long double>(sum), -of_row - of_col);
            const long double room = static_cast<long double>(plan.k - 2) * unit_roundoff(plan.type) * size;
            const long double error = std::abs(computed - exact);
            worst = std::max(worst, error == 0 ? 0 : static_cast<double>(error / room));
        }
    }
    return worst;
}

struct Pair {
    Matrix<double> a, b;
    Pair(std::int64_t m, std::int64_t k, std::int64_t n) : a(m, k), b(k, n) {}
    void round_to(Type type) {
        for (Matrix<double>* x : {&a, &b}) {
            for (double& value : x->data) {
                value = type == Type::f32 ? static_cast<double>(static_cast<float>(value)) : value;
            }
        }
    }
};

TEST(residue_certificate, whatever_is_certified_keeps_the_bound) {
    int certified = 0, refused = 0;
    for (const Type type : {Type::f32, Type::f64}) {
        for (const auto& [m, k, n] : {std::tuple{20, 400, 23}, {17, 64, 18}, {9, 3, 8}, {5, 2000, 7}}) {
            const ProductPlan plan = strict_plan(m, k, n, type);
            ASSERT_TRUE(is_by_residues(plan)) << to_string(plan);
            for (const Family& family : testing_data::data_families()) {
                Pair x(m, k, n);
                testing_data::Random random(3);
                family.make(x.a, x.b, random);
                x.round_to(type);
                const Lines rows(x.a, true), cols(x.b, false);
                const Verdict verdict = judge(plan, rows, cols);
                (verdict.moduli > 0 ? certified : refused) += 1;
                if (verdict.moduli > 0) {
                    EXPECT_LE(error_over_room(plan, rows, cols, verdict.moduli), 1)
                        << family.name << " " << m << "x" << k << "x" << n << " " << type_name(type);
                }
            }
        }
    }
    EXPECT_GT(certified, 80);
    EXPECT_GT(refused, 30);
}

TEST(residue_certificate, ordinary_data_is_certified_with_the_moduli_of_the_plan) {
    for (const Type type : {Type::f32, Type::f64}) {
        for (const std::int64_t k : {256, 1024, 4096}) {
            const ProductPlan plan = strict_plan(40, k, 40, type);
            for (const Family& family : testing_data::data_families()) {
                if (family.name != "uniform" && family.name != "positive" && family.name != "normal" &&
                    family.name != "graded rows and columns, mixed") {
                    continue;
                }
                Pair x(40, k, 40);
                testing_data::Random random(7);
                family.make(x.a, x.b, random);
                x.round_to(type);
                const Verdict verdict = judge(plan, {x.a, true}, {x.b, false});
                EXPECT_EQ(verdict.moduli, plan.arithmetic.moduli)
                    << family.name << " " << k << " " << type_name(type) << " " << verdict.evenness;
                EXPECT_GT(verdict.evenness, 0.04);
                EXPECT_LT(verdict.evenness, 0.6);
            }
        }
    }
}

TEST(residue_certificate, numbers_of_one_size_may_have_zeros_anywhere) {
    for (const Type type : {Type::f32, Type::f64}) {
        const ProductPlan plan = strict_plan(30, 200, 30, type);
        Pair x(30, 200, 30);
        std::mt19937 random(2);
        for (Matrix<double>* matrix : {&x.a, &x.b}) {
            for (double& value : matrix->data) {
                value = random() % 8 == 0 ? static_cast<double>(random() % 19) / 3 - 3 : 0;
            }
        }
        x.round_to(type);
        const Lines rows(x.a, true), cols(x.b, false);
        const Verdict verdict = judge(plan, rows, cols);
        ASSERT_GT(verdict.moduli, 0) << verdict.evenness;
        EXPECT_LE(error_over_room(plan, rows, cols, verdict.moduli), 1);
    }
}

TEST(residue_certificate, small_numbers_that_meet_large_ones_are_refused) {
    for (const Type type : {Type::f32, Type::f64}) {
        const ProductPlan plan = strict_plan(10, 64, 10, type);
        for (const bool half : {true, false}) {  // too few large ones, or none in one line
            Pair x(10, 64, 10);
            testing_data::Random random(4);
            testing_data::fill_uniform(x.a, random);
            testing_data::fill_uniform(x.b, random);
            for (std::int64_t i = 0; i < 10; ++i) {
                for (std::int64_t p = 0; p < 64; ++p) {
                    x.a.at(i, p) *= p < 32 && (half || i == 3) ? 1e-9 : 1;
                    x.b.at(p, i) *= p >= 32 && (half || i == 3) ? 1e-9 : 1;
                }
            }
            x.round_to(type);
            const Lines rows(x.a, true), cols(x.b, false);
            EXPECT_EQ(judge(plan, rows, cols).moduli, 0);
            EXPECT_GT(error_over_room(plan, rows, cols, plan.arithmetic.moduli), 1);
        }
    }
}

TEST(residue_certificate, lines_of_zeros_count_for_nothing) {
    const ProductPlan plan = strict_plan(6, 300, 6, Type::f32);
    Pair x(6, 300, 6);
    EXPECT_TRUE(std::isinf(judge(plan, {x.a, true}, {x.b, false}).evenness));
    testing_data::Random random(4);
    testing_data::fill_uniform(x.a, random);
    testing_data::fill_uniform(x.b, random);
    const double before = judge(plan, {x.a, true}, {x.b, false}).evenness;
    for (std::int64_t p = 0; p < 300; ++p) {
        x.a.at(2, p) = x.b.at(p, 4) = 0;
    }
    EXPECT_GE(judge(plan, {x.a, true}, {x.b, false}).evenness, before);
}

}  // namespace
}  // namespace heptad::test
