// Programs with shared subexpressions compute their matrix exactly and never take more additions than plain sums.
#include "algorithm/linear_program.hpp"

#include <gtest/gtest.h>

#include <random>

#include "algorithm/catalogue.hpp"
#include "algorithm/evaluate.hpp"
#include "base/error.hpp"

namespace heptad {
namespace {

int plain_additions(const CoefficientMatrix& x) {
    int additions = 0;
    for (int r = 0; r < x.rows; ++r) {
        int non_zeros = 0;
        for (int i = 0; i < x.cols; ++i) {
            non_zeros += x(r, i).is_zero() ? 0 : 1;
        }
        additions += std::max(non_zeros - 1, 0);
    }
    return additions;
}

CoefficientMatrix random_matrix(std::mt19937& random, bool mod_2) {
    CoefficientMatrix x(1 + static_cast<int>(random() % 8), 1 + static_cast<int>(random() % 8));
    for (Rational& entry : x.entries) {
        if (random() % 2 == 0) {
            entry = mod_2 ? Rational(1)
                          : Rational(static_cast<std::int64_t>(random() % 5) - 2,
                                     1 + static_cast<std::int64_t>(random() % 2));
        }
    }
    return x;
}

TEST(LinearProgram, thousand_random_matrices_are_computed_exactly) {
    std::mt19937 random(3);
    for (int i = 0; i < 1000; ++i) {
        const bool mod_2 = i % 2 == 0;
        const CoefficientMatrix x = random_matrix(random, mod_2);
        const LinearProgram program = share_subexpressions(x, mod_2);
        ASSERT_EQ(evaluate(program), x);
        ASSERT_LE(program.additions(), plain_additions(x));
        ASSERT_EQ(evaluate(transposed(program)), transposed(x));
    }
}

TEST(LinearProgram, transposition_changes_the_additions_by_rows_less_columns) {
    const CoefficientMatrix& u = find_algorithm("winograd").standard.u;  // no zero row or column
    const LinearProgram program = share_subexpressions(u, false);
    EXPECT_EQ(transposed(program).additions(), program.additions() + u.rows - u.cols);
}

TEST(LinearProgram, programs_of_the_whole_catalogue_compute_the_flattened_matrices) {
    for (const std::string& name : algorithm_names(true)) {
        const CatalogueEntry& entry = find_algorithm(name);
        EXPECT_EQ(evaluate(entry.sums.a), entry.standard.u) << name;
        EXPECT_EQ(evaluate(entry.sums.b), entry.standard.v) << name;
        EXPECT_EQ(evaluate(entry.sums.c), transposed(entry.standard.w)) << name;
    }
}

TEST(LinearProgram, zero_rows_copies_and_multiples_cost_nothing) {
    CoefficientMatrix x(5, 2);
    x(1, 0) = Rational(-1, 2);
    x(2, 0) = x(2, 1) = 1;
    x(3, 0) = x(3, 1) = -3;  // a multiple of row 2
    x(4, 0) = 1;
    const LinearProgram program = share_subexpressions(x, false);
    EXPECT_EQ(program.additions(), 1);
    EXPECT_EQ(program.outputs[0].value, -1);
    EXPECT_EQ(evaluate(program), x);
}

TEST(LinearProgram, same_matrix_gives_the_same_program) {
    const CoefficientMatrix& u = find_algorithm("3x3x3-23").standard.u;
    const LinearProgram x = share_subexpressions(u, false);
    const LinearProgram y = share_subexpressions(u, false);
    ASSERT_EQ(x.statements.size(), y.statements.size());
    for (std::size_t s = 0; s < x.statements.size(); ++s) {
        ASSERT_EQ(x.statements[s].terms.size(), y.statements[s].terms.size());
        for (std::size_t t = 0; t < x.statements[s].terms.size(); ++t) {
            EXPECT_EQ(x.statements[s].terms[t].value, y.statements[s].terms[t].value);
            EXPECT_EQ(x.statements[s].terms[t].coefficient, y.statements[s].terms[t].coefficient);
        }
    }
}

TEST(LinearProgram, use_of_a_later_value_is_an_error) {
    LinearProgram program;
    program.inputs = 1;
    program.statements = {{{{1, 1}}}};
    EXPECT_THROW(evaluate(program), Error);
}

}  // namespace
}  // namespace heptad
