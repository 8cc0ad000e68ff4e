// Rates that cannot be true are replaced by what was known before; all others stay.
#include "tune/possible_figures.hpp"

#include <gtest/gtest.h>

namespace heptad {
namespace {

double seconds(std::int64_t n, double flops) {
    const auto size = static_cast<double>(n);
    return 2 * size * size * size / flops;
}

/// Squares from 16 to 2048 at such a rate.
LeafProfile profile_at(double flops) {
    LeafProfile profile{"openblas", Type::f32, 2, {}};
    for (std::int64_t n = 16; n <= 2048; n *= 2) {
        profile.samples.push_back({n, n, n, seconds(n, flops)});
    }
    return profile;
}

Machine known_before() {
    Machine machine;
    machine.leaves = {profile_at(60e9)};
    return machine;
}

double rate_at(const LeafProfile& profile, std::int64_t n) {
    for (const LeafSample& sample : profile.samples) {
        if (sample.m == n && sample.k == n && sample.n == n) {
            return seconds(n, 1) / sample.seconds;
        }
    }
    return 0;
}

TEST(possible_figures, what_can_be_true_stays) {
    LeafProfile profile = profile_at(70e9);
    profile.samples.push_back({1, 2048, 2048, 1});  // thin ones wait for memory
    EXPECT_EQ(replace_impossible(profile, {1e9, 1e12}, known_before(), false), 0);
    EXPECT_NEAR(rate_at(profile, 1024), 70e9, 1);
}

TEST(possible_figures, less_than_plain_loops_is_replaced) {
    LeafProfile profile = profile_at(97.7e6);  // as it was once stored for a library that does 69 GFLOP/s
    EXPECT_EQ(replace_impossible(profile, {1e9, 1e12}, known_before(), false), 5);
    EXPECT_NEAR(rate_at(profile, 2048), 60e9, 1e3);
    EXPECT_NEAR(rate_at(profile, 64), 97.7e6, 1) << "a call may cost more than such a product";
}

TEST(possible_figures, more_than_the_processor_can_is_replaced) {
    LeafProfile profile = profile_at(70e9);
    profile.samples[4].seconds = 1e-9;
    EXPECT_EQ(replace_impossible(profile, {1e9, 1e12}, known_before(), false), 1);
    EXPECT_NEAR(rate_at(profile, 256), 60e9, 1e3);
}

TEST(possible_figures, a_dent_between_two_squares_is_replaced_and_a_step_is_not) {
    LeafProfile dent = profile_at(70e9);
    dent.samples[5].seconds *= 5;
    EXPECT_EQ(replace_impossible(dent, {1e9, 1e12}, known_before(), false), 1);
    EXPECT_NEAR(rate_at(dent, 512), 60e9, 1e3);
    LeafProfile step = profile_at(70e9);
    for (std::size_t i = 4; i < step.samples.size(); ++i) {
        step.samples[i].seconds *= 5;
    }
    EXPECT_EQ(replace_impossible(step, {1e9, 1e12}, known_before(), false), 0);
}

TEST(possible_figures, half_as_fast_as_before_is_not_believed_where_others_were_there) {
    Machine before = known_before();
    before.measured = true;
    LeafProfile slow = profile_at(25e9);
    EXPECT_EQ(replace_impossible(slow, {1e9, 1e12}, before, false), 0) << "nobody was: it is so";
    EXPECT_EQ(replace_impossible(slow, {1e9, 1e12}, before, true), 5);
    EXPECT_NEAR(rate_at(slow, 2048), 60e9, 1e3);
    LeafProfile a_little_slower = profile_at(40e9);
    EXPECT_EQ(replace_impossible(a_little_slower, {1e9, 1e12}, before, true), 0);
}

TEST(possible_figures, what_is_built_in_is_believed_of_our_own_kernel_alone) {
    Machine built_in = known_before();
    built_in.leaves.push_back(built_in.leaves.front());
    built_in.leaves.back().leaf = "heptad";
    LeafProfile library = profile_at(25e9), own = library;
    own.leaf = "heptad";
    EXPECT_EQ(replace_impossible(library, {1e9, 1e12}, built_in, true), 0) << "it may have picked a slow kernel";
    EXPECT_EQ(replace_impossible(own, {1e9, 1e12}, built_in, true), 5);
}

TEST(possible_figures, plain_loops_do_something) {
    EXPECT_GT(plain_loop_flops(), 1e6);
    EXPECT_LT(plain_loop_flops(), 1e12);
}

}  // namespace
}  // namespace heptad
