// Grids of ranks: how little they receive, and that every element has one owner.
#include "plan/search/cluster_grid.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.hpp"
#include "plan/predict/cluster_forecast.hpp"

namespace heptad {
namespace {

const ClusterRates kTenGigabit{.operations_per_s = 1e12, .network_bytes_per_s = 1.25e9, .disk_bytes_per_s = 2e9};

ClusterGrid square_grid(std::int64_t ranks, const ClusterRates& rates = kTenGigabit) {
    return best_grid({8192, 8192, 8192}, Type::f32, ranks, rates);
}

TEST(cluster_grid, split_range_covers_everything_once_with_sizes_that_differ_by_one) {
    for (const std::int64_t total : {0, 1, 5, 12, 13}) {
        for (const std::int64_t parts : {1, 2, 5, 13}) {
            std::int64_t next = 0;
            for (std::int64_t index = 0; index < parts; ++index) {
                const IndexRange part = split_range(total, parts, index);
                EXPECT_EQ(part.begin, next);
                EXPECT_GE(part.size(), total / parts);
                EXPECT_LE(part.size(), total / parts + 1);
                next = part.end;
            }
            EXPECT_EQ(next, total);
        }
    }
    EXPECT_EQ(split_range(IndexRange{10, 17}, 2, 1), (IndexRange{14, 17}));
}

TEST(cluster_grid, places_and_ranks_are_inverse) {
    const ClusterGrid grid{3, 2, 4};
    for (std::int64_t rank = 0; rank < grid.ranks(); ++rank) {
        const GridPlace place = place_in_grid(grid, rank);
        EXPECT_LT(place.i, 3);
        EXPECT_LT(place.l, 2);
        EXPECT_LT(place.j, 4);
        EXPECT_EQ(rank_at(grid, place), rank);
    }
    EXPECT_EQ(place_in_grid(grid, 1), (GridPlace{0, 0, 1}));
}

TEST(cluster_grid, formula_of_a_cube_is_the_stated_one) {
    const double n = 120;
    for (const ClusterGrid grid : {ClusterGrid{2, 3, 5}, {1, 1, 1}, {4, 1, 4}, {1, 7, 1}}) {
        const auto pm = static_cast<double>(grid.pm), pk = static_cast<double>(grid.pk),
                   pn = static_cast<double>(grid.pn);
        const double stated = n * n * (1 / (pm * pk) + 1 / (pk * pn) + 1 / (pm * pn) - 3 / (pm * pk * pn));
        EXPECT_NEAR(received_elements({120, 120, 120}, grid), stated, 1e-9 * n * n);
    }
    EXPECT_EQ(received_elements({7, 8, 9}, {1, 1, 1}), 0);
}

TEST(cluster_grid, square_products_receive_at_most_1_35_times_the_lower_bound) {
    for (const std::int64_t ranks : {4, 6, 8, 9, 12, 16}) {
        const ClusterGrid grid = square_grid(ranks);
        EXPECT_EQ(grid.ranks(), ranks);
        EXPECT_LE(received_elements({8192, 8192, 8192}, grid),
                  1.35 * least_received_elements({8192, 8192, 8192}, ranks))
            << ranks;
    }
    EXPECT_EQ(square_grid(8), (ClusterGrid{2, 2, 2}));
}

TEST(cluster_grid, no_grid_receives_less_than_the_lower_bound) {
    for (std::int64_t pm = 1; pm <= 6; ++pm) {
        for (std::int64_t pk = 1; pk <= 6; ++pk) {
            for (std::int64_t pn = 1; pn <= 6; ++pn) {
                for (const ProblemSize size : {ProblemSize{600, 600, 600}, {6000, 60, 600}, {60, 6000, 600}}) {
                    const ClusterGrid grid{pm, pk, pn};
                    EXPECT_GE(received_elements(size, grid) * (1 + 1e-12), least_received_elements(size, grid.ranks()));
                }
            }
        }
    }
}

TEST(cluster_grid, prime_number_of_ranks_leaves_one_idle_where_the_network_is_slow) {
    ClusterRates slow = kTenGigabit;
    slow.network_bytes_per_s = 0.3e9;
    EXPECT_EQ(square_grid(7, slow).ranks(), 6);
    ClusterRates fast = kTenGigabit;
    fast.network_bytes_per_s = 1e15;
    EXPECT_EQ(square_grid(7, fast).ranks(), 7);
}

TEST(cluster_grid, network_that_hardly_moves_leaves_the_product_to_one_rank) {
    ClusterRates slow = kTenGigabit;
    slow.network_bytes_per_s = 1e3;
    EXPECT_EQ(square_grid(16, slow), (ClusterGrid{1, 1, 1}));
}

TEST(cluster_grid, grid_never_cuts_a_dimension_into_more_parts_than_it_has) {
    const ClusterGrid tall = best_grid({100000, 1, 2}, Type::f64, 64, kTenGigabit);
    EXPECT_EQ(tall.pk, 1);
    EXPECT_LE(tall.pn, 2);
    EXPECT_EQ(best_grid({0, 0, 0}, Type::f64, 64, kTenGigabit), (ClusterGrid{1, 1, 1}));
}

TEST(cluster_grid, four_thousand_ranks_are_planned) {
    const ClusterGrid grid = best_grid({1 << 18, 1 << 18, 1 << 18}, Type::f32, 4096, kTenGigabit);
    EXPECT_EQ(grid, (ClusterGrid{16, 16, 16}));
}

TEST(cluster_grid, no_ranks_are_refused) {
    EXPECT_THROW(best_grid({8, 8, 8}, Type::f32, 0, kTenGigabit), Error);
}

}  // namespace
}  // namespace heptad
