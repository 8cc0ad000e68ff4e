// Facts of the algorithms whose facts are in the literature.
#include "algorithm/facts.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "algorithm/catalogue.hpp"

namespace heptad {
namespace {

const AlgorithmFacts& facts_of(const char* name) {
    return find_algorithm(name).facts;
}

void expect_additions(const char* name, int a, int b, int c) {
    EXPECT_EQ(facts_of(name).additions_a, a) << name;
    EXPECT_EQ(facts_of(name).additions_b, b) << name;
    EXPECT_EQ(facts_of(name).additions_c, c) << name;
}

TEST(Facts, additions_equal_the_papers) {
    expect_additions("classical", 0, 0, 4);
    expect_additions("strassen", 5, 5, 8);
    expect_additions("winograd", 4, 4, 7);
    expect_additions("p3-winograd", 4, 4, 7);
    expect_additions("alternative-basis", 3, 3, 6);
    expect_additions("self-inverse", 3, 3, 6);
    expect_additions("chaining", 3, 3, 6);
    EXPECT_EQ(facts_of("winograd").additions_plain, 24);
}

TEST(Facts, leading_constants_are_two_seven_six_and_five) {
    EXPECT_DOUBLE_EQ(facts_of("classical").leading_constant, 2);
    EXPECT_DOUBLE_EQ(facts_of("strassen").leading_constant, 7);
    EXPECT_DOUBLE_EQ(facts_of("winograd").leading_constant, 6);
    EXPECT_DOUBLE_EQ(facts_of("alternative-basis").leading_constant, 5);
    EXPECT_DOUBLE_EQ(facts_of("chaining").leading_constant, 5);
    EXPECT_DOUBLE_EQ(facts_of("2x2x3-11").leading_constant, 0);
}

TEST(Facts, growth_of_classical_strassen_and_winograd) {
    EXPECT_DOUBLE_EQ(facts_of("classical").growth, 2);
    EXPECT_DOUBLE_EQ(facts_of("strassen").growth, 12);
    EXPECT_DOUBLE_EQ(facts_of("winograd").growth, 18);
    EXPECT_DOUBLE_EQ(facts_of("classical").rms_growth, 1);
    EXPECT_DOUBLE_EQ(facts_of("strassen").rms_growth, 2);  // sums of squares 12, 4, 4, 12 over the four blocks
    EXPECT_LT(facts_of("2x2x2-7-accurate").rms_growth, facts_of("strassen").rms_growth);
}

TEST(Facts, largest_sums_and_roundings) {
    EXPECT_DOUBLE_EQ(facts_of("strassen").largest_sum_a, 2);
    EXPECT_DOUBLE_EQ(facts_of("strassen").largest_sum_c, 4);
    EXPECT_DOUBLE_EQ(facts_of("winograd").largest_sum_b, 4);
    EXPECT_EQ(facts_of("classical").roundings, 1);
    EXPECT_EQ(facts_of("strassen").roundings, 5);  // m1 into c11: 1 + 1 + 3
    EXPECT_EQ(facts_of("winograd").roundings, 7);  // m1 into c12: 2 + 2 + 3
}

TEST(Facts, scaling_by_no_power_of_two_counts_as_a_rounding) {
    Algorithm x = find_algorithm("strassen").algorithm;
    const int before = compute_facts(x).roundings;
    for (int i = 0; i < 4; ++i) {
        x.u(0, i) = x.u(0, i) * Rational(3);
        x.v(0, i) = x.v(0, i) * Rational(1, 4);
        x.w(0, i) = x.w(0, i) * Rational(4, 3);
    }
    x.ring = Ring::rationals;
    ASSERT_EQ(prove(x), "");
    EXPECT_EQ(compute_facts(x).roundings, before + 2);
}

TEST(Facts, exponents) {
    EXPECT_NEAR(facts_of("classical").exponent, 3, 1e-12);
    EXPECT_NEAR(facts_of("strassen").exponent, std::log2(7), 1e-12);
    EXPECT_NEAR(facts_of("2x2x3-11").exponent, 3 * std::log(11) / std::log(12), 1e-12);
}

TEST(Facts, weights_and_bases_of_the_two_gf2_designs_equal_the_theorems) {
    const std::vector<int> light = {1, 1, 1, 1, 2, 2, 2};
    const std::vector<int> heavy = {1, 1, 1, 1, 2, 3, 3};
    for (const char* name : {"self-inverse", "chaining"}) {
        const AlgorithmFacts& facts = facts_of(name);
        EXPECT_EQ(facts.weights_a, light) << name;
        EXPECT_EQ(facts.weights_b, light) << name;
        EXPECT_EQ(facts.basis_additions_a, 2) << name;
        EXPECT_EQ(facts.basis_additions_b, 2) << name;
        EXPECT_EQ(facts.basis_additions_c, 2) << name;
    }
    EXPECT_EQ(facts_of("self-inverse").weights_c, light);
    EXPECT_EQ(facts_of("chaining").weights_c, heavy);
}

TEST(Facts, flags_are_set_for_their_designs_only) {
    EXPECT_TRUE(facts_of("self-inverse").self_inverse);
    EXPECT_FALSE(facts_of("self-inverse").chaining);
    EXPECT_FALSE(facts_of("chaining").self_inverse);
    EXPECT_TRUE(facts_of("chaining").chaining);
    for (const char* name : {"strassen", "winograd", "alternative-basis"}) {
        EXPECT_FALSE(facts_of(name).self_inverse) << name;
        EXPECT_FALSE(facts_of(name).chaining) << name;
    }
}

}  // namespace
}  // namespace heptad
