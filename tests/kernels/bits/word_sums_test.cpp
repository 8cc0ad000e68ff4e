// Sums of arrays of words, by the version this processor is given and by the plain one.
#include "kernels/bits/word_sums.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "kernels/bits/leaf_kernels.hpp"

namespace {

using namespace heptad::bits;

TEST(WordSums, every_number_of_terms_equals_a_loop) {
    std::mt19937_64 random(1);
    for (const WordSum sum : {word_sum(), table_kernels().sum_words}) {
        for (const int count : {1, 2, 3, 4, 5, 8, 16, kMostTerms}) {
            for (const std::int64_t words : {8, 64, 520}) {
                for (const bool adds : {false, true}) {
                    const auto size = static_cast<std::size_t>(words);
                    std::vector<std::vector<std::uint64_t>> terms(static_cast<std::size_t>(count));
                    std::vector<const std::uint64_t*> from;
                    for (std::vector<std::uint64_t>& term : terms) {
                        term.resize(size);
                        std::generate(term.begin(), term.end(), random);
                        from.push_back(term.data());
                    }
                    std::vector<std::uint64_t> to(size + 1);
                    std::generate(to.begin(), to.end(), random);
                    std::vector<std::uint64_t> expected = to;
                    for (std::size_t i = 0; i < size; ++i) {
                        expected[i] = adds ? to[i] : 0;
                        for (const std::vector<std::uint64_t>& term : terms) {
                            expected[i] ^= term[i];
                        }
                    }
                    sum(to.data(), from.data(), count, words, adds);
                    ASSERT_EQ(to, expected) << count << " " << words << " " << adds;
                }
            }
        }
    }
}

}  // namespace
