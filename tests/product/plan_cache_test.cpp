// The one plan cache: found again by all that decides a plan, and bounded.
#include "product/plan_cache.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace heptad {
namespace {

PlanQuestion question(std::int64_t m, const Options& options, std::int64_t workspace_bytes = 0) {
    return {m, 7, 9, Type::f32, Type::f32, 2, false, workspace_bytes, options};
}

TEST(PlanCache, every_part_of_a_question_counts_and_other_threads_find_the_answer) {
    static constinit PlanCache<int> cache;
    const Options usual;
    const PlanQuestion asked = question(5, usual);
    EXPECT_EQ(cache.recent(asked), nullptr);
    EXPECT_EQ(cache.find(asked), nullptr);
    EXPECT_EQ(*cache.keep(asked, 42), 42);
    EXPECT_EQ(*cache.recent(asked), 42);
    EXPECT_EQ(*cache.find(asked), 42);
    std::thread([&] {
        EXPECT_EQ(cache.recent(asked), nullptr);
        EXPECT_EQ(*cache.find(asked), 42);
        EXPECT_EQ(*cache.recent(asked), 42);
    }).join();
    std::vector<Options> others(7);
    others[0].accuracy = Accuracy::fast;
    others[1].levels = 3;
    others[2].overwrite_inputs = true;
    others[3].algorithm = "winograd";
    others[4].device = "cuda";
    others[5].leaf = "blis";
    others[6].mode = "serial";
    for (const Options& other : others) {
        EXPECT_EQ(cache.find(question(5, other)), nullptr);
    }
    PlanQuestion adding{5, 7, 9, Type::f32, Type::f32, 2, true, 0, usual};
    PlanQuestion wide{5, 7, 9, Type::f32, Type::f64, 2, false, 0, usual};
    PlanQuestion alone{5, 7, 9, Type::f32, Type::f32, 1, false, 0, usual};
    for (const PlanQuestion& other : {adding, wide, alone, question(6, usual), question(5, usual, 1)}) {
        EXPECT_EQ(cache.recent(other), nullptr);
        EXPECT_EQ(cache.find(other), nullptr);
    }
}

TEST(PlanCache, it_starts_over_when_it_is_full) {
    static constinit PlanCache<std::int64_t, 4> cache;
    const Options usual;
    for (std::int64_t m = 0; m < 100; ++m) {
        cache.keep(question(m, usual), m);
        EXPECT_EQ(*cache.find(question(m, usual)), m);
    }
    int found = 0;
    std::thread([&] {  // whose own last ones are none
        for (std::int64_t m = 0; m < 100; ++m) {
            found += cache.find(question(m, usual)) ? 1 : 0;
        }
    })
        .join();
    EXPECT_LE(found, 4);
    EXPECT_GE(found, 1);
}

}  // namespace
}  // namespace heptad
