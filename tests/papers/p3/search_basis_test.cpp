// The search must find what theorems 1.1 and 1.2 of Karppa and Kaski state, and its tables must agree with independent
// counting.
#include "papers/p3/search_basis.hpp"

#include <gtest/gtest.h>

#include "algorithm/facts.hpp"
#include "algorithm/linear_program.hpp"
#include "papers/p3/gf2_search_tables.hpp"

namespace heptad {
namespace {

const std::vector<int> light = {1, 1, 1, 1, 2, 2, 2};
const std::vector<int> heavy = {1, 1, 1, 1, 2, 3, 3};

const BasisSearch& search() {
    static const BasisSearch result = search_basis();
    return result;
}

void expect_design(const BasisDesign& design, int basis_additions) {
    EXPECT_EQ(design.additions_a, 3);
    EXPECT_EQ(design.additions_b, 3);
    EXPECT_EQ(design.additions_c, 6);
    EXPECT_EQ(design.basis_additions_a, basis_additions);
    EXPECT_EQ(design.basis_additions_b, basis_additions);
    EXPECT_EQ(design.basis_additions_c, basis_additions);
    EXPECT_GT(design.attained, 0);
    EXPECT_EQ(prove(design.example), "");
    const AlgorithmFacts facts = compute_facts(design.example);
    EXPECT_EQ(facts.additions(), 12);
    EXPECT_EQ(facts.weights_a, design.weights_a);
    EXPECT_EQ(facts.weights_c, design.weights_c);
    EXPECT_EQ(facts.basis_additions_a, basis_additions);
    EXPECT_EQ(facts.basis_additions_c, basis_additions);
}

TEST(SearchBasis, all_invertible_matrices_are_examined) {
    // |GL(4, 2)| = 15 * 14 * 12 * 8
    EXPECT_EQ(invertible_matrices().size(), 20160U);
    for (const MatrixBases* bases : {&search().u, &search().v, &search().w}) {
        EXPECT_EQ(bases->examined, 20160);
    }
}

TEST(SearchBasis, every_matrix_of_plain_strassen_reaches_three_three_and_six_additions) {
    EXPECT_EQ(search().u.least_additions, 3);
    EXPECT_EQ(search().v.least_additions, 3);
    EXPECT_EQ(search().w.least_additions, 6);
    for (const MatrixBases* bases : {&search().u, &search().v, &search().w}) {
        EXPECT_EQ(bases->best_weights, light);
        EXPECT_GT(bases->with_best_weights, 0);
        EXPECT_LE(bases->with_best_weights, bases->with_least_additions);
        EXPECT_LE(bases->with_least_basis_additions, bases->with_best_weights);
        EXPECT_EQ(bases->with_best_weights % 24, 0);  // the basis vectors may come in any order
    }
}

TEST(SearchBasis, self_inverse_design_equals_theorem_1_1) {
    expect_design(search().self_inverse, 2);
    EXPECT_EQ(search().self_inverse.weights_a, light);
    EXPECT_EQ(search().self_inverse.weights_b, light);
    EXPECT_EQ(search().self_inverse.weights_c, light);
    EXPECT_TRUE(compute_facts(search().self_inverse.example).self_inverse);
}

TEST(SearchBasis, chaining_design_equals_theorem_1_2) {
    expect_design(search().chaining, 2);
    EXPECT_EQ(search().chaining.weights_a, light);
    EXPECT_EQ(search().chaining.weights_b, light);
    EXPECT_EQ(search().chaining.weights_c, heavy);
    EXPECT_TRUE(compute_facts(search().chaining.example).chaining);
}

TEST(SearchBasis, trade_offs_between_core_and_bases_are_found) {
    // The lightest chaining core needs the three additions per basis of Karstadt and Schwartz.
    expect_design(search().chaining_light, 3);
    EXPECT_EQ(search().chaining_light.weights_c, light);
    EXPECT_TRUE(compute_facts(search().chaining_light.example).chaining);
    expect_design(search().self_inverse_cheap_bases, 1);
    EXPECT_TRUE(compute_facts(search().self_inverse_cheap_bases.example).self_inverse);
}

TEST(SearchBasis, text_names_both_theorems_and_the_counts) {
    const std::string text = describe(search());
    for (const char* part : {"20160 bases", "36 forms", "theorem 1.1", "theorem 1.2", "name found-chaining"}) {
        EXPECT_NE(text.find(part), std::string::npos) << part;
    }
}

TEST(AdditionTable, known_minima) {
    const AdditionTable table;
    const auto cost = [&](std::initializer_list<unsigned> vectors) {
        unsigned set = 0;
        for (const unsigned v : vectors) {
            set |= 1U << v;
        }
        return table.least_additions(static_cast<std::uint16_t>(set));
    };
    EXPECT_EQ(cost({}), 0);
    EXPECT_EQ(cost({0, 1, 2, 4, 8}), 0);
    EXPECT_EQ(cost({3}), 1);
    EXPECT_EQ(cost({15}), 3);
    EXPECT_EQ(cost({3, 7, 15}), 3);
    EXPECT_EQ(cost({7, 15}), 3);
    EXPECT_EQ(cost({3, 12, 15}), 3);
    EXPECT_EQ(cost({7, 11, 13, 14}), 6);
    EXPECT_EQ(cost({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}), 11);
}

TEST(AdditionTable, is_never_above_the_greedy_program) {
    const AdditionTable table;
    for (unsigned set = 2; set < 65536; set += 310) {
        std::vector<Nibble> rows;
        for (unsigned v = 1; v < 16; ++v) {
            if (((set >> v) & 1U) != 0) {
                rows.push_back(static_cast<Nibble>(v));
            }
        }
        const int greedy = share_subexpressions(to_coefficients(rows), true).additions();
        EXPECT_LE(table.least_additions(static_cast<std::uint16_t>(set)), greedy) << set;
    }
}

TEST(NibbleMatrix, inverse_and_transpose_agree_with_exact_matrices) {
    for (std::size_t i = 0; i < invertible_matrices().size(); i += 37) {
        const NibbleMatrix& m = invertible_matrices()[i];
        EXPECT_EQ(reduced_mod_2(to_coefficients(m) * to_coefficients(inverse(m))), identity_matrix(4));
        EXPECT_EQ(to_coefficients(transposed(m)), transposed(to_coefficients(m)));
        EXPECT_EQ(times(m, inverse(m)), (NibbleMatrix{1, 2, 4, 8}));
    }
}

}  // namespace
}  // namespace heptad
