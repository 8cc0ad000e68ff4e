// The arithmetic of kernels for products that are rounded once, on the host: residues of all numbers against integers,
// entries from their residues against wide integers, and roundings against those of processors, bit for bit.
#include "kernels/cuda/residue/exact_entry.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "kernels/cuda/residue/byte_remainders.hpp"
#include "kernels/cuda/residue/exact_integers.hpp"
#include "run/residue/rounded_once.hpp"

namespace heptad::cuda {
namespace {

__extension__ using WideInt = __int128;

using Random = std::mt19937_64;

ResidueInteger random_integer(Random& random, int bits) {
    ResidueInteger x;
    for (std::uint64_t& word : x.words) {
        word = random();
    }
    x = x.shifted(bits - ResidueInteger::kBits);
    if (random() % 4 == 0) {  // mostly zeros: ties
        const int zeros = static_cast<int>(random() % 60);
        x = x.shifted(-zeros).shifted(zeros);
    }
    if (random() % 2 == 0) {
        x.negate();
    }
    return x;
}

int modulo(ResidueInteger x, int p) {
    const bool negative = x.is_negative();
    if (negative) {
        x.negate();
    }
    std::uint64_t rest = 0;
    for (int bit = ResidueInteger::kBits - 1; bit >= 0; --bit) {
        rest = (rest * 2 + (x.bit(bit) ? 1 : 0)) % static_cast<std::uint64_t>(p);
    }
    return negative && rest != 0 ? p - static_cast<int>(rest) : static_cast<int>(rest);
}

template <class T>
auto bits(T x) {
    return std::bit_cast<std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>(x);
}

TEST(exact_integers, residues_of_doubles_are_those_of_integers) {
    static const ExactConstants constants = exact_constants();
    Random random(1);
    const auto check = [&]<std::size_t Pieces>(const ExactInteger<Pieces>& number, const ResidueInteger& x, int width) {
        for (int t = 0; t < kMostModuli; ++t) {
            const int p = kModuli[static_cast<std::size_t>(t)];
            const int byte = static_cast<std::int8_t>(number.modulo(constants, t));
            ASSERT_EQ(((byte % p) + p) % p, modulo(x, p)) << p << " of " << width << " bits";
        }
    };
    for (int i = 0; i < 20000; ++i) {
        const int width = 1 + static_cast<int>(random() % 183);
        const auto significand = static_cast<std::int64_t>(random() >> (64 - std::min(width, 53)));
        const int up = std::max(width - 53, 0);
        ResidueInteger x;
        x.words[0] = static_cast<std::uint64_t>(significand);
        x = x.shifted(up);
        double number = std::ldexp(static_cast<double>(significand), up);
        if (random() % 2 == 0) {
            x.negate();
            number = -number;
        }
        check(ExactInteger<5>(number), x, width);
        if (number_pieces(width) <= 3) {
            check(ExactInteger<3>(number), x, width);
        }
    }
}

TEST(exact_integers, residues_in_the_middle_between_two_multiples_fit_a_byte) {
    static const ExactConstants constants = exact_constants();
    Random random(2);
    for (int i = 0; i < 2000000; ++i) {
        const int t = static_cast<int>(random() % kMostModuli);
        const std::int64_t p = kModuli[static_cast<std::size_t>(t)];
        const std::int64_t multiple = static_cast<std::int64_t>(random() >> 14) / p * p;
        const std::int64_t x = (multiple + p / 2 + static_cast<std::int64_t>(random() % 3) - 1) * (i % 2 == 0 ? 1 : -1);
        const std::int64_t byte = static_cast<std::int8_t>(byte_modulo(constants, t, static_cast<double>(x)));
        ASSERT_EQ((x - byte) % p, 0) << x << " modulo " << p;
    }
}

/// As IntegerBytes (residue_integers.cuh) takes them.
TEST(exact_integers, bytes_of_words_are_congruent_and_have_their_residues) {
    static const ModulusConstants constants = modulus_constants();
    Random random(3);
    constexpr std::int64_t kEdges[] = {0,
                                       -1,
                                       1,
                                       0xffffffff,
                                       -0x100000000,
                                       std::numeric_limits<std::int64_t>::min(),
                                       std::numeric_limits<std::int64_t>::max(),
                                       0x7f7f7f7f7f7f7f7f,
                                       0x7f7f7f7f7f7f7f80};
    const auto byte_at = [](std::uint64_t bytes, int i) { return static_cast<std::int8_t>(bytes >> (8 * i)); };
    for (std::size_t i = 0; i < 50000; ++i) {
        const std::int64_t x = i < std::size(kEdges) ? kEdges[i] : static_cast<std::int64_t>(random());
        const std::uint64_t bytes = signed_bytes(static_cast<std::uint64_t>(x));
        WideInt value = 0;
        for (int place = 7; place >= 0; --place) {
            value = value * 256 + byte_at(bytes, place);
        }
        ASSERT_EQ(static_cast<std::uint64_t>(value), static_cast<std::uint64_t>(x));
        ASSERT_LT(std::abs(static_cast<double>(value)), std::exp2(kLog2OfWords));
        for (int t = 0; t < kMostModuli; ++t) {
            int sum = constants.sum_start[t];
            for (int place = 0; place < 8; ++place) {
                const auto powers = static_cast<std::uint64_t>(constants.powers[t][place / 4]);
                sum += byte_at(bytes, place) * byte_at(powers, place % 4);
            }
            const std::int64_t p = kModuli[static_cast<std::size_t>(t)];
            const std::int64_t byte = static_cast<std::int8_t>(byte_of_sum(constants, t, sum));
            ASSERT_EQ(static_cast<std::int64_t>((value - byte) % p), 0) << x << " modulo " << p;
        }
    }
}

TEST(exact_integers, lines_know_their_lowest_bit_and_their_norm) {
    ExactLine line;
    EXPECT_EQ(line.exponent(), 0);
    EXPECT_EQ(line.log2_norm(4), 0);
    line.note(-12);
    EXPECT_EQ(line.exponent(), -2);
    EXPECT_NEAR(line.log2_norm(4), std::log2(3), 1e-8);
    line.note(0x1p-1074);
    EXPECT_EQ(line.exponent(), 1074);
    EXPECT_NEAR(line.log2_norm(4), std::log2(12) + 1074, 1e-6);
    ExactLine tiny;
    tiny.note(0x3p-1074);
    EXPECT_EQ(tiny.exponent(), 1074);
    EXPECT_GE(tiny.log2_norm(16), std::log2(3));  // squares are gone, and all count as the largest
    EXPECT_LE(tiny.log2_norm(16), std::log2(3) + 2.001);
    line.add(tiny);
    line.note(std::numeric_limits<double>::quiet_NaN());
    EXPECT_EQ(line.exponent(), ExactLine::kNotFinite);
    EXPECT_EQ(line.log2_norm(4), 0);
}

/// From residues of 0 to p, to the integer.
template <std::size_t Limbs>
void check_sums(Random& random, int count) {
    const ExactTable table = exact_table(count);
    const int width = static_cast<int>(std::floor(log2_of_moduli(count) - kSignAndMargin));
    for (int i = 0; i < 400; ++i) {
        const ResidueInteger x =
            i == 0 ? ResidueInteger{}
                   : random_integer(random, 1 + static_cast<int>(random() % static_cast<unsigned>(width)));
        ExactSum<Limbs> sum;
        for (int t = 0; t < count; ++t) {
            const int p = kModuli[static_cast<std::size_t>(t)], rest = modulo(x, p);
            sum.add(table, t, static_cast<std::uint32_t>(rest == 0 && p < 256 && random() % 2 == 0 ? p : rest));
        }
        std::uint32_t limbs[Limbs];
        sum.value(table, limbs);
        for (std::size_t j = 0; j < Limbs; ++j) {
            ASSERT_EQ(limbs[j], static_cast<std::uint32_t>(x.words[j / 2] >> (j % 2 * 32))) << count << " limb " << j;
        }
        for (const int exponent :
             {0, -70, 5, -149 - width / 2, -1074 - width / 2, 100, 128 - width, 1000, 1024 - width}) {
            std::uint32_t copy[Limbs];
            std::copy(std::begin(limbs), std::end(limbs), copy);
            ASSERT_EQ(bits(static_cast<float>(rounded_once(1, x, exponent, 0, 0, Type::f32))),
                      bits(rounded_integer<float>(copy, exponent)));
            std::copy(std::begin(limbs), std::end(limbs), copy);
            ASSERT_EQ(bits(rounded_once(1, x, exponent, 0, 0, Type::f64)),
                      bits(rounded_integer<double>(copy, exponent)));
        }
    }
}

TEST(exact_entry, residues_give_the_integer_and_its_one_rounding) {
    Random random(4);
    for (int count = 1; count <= kMostModuli; ++count) {
        switch ((count + kModuliOfLimb - 1) / kModuliOfLimb) {
            case 1:
                check_sums<1>(random, count);
                break;
            case 2:
                check_sums<2>(random, count);
                break;
            case 3:
                check_sums<3>(random, count);
                break;
            case 4:
                check_sums<4>(random, count);
                break;
            case 5:
                check_sums<5>(random, count);
                break;
            default:
                check_sums<6>(random, count);
        }
    }
}

TEST(exact_entry, two_limbs_are_the_integer_modulo_2_64) {
    Random random(5);
    const ExactTable table = exact_table(19);
    for (int i = 0; i < 2000; ++i) {
        const ResidueInteger x = random_integer(random, 146);
        ExactSum<2> sum;
        for (int t = 0; t < table.count; ++t) {
            sum.add(table, t, static_cast<std::uint32_t>(modulo(x, kModuli[static_cast<std::size_t>(t)])));
        }
        std::uint32_t limbs[2];
        sum.value(table, limbs);
        ASSERT_EQ(limbs[0] | static_cast<std::uint64_t>(limbs[1]) << 32, x.words[0]);
    }
}

TEST(exact_entry, sums_with_factors_are_those_of_the_host) {
    Random random(6);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (int i = 0; i < 300000; ++i) {
        const ResidueInteger x = random_integer(random, 1 + static_cast<int>(random() % 183));
        const int exponent = static_cast<int>(random() % 2300) - 1250;
        const bool is_near = random() % 2 == 0;
        const double alpha = random() % 4 == 0 ? 1 : std::ldexp(uniform(random), static_cast<int>(random() % 20) - 10);
        const double beta = random() % 8 == 0 ? 0 : uniform(random);
        const int apart = is_near ? static_cast<int>(random() % 300) - 60 : static_cast<int>(random() % 2000) - 1000;
        double c = std::ldexp(uniform(random), std::max(-1080, std::min(1000, exponent + apart)));
        if (random() % 16 == 0 && std::isfinite(rounded_once(1, x, exponent, 0, 0, Type::f64))) {
            c = -rounded_once(1, x, exponent, 0, 0, Type::f64);  // nearly everything cancels
        }
        std::uint32_t limbs[6];
        for (std::size_t j = 0; j < 6; ++j) {
            limbs[j] = static_cast<std::uint32_t>(x.words[j / 2] >> (j % 2 * 32));
        }
        const ExactTerm term = exact_term(limbs, exponent);
        ASSERT_EQ(bits(rounded_once(alpha, x, exponent, beta, c, Type::f64)),
                  bits(rounded_sum<double>(alpha, term, beta, c)))
            << i << " " << alpha << " " << beta << " " << c;
        const auto of_f32 = static_cast<double>(static_cast<float>(c));
        if (std::isfinite(of_f32)) {
            ASSERT_EQ(bits(static_cast<float>(rounded_once(alpha, x, exponent, beta, of_f32, Type::f32))),
                      bits(rounded_sum<float>(alpha, term, beta, of_f32)))
                << i << " " << alpha << " " << beta << " " << c;
        }
    }
}

TEST(exact_entry, one_and_its_opposite_are_positive_zero) {
    ExactTerm one;
    one.word[0] = 1;
    EXPECT_EQ(bits(rounded_sum<double>(1, one, -1, 1)), 0U);
    EXPECT_EQ(bits(rounded_sum<float>(-1, one, 1, 1)), 0U);
    EXPECT_EQ(bits(rounded_sum<float>(0, one, 1, -0.0)), 0U);
}

}  // namespace
}  // namespace heptad::cuda
