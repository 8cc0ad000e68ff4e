// Sums of bytes in lanes of sixteen bits, and their remainders: every sum and modulus, with signs and without.
#include "kernels/cuda/residue/byte_lanes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

namespace heptad::cuda {
namespace {

int byte_of(std::uint32_t word, int place) {
    return static_cast<int>(word >> (8 * place) & 0xffU);
}
int with_sign(int byte) {
    return byte < 128 ? byte : byte - 256;
}

TEST(byte_lanes, remainders_of_all_sums_are_bytes) {
    const ModulusConstants constants = modulus_constants();
    constexpr int kMost = kMostPlaneSum * 255;
    for (int t = 0; t < kMostModuli; ++t) {
        const int p = kModuli[static_cast<std::size_t>(t)];
        const float modulus = constants.modulus[t], reciprocal = constants.reciprocal[t];
        for (int sum = -kMost; sum <= kMost; ++sum) {
            const auto lane = static_cast<std::uint32_t>(sum + (1 << 15));
            const int rest = with_sign(byte_of(byte_of_lane(lane, modulus, reciprocal, 0), 0));
            ASSERT_EQ((rest - sum) % p, 0) << sum << " modulo " << p;
            ASSERT_LE(std::abs(rest), p == 256 ? 128 : p / 2);
            const int of_result = byte_of(byte_of_lane(lane, modulus, reciprocal, (modulus - 1) / 2), 0);
            ASSERT_EQ((of_result - sum) % p, 0) << sum << " modulo " << p;
            ASSERT_LT(of_result, p);
        }
    }
}

template <bool HasSigns>
void sums_of_random_bytes_are_right() {
    const ModulusConstants constants = modulus_constants();
    std::mt19937 random(3);
    for (int repeat = 0; repeat < 20000; ++repeat) {
        ByteLanes lanes = start_of_lanes();
        int sums[4] = {}, left = kMostPlaneSum;
        const bool is_extreme = repeat % 4 == 0;
        while (left > 0) {
            int coefficient = static_cast<int>(random() % 9) - 4;
            coefficient = std::clamp(coefficient, -left, left);
            const auto any = static_cast<std::uint32_t>(random());
            const std::uint32_t bytes = !is_extreme ? any : (any & 1U) != 0 ? 0x80808080U : 0xff7fff7fU;
            left -= std::max(1, std::abs(coefficient));
            lanes.add(coefficient, lanes_of_bytes<HasSigns>(bytes));
            for (int e = 0; e < 4; ++e) {
                sums[e] += coefficient * (HasSigns ? with_sign(byte_of(bytes, e)) : byte_of(bytes, e));
            }
        }
        const int t = repeat % kMostModuli, p = kModuli[static_cast<std::size_t>(t)];
        const float modulus = constants.modulus[t];
        const std::uint32_t rests =
            bytes_of_lanes(lanes, modulus, constants.reciprocal[t], HasSigns ? 0 : (modulus - 1) / 2);
        for (int e = 0; e < 4; ++e) {
            const int rest = HasSigns ? with_sign(byte_of(rests, e)) : byte_of(rests, e);
            ASSERT_EQ((rest - sums[e]) % p, 0) << sums[e] << " modulo " << p;
        }
    }
}

TEST(byte_lanes, sums_with_signs_do_not_reach_their_neighbours) {
    sums_of_random_bytes_are_right<true>();
}
TEST(byte_lanes, sums_without_signs_do_not_reach_their_neighbours) {
    sums_of_random_bytes_are_right<false>();
}

}  // namespace
}  // namespace heptad::cuda
