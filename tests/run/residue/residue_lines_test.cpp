// Rows as integers, and how many moduli products of random data take (docs/residues.md has these figures).
#include "run/residue/residue_lines.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/moduli.hpp"
#include "io/generate.hpp"
#include "kernels/cpu/cpu_backend.hpp"

namespace heptad {
namespace {

int moduli_of(const char* kind, Type type) {
    constexpr std::int64_t n = 1024;
    ThreadPool pool(1);
    cpu::CpuBackend backend(pool);
    const Matrix a = generate(kind, n, n, type, 1), b = generate(kind, n, n, type, 2);
    const IntegerLines rows = integer_rows(backend, a.view()), cols = integer_rows(backend, transposed(b.view()));
    return moduli_for(*std::max_element(rows.log2_norm.begin(), rows.log2_norm.end()) +
                      *std::max_element(cols.log2_norm.begin(), cols.log2_norm.end()));
}

TEST(integer_lines, random_data_takes_as_many_moduli_as_its_bits_span) {
    EXPECT_EQ(moduli_of("integer", Type::f32), 2);
    EXPECT_EQ(moduli_of("uniform", Type::f32), 7);
    EXPECT_NEAR(moduli_of("normal", Type::f32), 13, 1);
    EXPECT_EQ(moduli_of("uniform", Type::f64), 15);
    EXPECT_NEAR(moduli_of("normal", Type::f64), 20, 1);
    EXPECT_EQ(moduli_of("uniform", Type::bf16), 3);
    EXPECT_NEAR(moduli_of("normal", Type::bf16), 8, 1);
}

TEST(integer_lines, residues_are_those_of_the_integers) {
    const std::vector<double> values{3, -0.5, 0, 1024.25, -7.75, 0x1p80};
    const ConstView row(values.data(), Type::f64, 1, 6, 6, 1);
    ThreadPool pool(1);
    cpu::CpuBackend backend(pool);
    const IntegerLines lines = integer_rows(backend, row);
    EXPECT_EQ(lines.last_bit, std::vector<std::int32_t>{-2});
    for (const int modulus : kModuli) {
        std::vector<std::int32_t> residues(8, 99);
        write_residues(backend, row, lines, 0, false, modulus, View(residues.data(), Type::i32, 1, 8, 8, 1));
        for (std::size_t i = 0; i < values.size(); ++i) {
            EXPECT_LE(std::abs(residues[i]), 128);
            EXPECT_EQ(std::fmod(std::fmod(values[i] * 4, modulus) - residues[i], modulus), 0)
                << values[i] << " modulo " << modulus;
        }
        EXPECT_EQ(residues[6], 0);
        EXPECT_EQ(residues[7], 0);
    }
}

TEST(integer_lines, those_that_are_not_finite_are_zeros_however_much_they_span) {
    const std::vector<double> values{1e-300, 1e300, std::nan(""), 3, HUGE_VAL, 0x1p-1074, 1, 2, 4};
    const ConstView rows(values.data(), Type::f64, 3, 3, 3, 1);
    ThreadPool pool(1);
    cpu::CpuBackend backend(pool);
    const IntegerLines lines = integer_rows(backend, rows);
    EXPECT_EQ(lines.not_finite, (std::vector<bool>{true, true, false}));
    EXPECT_EQ(lines.log2_norm[0], -HUGE_VAL);
    EXPECT_EQ(lines.log2_norm[1], -HUGE_VAL);
    EXPECT_NEAR(lines.log2_norm[2], std::log2(21) / 2, 1e-6);
    for (const bool by_columns : {false, true}) {
        std::vector<std::int32_t> residues(9, 99);
        write_residues(backend, by_columns ? transposed(rows) : rows, lines, 0, by_columns, 251,
                       View(residues.data(), Type::i32, 3, 3, 3, 1));
        EXPECT_EQ(residues, by_columns ? (std::vector<std::int32_t>{0, 0, 1, 0, 0, 2, 0, 0, 4})
                                       : (std::vector<std::int32_t>{0, 0, 0, 0, 0, 0, 1, 2, 4}));
    }
}

TEST(moduli, are_coprime_and_their_remainders_right_up_to_56_bits) {
    for (std::size_t i = 0; i < kModuli.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            EXPECT_EQ(std::gcd(kModuli[i], kModuli[j]), 1);
        }
        const Modulus modulus(kModuli[i]);
        const auto p = static_cast<std::uint64_t>(kModuli[i]);
        for (const std::uint64_t x : {std::uint64_t{0}, p - 1, p, p * p, (std::uint64_t{1} << 53) - 1,
                                      (std::uint64_t{1} << 56) / p * p - 1, (std::uint64_t{1} << 56) / p * p}) {
            EXPECT_EQ(modulus.remainder(x), x % p) << x << " modulo " << p;
        }
    }
}

}  // namespace
}  // namespace heptad
