// Updates of one block never overlap; in order they come by turns, and a run that is over lets nobody wait.
#include "move/block_turns.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace heptad {
namespace {

TEST(BlockTurns, updates_of_a_block_never_overlap) {
    StageFailure failure;
    BlockTurns turns(2, false, failure);
    int counts[2] = {0, 0};
    int firsts[2] = {0, 0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 200; ++i) {
                const BlockTurns::Hold hold(turns, i % 2, 0);
                ++counts[i % 2];
                firsts[i % 2] += hold.first() ? 1 : 0;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(counts[0], 800);
    EXPECT_EQ(counts[1], 800);
    EXPECT_EQ(firsts[0], 1);
    EXPECT_EQ(firsts[1], 1);
}

TEST(BlockTurns, in_order_means_by_turns_whoever_comes_first) {
    StageFailure failure;
    BlockTurns turns(1, true, failure);
    std::vector<int> seen;
    std::vector<std::thread> threads;
    for (int turn = 15; turn >= 0; --turn) {
        threads.emplace_back([&, turn] {
            const BlockTurns::Hold hold(turns, 0, turn);
            EXPECT_EQ(hold.first(), turn == 0);
            seen.push_back(turn);
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (int turn = 0; turn < 16; ++turn) {
        EXPECT_EQ(seen[static_cast<std::size_t>(turn)], turn);
    }
}

TEST(BlockTurns, end_wakes_who_waits_and_refuses_who_comes_later) {
    StageFailure failure;
    BlockTurns turns(1, true, failure);
    std::thread waiting([&] { EXPECT_THROW(BlockTurns::Hold(turns, 0, 1), StageStopped); });
    failure.end();
    waiting.join();
    EXPECT_THROW(BlockTurns::Hold(turns, 0, 0), StageStopped);
}

}  // namespace
}  // namespace heptad
