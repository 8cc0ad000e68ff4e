// Who reads what for the check of a result on several ranks: every element once, and by another rank than the one that
// multiplied it; by one of another host where there is one.
#include <gtest/gtest.h>

#include "product/cluster/cluster_check.hpp"
#include "product/cluster/same_files.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kRanks = 7, kM = 23, kK = 40, kN = 19;

std::vector<ProductPlan> plans() {
    std::vector<ProductPlan> all;
    for (const RankCut& cut : {RankCut{.ranks = kRanks, .grid = {2, 1, 3}, .panels = 3},
                               RankCut{.ranks = kRanks, .grid = {1, 7, 1}, .panels = 2},
                               RankCut{.ranks = kRanks, .algorithm = ClusterAlgorithm::pegmm, .block = {4, 7, 5}},
                               RankCut{.ranks = kRanks, .algorithm = ClusterAlgorithm::mod_pegmm, .block = {4, 7, 2}},
                               RankCut{.ranks = kRanks, .algorithm = ClusterAlgorithm::caps, .steps = 1}}) {
        all.push_back(plan_among_ranks({kM, kK, kN}, Type::f32, cut));
    }
    return all;
}

/// How often each element is in one of the windows.
std::vector<int> counted(const std::vector<Window>& windows, std::int64_t rows, std::int64_t cols) {
    std::vector<int> counts(static_cast<std::size_t>(rows * cols));
    for (const Window& window : windows) {
        for (std::int64_t i = 0; i < window.rows; ++i) {
            for (std::int64_t j = 0; j < window.cols; ++j) {
                ++counts[static_cast<std::size_t>((window.row + i) * cols + window.col + j)];
            }
        }
    }
    return counts;
}

TEST(CheckedWindows, ranks_together_read_every_element_once) {
    for (const ProductPlan& plan : plans()) {
        SCOPED_TRACE(to_string(plan));
        for (const CheckReaders& readers : {CheckReaders{1, false, false}, CheckReaders{3, false, false},
                                            CheckReaders{2, true, true}, CheckReaders{1, false, true}}) {
            CheckedWindows all;
            for (std::int64_t rank = 0; rank < kRanks; ++rank) {
                const CheckedWindows own = checked_windows(plan, rank, readers);
                EXPECT_TRUE(!readers.root_reads_operands || rank == 0 || own.a.empty());
                all.a.insert(all.a.end(), own.a.begin(), own.a.end());
                all.b.insert(all.b.end(), own.b.begin(), own.b.end());
                all.c.insert(all.c.end(), own.c.begin(), own.c.end());
            }
            EXPECT_EQ(counted(all.a, kM, kK), std::vector<int>(kM * kK, 1));
            EXPECT_EQ(counted(all.b, kK, kN), std::vector<int>(kK * kN, 1));
            EXPECT_EQ(counted(all.c, kM, kN), std::vector<int>(kM * kN, 1));
        }
    }
}

TEST(CheckedWindows, no_rank_reads_its_own_parts) {
    for (const ProductPlan& plan : plans()) {
        SCOPED_TRACE(to_string(plan));
        for (std::int64_t rank = 0; rank < kRanks; ++rank) {
            const CheckedWindows read = checked_windows(plan, rank, {2, false, false});
            std::vector<Window> a = held_windows(plan, rank).a, c = result_units(plan, rank);
            a.insert(a.end(), read.a.begin(), read.a.end());
            c.insert(c.end(), read.c.begin(), read.c.end());
            for (const std::vector<int>& counts : {counted(a, kM, kK), counted(c, kM, kN)}) {
                EXPECT_EQ(std::count(counts.begin(), counts.end(), 2), 0);
            }
        }
    }
}

TEST(CheckedWindows, ranks_read_for_another_host_where_there_is_one) {
    EXPECT_EQ(distance_to_checked({"a"}), 0);
    EXPECT_EQ(distance_to_checked({"a", "a", "a"}), 1);
    EXPECT_EQ(distance_to_checked({"a", "b", "c"}), 1);
    EXPECT_EQ(distance_to_checked({"a", "a", "b", "b"}), 2);
    EXPECT_EQ(distance_to_checked({"a", "b", "a", "b"}), 1);
    EXPECT_EQ(distance_to_checked({"a", "a", "a", "b", "b", "b"}), 3);
}

}  // namespace
}  // namespace heptad
