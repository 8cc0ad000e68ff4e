// The level programs are the algorithms of the catalogue, and cost what P3 says.
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <span>

#include "algorithm/catalogue.hpp"
#include "kernels/bits/level_program.hpp"

namespace {

using namespace heptad;
using namespace heptad::bits;

/// Additions of one change of basis.
std::int64_t count_change(std::span<const Change> change, int levels) {
    std::int64_t additions = 0, quarter = 1;
    for (int level = 0; level < levels; ++level) {
        additions = 4 * additions + static_cast<std::int64_t>(change.size()) * quarter;
        quarter *= 4;
    }
    return additions;
}

unsigned applied(const std::vector<Change>& changes, unsigned quarters) {
    for (const Change& change : changes) {
        quarters ^= ((quarters >> change.from) & 1) << change.to;
    }
    return quarters;
}

/// C = A * B for quarters that are single bits, in the standard basis, with the program's changes around it.
unsigned product(const LevelProgram& program, unsigned a, unsigned b) {
    const unsigned a_hat = applied(program.into, a), b_hat = applied(program.into, b);
    unsigned c_hat = 0;
    for (std::size_t s = 0; s < program.steps.size(); ++s) {
        const int factor_a = __builtin_parity(a_hat & program.steps[s].a);
        const int factor_b = __builtin_parity(b_hat & program.steps[s].b);
        c_hat ^= (factor_a & factor_b) != 0 ? destinations(program, s) : 0;
    }
    return applied(program.out_of, c_hat);
}

class EveryProgram : public ::testing::TestWithParam<int> {
protected:
    static const LevelProgram& program() { return level_programs()[static_cast<std::size_t>(GetParam())]; }
};

TEST_P(EveryProgram, multiplies_all_256_pairs_of_2x2_matrices) {
    for (unsigned a = 0; a < 16; ++a) {
        for (unsigned b = 0; b < 16; ++b) {
            unsigned expected = 0;
            for (int i = 0; i < 2; ++i) {
                for (int j = 0; j < 2; ++j) {
                    for (int k = 0; k < 2; ++k) {
                        expected ^= ((a >> (2 * i + k)) & (b >> (2 * k + j)) & 1) << (2 * i + j);
                    }
                }
            }
            EXPECT_EQ(product(program(), a, b), expected) << a << " " << b;
        }
    }
}

/// A row of a coefficient matrix as a mask.
unsigned mask(const CoefficientMatrix& matrix, int row) {
    unsigned bits = 0;
    for (int i = 0; i < 4; ++i) {
        bits |= (matrix(row, i) == Rational(0) ? 0U : 1U) << i;
    }
    return bits;
}

TEST_P(EveryProgram, has_the_products_and_bases_of_the_catalogue) {
    const Algorithm& algorithm =
        find_algorithm(program().name == "winograd" ? "p3-winograd" : program().name).algorithm;
    const CoefficientMatrix u = reduced_mod_2(algorithm.u), v = reduced_mod_2(algorithm.v),
                            w = reduced_mod_2(algorithm.w);
    std::set<std::array<unsigned, 3>> ours, theirs;
    for (int p = 0; p < 7; ++p) {
        const Step& step = program().steps[static_cast<std::size_t>(p)];
        ours.insert({step.a, step.b, destinations(program(), static_cast<std::size_t>(p))});
        theirs.insert({mask(u, p), mask(v, p), mask(w, p)});
    }
    EXPECT_EQ(ours, theirs);
    if (!program().into.empty()) {
        for (int i = 0; i < 4; ++i) {
            // Column i of a change is what it makes of quarter i alone.
            EXPECT_EQ(applied(program().into, 1U << i), mask(transposed(algorithm.basis->phi), i));
            EXPECT_EQ(applied(program().into, 1U << i), mask(transposed(algorithm.basis->psi), i));
            EXPECT_EQ(applied(program().out_of, 1U << i), mask(transposed(algorithm.basis->chi), i));
        }
    }
}

TEST_P(EveryProgram, chains_exactly_if_the_changes_of_basis_are_inverse) {
    bool inverse = true;
    for (unsigned x = 0; x < 16; ++x) {
        inverse = inverse && applied(program().into, applied(program().out_of, x)) == x;
    }
    EXPECT_EQ(program().chains, inverse);
}

TEST_P(EveryProgram, costs_what_the_paper_says) {
    const bool standard = program().into.empty();
    for (int levels = 0; levels <= 10; ++levels) {
        const OperationCount count = count_operations(program(), levels);
        std::int64_t n = 1, sevens = 1;
        for (int i = 0; i < levels; ++i) {
            n *= 2;
            sevens *= 7;
        }
        // Winograd: 6 n^log2(7) - 5 n^2; the alternative bases: 5 n^log2(7) - 4 n^2.
        EXPECT_EQ(count.additions + count.multiplications, standard ? 6 * sevens - 5 * n * n : 5 * sevens - 4 * n * n);
        EXPECT_EQ(count.multiplications, sevens);
        EXPECT_EQ(count_change(program().into, levels), standard ? 0 : n * n * levels / 2);
        EXPECT_EQ(count_change(program().out_of, levels), standard ? 0 : n * n * levels / 2);
    }
}

INSTANTIATE_TEST_SUITE_P(Programs, EveryProgram, ::testing::Values(0, 1, 2));

}  // namespace
