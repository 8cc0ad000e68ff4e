// Parts of complex numbers modulo p, four bytes to a word: every pair of residues of every modulus.
#include "kernels/cuda/residue/residue_parts.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <random>

#include "base/moduli.hpp"
#include "kernels/cuda/residue/byte_remainders.hpp"

namespace heptad::cuda {
namespace {

std::uint32_t word_of(int first, int second, int third, int fourth) {
    const auto byte = [](int x, int place) { return static_cast<std::uint32_t>(x & 0xff) << (8 * place); };
    return byte(first, 0) | byte(second, 1) | byte(third, 2) | byte(fourth, 3);
}
int byte_of(std::uint32_t word, int place) {
    return static_cast<int>(word >> (8 * place) & 0xffU);
}
int with_sign(int byte) {
    return byte < 128 ? byte : byte - 256;
}
int modulo(int x, int p) {
    return (x % p + p) % p;
}

TEST(residue_parts, bytes_of_sums_are_their_remainders) {
    const ModulusConstants constants = modulus_constants();
    constexpr int kMost = 8 * 128 * 128;
    for (int t = 0; t < kMostModuli; ++t) {
        const int p = kModuli[static_cast<std::size_t>(t)], least = p >= 255 ? -128 : -(p / 2);
        for (int sum = -kMost; sum <= kMost; ++sum) {
            const int rest =
                with_sign(static_cast<int>(byte_of_sum(constants, t, constants.sum_start[t] + sum) & 0xff));
            ASSERT_EQ(modulo(rest - sum, p), 0) << sum << " modulo " << p;
            ASSERT_GE(rest, least);
            ASSERT_LE(rest, p / 2);
        }
    }
}

TEST(residue_parts, sums_of_bytes_are_bytes_of_the_sum) {
    for (int t = 0; t < kMostDeviceModuli; ++t) {
        const int p = kModuli[static_cast<std::size_t>(t)], least = p >= 255 ? -128 : -(p / 2), most = (p - 1) / 2;
        for (int x = least; x <= most; ++x) {
            for (int y = least; y <= most; ++y) {
                // Neighbours with other signs, so that what one carries over would show in the next.
                const std::uint32_t sum =
                    sum_of_bytes(word_of(x, -1, x, least), word_of(y, 1, least, y), static_cast<std::uint32_t>(p));
                ASSERT_EQ(modulo(with_sign(byte_of(sum, 0)) - x - y, p), 0) << x << " + " << y << " modulo " << p;
                ASSERT_EQ(byte_of(sum, 1), 0);
                ASSERT_EQ(modulo(with_sign(byte_of(sum, 2)) - x - least, p), 0);
                ASSERT_EQ(modulo(with_sign(byte_of(sum, 3)) - least - y, p), 0);
            }
        }
    }
}

TEST(residue_parts, differences_stay_between_zero_and_the_modulus) {
    for (int t = 0; t < kMostDeviceModuli; ++t) {
        const int p = kModuli[static_cast<std::size_t>(t)], most = p == 256 ? 255 : p;  // products may leave p itself
        for (int x = 0; x <= most; ++x) {
            for (int y = 0; y <= most; ++y) {
                const std::uint32_t difference =
                    difference_of_bytes(word_of(x, 0, most, x), word_of(y, most, 0, y), static_cast<std::uint32_t>(p));
                ASSERT_LE(byte_of(difference, 0), most);
                ASSERT_EQ(modulo(byte_of(difference, 0) - x + y, p), 0) << x << " - " << y << " modulo " << p;
                ASSERT_EQ(modulo(byte_of(difference, 1) + most, p), 0);
                ASSERT_EQ(modulo(byte_of(difference, 2) - most, p), 0);
                ASSERT_EQ(byte_of(difference, 3), byte_of(difference, 0));
            }
        }
    }
}

TEST(residue_parts, three_products_make_a_complex_one) {
    std::mt19937 random(3);
    std::uniform_int_distribution<int> some(-100000, 100000);
    for (int round = 0; round < 20000; ++round) {
        const int p = kModuli[static_cast<std::size_t>(round % kMostDeviceModuli)];
        const std::complex<long long> a(some(random), some(random)), b(some(random), some(random));
        const auto residue = [p](long long x) { return static_cast<int>((x % p + p) % p); };
        const auto word = [&](long long x) { return word_of(residue(x), residue(x), residue(x), residue(x)); };
        const ComplexBytes parts =
            complex_bytes(word(a.real() * b.real()), word(a.imag() * b.imag()),
                          word((a.real() + a.imag()) * (b.real() + b.imag())), static_cast<std::uint32_t>(p));
        ASSERT_EQ(byte_of(parts.real, round % 4) % p, residue(a.real() * b.real() - a.imag() * b.imag()));
        ASSERT_EQ(byte_of(parts.imaginary, round % 4) % p, residue(a.real() * b.imag() + a.imag() * b.real()));
    }
}

}  // namespace
}  // namespace heptad::cuda
