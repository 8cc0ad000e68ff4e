// The proof accepts every shipped algorithm and refuses every algorithm with one wrong coefficient. Independent of the
// prover's own loops, algorithms are also run on random integer matrices.
#include <gtest/gtest.h>

#include <random>

#include "algorithm/algorithm.hpp"
#include "algorithm/catalogue.hpp"
#include "base/embedded.hpp"
#include "base/error.hpp"

namespace heptad {
namespace {

std::vector<Algorithm> shipped() {
    std::vector<Algorithm> all;
    for (const EmbeddedFile& file : algorithm_files()) {
        if (file.file_name.ends_with(".alg")) {
            all.push_back(parse_algorithm(std::string(file.text), std::string(file.file_name)));
        }
    }
    return all;
}

/// C = A * B by the formulas at the top of algorithm.hpp, on matrices of numbers instead of blocks.
std::vector<Rational> run(const Algorithm& x, const std::vector<Rational>& a, const std::vector<Rational>& b) {
    const auto apply = [](const CoefficientMatrix& matrix, const std::vector<Rational>& vector) {
        std::vector<Rational> result(static_cast<std::size_t>(matrix.rows));
        for (int i = 0; i < matrix.rows; ++i) {
            for (int j = 0; j < matrix.cols; ++j) {
                auto& sum = result[static_cast<std::size_t>(i)];
                sum = sum + matrix(i, j) * vector[static_cast<std::size_t>(j)];
            }
        }
        return result;
    };
    const auto left = apply(x.u, x.basis ? apply(x.basis->phi, a) : a);
    const auto right = apply(x.v, x.basis ? apply(x.basis->psi, b) : b);
    std::vector<Rational> products(left.size());
    for (std::size_t s = 0; s < left.size(); ++s) {
        products[s] = left[s] * right[s];
    }
    const auto c = apply(transposed(x.w), products);
    return x.basis ? apply(x.basis->chi, c) : c;
}

void expect_multiplies_random_integers(const Algorithm& x) {
    std::mt19937 random(11);
    const auto integers = [&](int count) {
        std::vector<Rational> result;
        for (int i = 0; i < count; ++i) {
            result.emplace_back(static_cast<std::int64_t>(random() % 19) - 9);
        }
        return result;
    };
    const auto a = integers(x.m * x.k);
    const auto b = integers(x.k * x.n);
    const auto c = run(x, a, b);
    const auto at = [](const std::vector<Rational>& v, int i) { return v[static_cast<std::size_t>(i)]; };
    for (int i = 0; i < x.m; ++i) {
        for (int j = 0; j < x.n; ++j) {
            Rational sum;
            for (int q = 0; q < x.k; ++q) {
                sum = sum + at(a, i * x.k + q) * at(b, q * x.n + j);
            }
            const Rational difference = sum - at(c, i * x.n + j);
            if (x.ring == Ring::gf2) {
                EXPECT_EQ(difference.numerator() % 2, 0) << x.name;
            } else {
                EXPECT_TRUE(difference.is_zero()) << x.name;
            }
        }
    }
}

TEST(Prove, every_shipped_algorithm_holds) {
    ASSERT_GE(shipped().size(), 23U);
    for (const Algorithm& x : shipped()) {
        EXPECT_EQ(prove(x), "") << x.name;
        EXPECT_EQ(prove(flattened(x)), "") << x.name;
        EXPECT_FALSE(flattened(x).basis.has_value());
    }
}

TEST(Prove, every_shipped_algorithm_multiplies_random_integers) {
    for (const Algorithm& x : shipped()) {
        expect_multiplies_random_integers(x);
        expect_multiplies_random_integers(flattened(x));
    }
}

TEST(Prove, every_single_changed_entry_of_strassen_fails) {
    const Algorithm strassen = find_algorithm("strassen").algorithm;
    int mutants = 0;
    for (CoefficientMatrix Algorithm::*const part : {&Algorithm::u, &Algorithm::v, &Algorithm::w}) {
        for (std::size_t i = 0; i < (strassen.*part).entries.size(); ++i) {
            for (const std::int64_t change : {-1, 1}) {
                Algorithm mutant = strassen;
                (mutant.*part).entries[i] = (mutant.*part).entries[i] + change;
                EXPECT_NE(prove(mutant), "") << i << " changed by " << change;
                ++mutants;
            }
        }
    }
    EXPECT_EQ(mutants, 2 * 3 * 28);
}

TEST(Prove, every_flipped_bit_of_a_gf2_algorithm_and_its_bases_fails) {
    for (const char* name : {"self-inverse", "chaining"}) {
        const Algorithm original = find_algorithm(name).algorithm;
        const auto flipped_fails = [&](auto&& matrix_of) {
            Algorithm copy = original;
            for (std::size_t i = 0; i < matrix_of(copy).entries.size(); ++i) {
                Algorithm mutant = original;
                Rational& entry = matrix_of(mutant).entries[i];
                entry = Rational(1) - entry;
                EXPECT_NE(prove(mutant), "") << name << " entry " << i;
            }
        };
        flipped_fails([](Algorithm& x) -> CoefficientMatrix& { return x.u; });
        flipped_fails([](Algorithm& x) -> CoefficientMatrix& { return x.v; });
        flipped_fails([](Algorithm& x) -> CoefficientMatrix& { return x.w; });
        flipped_fails([](Algorithm& x) -> CoefficientMatrix& { return x.basis->phi; });
        flipped_fails([](Algorithm& x) -> CoefficientMatrix& { return x.basis->psi; });
        flipped_fails([](Algorithm& x) -> CoefficientMatrix& { return x.basis->chi; });
    }
}

TEST(Prove, one_changed_entry_in_the_largest_algorithms_fails) {
    for (const char* name : {"5x5x5-93", "4x4x4-48-accurate", "4x4x4-47-gf2"}) {
        Algorithm mutant = find_algorithm(name).algorithm;
        Rational& entry = mutant.w.entries.back();
        entry = Rational(1) - entry + (mutant.ring == Ring::gf2 ? 0 : 1);
        EXPECT_NE(prove(mutant), "") << name;
    }
}

TEST(Prove, gf2_algorithm_does_not_hold_over_the_integers) {
    Algorithm x = flattened(find_algorithm("self-inverse").algorithm);
    x.ring = Ring::integers;
    EXPECT_NE(prove(x), "");
}

TEST(Prove, integer_algorithms_hold_mod_2) {
    for (Algorithm x : shipped()) {
        if (x.ring == Ring::integers) {
            x.ring = Ring::gf2;
            EXPECT_EQ(prove(x), "") << x.name;
        }
    }
}

TEST(Prove, the_sentence_names_the_equation) {
    Algorithm x = find_algorithm("classical").algorithm;
    x.w(0, 0) = 0;  // a11 * b11 is lost
    EXPECT_EQ(prove(x),
              "classical <2,2,2>:8 is wrong over Z: the coefficient of A1,1 * B1,1 in C1,1 is not 1 (blocks from 1)");
}

TEST(Prove, wrong_shapes_are_a_sentence_and_not_a_crash) {
    Algorithm x = find_algorithm("strassen").algorithm;
    x.v = CoefficientMatrix(7, 3);
    EXPECT_NE(prove(x).find("shapes"), std::string::npos);
    Algorithm y = find_algorithm("chaining").algorithm;
    y.basis->chi = CoefficientMatrix(3, 4);
    EXPECT_NE(prove(y).find("shapes"), std::string::npos);
}

TEST(Prove, coefficients_beyond_exact_arithmetic_are_an_error_and_not_a_wrong_proof) {
    Algorithm x = find_algorithm("strassen").algorithm;
    for (CoefficientMatrix* part : {&x.u, &x.v, &x.w}) {
        part->entries[0] = Rational(std::int64_t{1} << 62);
    }
    EXPECT_THROW(prove(x), Error);
}

}  // namespace
}  // namespace heptad
