// Symmetric variants and Kronecker compositions are derived, and each is proven like a shipped file.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "algorithm/algorithm.hpp"
#include "algorithm/catalogue.hpp"
#include "base/error.hpp"

namespace heptad {
namespace {

const Algorithm& shipped(const char* name) {
    return find_algorithm(name).algorithm;
}

TEST(Symmetry, all_six_variants_of_three_different_sizes_are_proven) {
    const Algorithm& original = shipped("2x3x4-20");
    std::array<int, 3> sizes = {2, 3, 4};
    int variants = 0;
    do {
        const auto [m, k, n] = sizes;
        const Algorithm variant = permuted(original, m, k, n);
        EXPECT_EQ((std::array{variant.m, variant.k, variant.n, variant.rank()}), (std::array{m, k, n, 20}));
        EXPECT_EQ(prove(variant), "");
        ++variants;
    } while (std::next_permutation(sizes.begin(), sizes.end()));
    EXPECT_EQ(variants, 6);
}

TEST(Symmetry, variants_of_variants_are_proven_too) {
    const Algorithm once = permuted(shipped("3x4x5-47"), 5, 3, 4);
    EXPECT_EQ(prove(permuted(once, 4, 3, 5)), "");
    EXPECT_EQ(permuted(once, 4, 3, 5).name, "4x3x5-47");
}

TEST(Symmetry, own_sizes_give_the_algorithm_itself_with_its_bases) {
    const Algorithm same = permuted(shipped("chaining"), 2, 2, 2);
    EXPECT_TRUE(same.basis.has_value());
    EXPECT_EQ(same.u, shipped("chaining").u);
}

TEST(Symmetry, sizes_that_are_no_permutation_are_a_usage_error) {
    try {
        permuted(shipped("2x2x3-11"), 2, 3, 3);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::usage);
    }
}

TEST(Symmetry, names_of_variants_keep_the_suffix) {
    EXPECT_EQ(permuted_name(shipped("3x3x6-40-accurate"), 6, 3, 3), "6x3x3-40-accurate");
    Algorithm other = shipped("2x2x3-11");
    other.name = "mine";
    EXPECT_EQ(permuted_name(other, 3, 2, 2), "mine-3x2x2");
}

TEST(Compose, pairs_of_small_algorithms_are_proven) {
    const std::vector<const char*> names = {"classical",    "strassen", "winograd", "alternative-basis",
                                            "self-inverse", "chaining", "2x2x3-11", "2x2x4-14"};
    for (const char* outer : names) {
        for (const char* inner : names) {
            const Algorithm x = compose(shipped(outer), shipped(inner));
            EXPECT_EQ(prove(x), "") << x.name;
            EXPECT_EQ(x.rank(), shipped(outer).rank() * shipped(inner).rank());
            EXPECT_FALSE(x.basis.has_value());
        }
    }
}

TEST(Compose, three_different_rectangles_are_proven) {
    const Algorithm x = compose(compose(shipped("2x2x3-11"), permuted(shipped("2x2x3-11"), 2, 3, 2)),
                                permuted(shipped("2x2x3-11"), 3, 2, 2));
    EXPECT_EQ(x.signature(), "<12,12,12>:1331");
    EXPECT_EQ(prove(x), "");
}

TEST(Compose, blocks_are_numbered_row_by_row_of_the_whole_grid) {
    // The first product of classical * classical is block (1,1) of A times block (1,1) of B; the second one takes the
    // next block of the same row of the inner grid, which is block (1,2) of the 4 x 4 grid.
    const Algorithm x = compose(shipped("classical"), shipped("classical"));
    EXPECT_EQ(x.u(0, 0), Rational(1));
    EXPECT_EQ(x.u(1, 1), Rational(1));
    EXPECT_EQ(x.v(1, 4), Rational(1));
}

TEST(Compose, ring_is_the_smallest_that_holds_both) {
    EXPECT_EQ(compose(shipped("strassen"), shipped("2x2x2-7-accurate")).ring, Ring::halves);
    EXPECT_EQ(compose(shipped("strassen"), shipped("chaining")).ring, Ring::gf2);
    EXPECT_THROW(compose(shipped("2x2x2-7-accurate"), shipped("chaining")), Error);
}

TEST(Compose, too_large_compositions_are_a_usage_error) {
    const Algorithm big = compose(shipped("5x5x5-93"), shipped("strassen"));
    EXPECT_THROW(compose(big, big), Error);
}

}  // namespace
}  // namespace heptad
