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
