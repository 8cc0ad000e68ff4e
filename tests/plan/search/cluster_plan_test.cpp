// Plans of a cluster: what every rank holds, gets and has at the end; print and parse; forecasts.
#include "plan/search/cluster_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.hpp"
#include "plan/predict/cluster_forecast.hpp"
#include "plan/search/cluster_caps.hpp"

namespace heptad {
namespace {

ProductPlan grid_plan(ProblemSize size, ClusterGrid grid, std::int64_t panels, std::int64_t ranks) {
    return plan_among_ranks(size, Type::f32, {.ranks = ranks, .grid = grid, .panels = panels});
}

ProductPlan block_plan(ProblemSize size, ClusterAlgorithm algorithm, BlockSize block, std::int64_t ranks) {
    return plan_among_ranks(size, Type::f32, {.ranks = ranks, .algorithm = algorithm, .block = block});
}

/// How often each element of a rows x cols matrix is in the windows.
class Cover {
public:
    Cover(std::int64_t rows, std::int64_t cols) : cols_(cols), times_(static_cast<std::size_t>(rows * cols)) {}
    void add(const Window& window) {
        for (std::int64_t i = 0; i < window.rows; ++i) {
            for (std::int64_t j = 0; j < window.cols; ++j) {
                ++times_.at(static_cast<std::size_t>((window.row + i) * cols_ + window.col + j));
            }
        }
    }
    bool is_everywhere(int times) const {
        return std::all_of(times_.begin(), times_.end(), [&](int seen) { return seen == times; });
    }

private:
    std::int64_t cols_;
    std::vector<int> times_;
};

void expect_each_element_held(const ProductPlan& plan, int holders_of_b) {
    Cover a(plan.m, plan.k), b(plan.k, plan.n), c(plan.m, plan.n);
    for (std::int64_t rank = 0; rank < plan.rank->ranks; ++rank) {
        const HeldWindows held = held_windows(plan, rank);
        std::for_each(held.a.begin(), held.a.end(), [&](const Window& window) { a.add(window); });
        std::for_each(held.b.begin(), held.b.end(), [&](const Window& window) { b.add(window); });
        c.add(result_window(plan, rank));
    }
    EXPECT_TRUE(a.is_everywhere(1)) << to_string(plan);
    EXPECT_TRUE(b.is_everywhere(holders_of_b)) << to_string(plan);
    EXPECT_TRUE(c.is_everywhere(1)) << to_string(plan);
}

TEST(cluster_plan, each_element_is_held_by_one_rank_of_a_grid) {
    for (const ClusterGrid grid : {ClusterGrid{1, 1, 1}, {2, 1, 3}, {2, 2, 2}, {1, 3, 2}, {5, 1, 1}}) {
        expect_each_element_held(grid_plan({13, 17, 11}, grid, 3, grid.ranks() + 1), 1);
        expect_each_element_held(grid_plan({3, 2, 1}, grid, 1, grid.ranks()), 1);
    }
}

TEST(cluster_plan, what_is_rounded_once_leaves_k_whole_within_the_memory) {
    const ProblemSize deep{300, 90000, 200};
    ClusterRequest request;
    request.whole_k = true;
    for (const std::int64_t ranks : {1, 2, 6, 7, 64}) {
        const ProductPlan plan = make_cluster_plan(deep, Type::f32, ranks, request, {});
        EXPECT_EQ(plan.rank->grid.pk, 1) << to_string(plan);
        EXPECT_EQ(plan.rank->panels, 1) << to_string(plan);
        EXPECT_EQ(parse_plan(to_string(plan)), plan);
        expect_each_element_held(plan, 1);
    }
    request.memory_bytes = std::int64_t{1} << 28;
    for (const char* algorithm : {"pegmm", "mod-pegmm"}) {
        request.algorithm = algorithm;
        const ProductPlan plan = make_cluster_plan(deep, Type::f32, 4, request, {});
        EXPECT_EQ(plan.rank->block.y, deep.k);
        const std::int64_t in_flight = kBlocksInFlight * deep.k * (plan.rank->block.x + plan.rank->block.z) * 4;
        EXPECT_LE(in_flight, request.memory_bytes / 2) << to_string(plan);
        EXPECT_GT(3 * in_flight, request.memory_bytes / 2) << to_string(plan);
    }
    const auto refused = [&](const std::string& named, std::optional<ClusterGrid> grid, std::optional<BlockSize> block,
                             std::int64_t memory_bytes) {
        EXPECT_THROW(make_cluster_plan(deep, Type::f32, 8, {named, grid, block, memory_bytes, true}, {}), Error);
    };
    constexpr std::int64_t kEnough = std::int64_t{1} << 40;
    refused("auto", ClusterGrid{2, 2, 2}, {}, kEnough);
    refused("auto", {}, {}, 1 << 24);
    refused("caps", {}, {}, kEnough);
    refused("pegmm", {}, BlockSize{8, 8, 8}, kEnough);
}

TEST(cluster_plan, blocks_of_p4_cover_rows_of_a_and_columns_of_b) {
    for (const std::int64_t ranks : {1, 2, 3, 7}) {
        expect_each_element_held(block_plan({13, 17, 11}, ClusterAlgorithm::mod_pegmm, {3, 4, 2}, ranks), 1);
        expect_each_element_held(block_plan({13, 17, 11}, ClusterAlgorithm::pegmm, {3, 4, 2}, ranks),
                                 static_cast<int>(ranks));
    }
}

TEST(cluster_plan, exact_bytes_equal_the_formula_where_sizes_divide_and_stay_near_it_elsewhere) {
    for (const ClusterGrid grid : {ClusterGrid{2, 1, 2}, {3, 1, 2}, {2, 2, 2}, {3, 2, 2}}) {
        const ProductPlan divides = grid_plan({144, 288, 72}, grid, 2, grid.ranks());
        const ProductPlan odd = grid_plan({1009, 2003, 997}, grid, 1, grid.ranks());
        for (std::int64_t rank = 0; rank < grid.ranks(); ++rank) {
            EXPECT_NEAR(static_cast<double>(received_bytes(divides, rank)), 4 * received_elements({144, 288, 72}, grid),
                        1e-6);
            EXPECT_LE(static_cast<double>(received_bytes(odd, rank)),
                      1.03 * 4 * received_elements({1009, 2003, 997}, grid));
        }
    }
}

ProductPlan caps_plan(ProblemSize size, int steps, std::int64_t ranks) {
    return plan_among_ranks(size, Type::f32, {.ranks = ranks, .algorithm = ClusterAlgorithm::caps, .steps = steps});
}

TEST(cluster_caps, every_element_is_held_by_one_rank_and_ends_with_one) {
    for (const int steps : {1, 2}) {
        const ProductPlan plan = caps_plan({130, 61, 47}, steps, 50);
        Cover a(130, 61), b(61, 47), c(130, 47);
        for (std::int64_t rank = 0; rank < plan.rank->ranks; ++rank) {
            const HeldWindows held = held_windows(plan, rank);
            std::for_each(held.a.begin(), held.a.end(), [&](const Window& window) { a.add(window); });
            std::for_each(held.b.begin(), held.b.end(), [&](const Window& window) { b.add(window); });
            for (const Window& window : results_of_caps(plan, rank)) {
                c.add(window);
            }
        }
        EXPECT_TRUE(a.is_everywhere(1));
        EXPECT_TRUE(b.is_everywhere(1));
        EXPECT_TRUE(c.is_everywhere(1));
        EXPECT_EQ(idle_ranks(plan), steps == 1 ? 43 : 1);
    }
}

TEST(cluster_caps, in_every_round_who_sends_is_who_is_received_from) {
    for (const std::int64_t size : {7, 49, 343}) {
        for (std::int64_t round = 0; round < 7; ++round) {
            for (std::int64_t rank = 0; rank < size; ++rank) {
                const CapsRound messages = caps_round(size, rank, round);
                const CapsRound theirs = caps_round(size, messages.to, round);
                EXPECT_EQ(theirs.from, rank);
                EXPECT_EQ(theirs.place, rank % 7);
                EXPECT_EQ(messages.to / (size / 7), messages.sum);
            }
        }
    }
}

TEST(cluster_caps, steps_are_as_many_as_the_ranks_allow) {
    EXPECT_EQ(most_caps_steps(6), 0);
    EXPECT_EQ(most_caps_steps(7), 1);
    EXPECT_EQ(most_caps_steps(48), 1);
    EXPECT_EQ(most_caps_steps(49), 2);
    EXPECT_EQ(most_caps_steps(4096), 4);
}

TEST(cluster_plan, default_block_is_the_rule_of_p4) {
    const ProblemSize size{1 << 15, 1 << 15, 1 << 15};
    EXPECT_EQ(default_block(size, 2, ClusterAlgorithm::pegmm), (BlockSize{8192, 8192, 8192}));
    EXPECT_EQ(default_block(size, 8, ClusterAlgorithm::pegmm), (BlockSize{4096, 4096, 4096}));
    EXPECT_EQ(default_block({1 << 15, 1 << 15, 1 << 13}, 4, ClusterAlgorithm::pegmm), (BlockSize{8192, 8192, 8192}));
    EXPECT_EQ(default_block({1 << 15, 1 << 15, 1 << 13}, 4, ClusterAlgorithm::mod_pegmm),
              (BlockSize{2048, 2048, 2048}));
    EXPECT_EQ(default_block({2, 2, 2}, 8, ClusterAlgorithm::mod_pegmm), (BlockSize{1, 1, 1}));
}

TEST(cluster_plan, panels_grow_with_k_and_with_little_memory) {
    const ClusterGrid grid{2, 1, 2};
    constexpr std::int64_t plenty = std::int64_t{1} << 40;
    EXPECT_EQ(panel_count({512, 512, 512}, Type::f32, grid, plenty), 1);
    EXPECT_EQ(panel_count({4096, 4096, 4096}, Type::f32, grid, plenty), 4);
    EXPECT_EQ(panel_count({4096, 1 << 20, 4096}, Type::f32, grid, plenty), 8);
    // C takes 16 MiB, a column of three panels 48 KiB: 4 MiB beside C hold panels of 85.
    EXPECT_EQ(panel_count({4096, 4096, 4096}, Type::f32, grid, 20 << 20), (4096 + 84) / 85);
    EXPECT_THROW(panel_count({4096, 4096, 4096}, Type::f32, grid, 16 << 20), Error);
}

TEST(cluster_plan, every_element_of_c_is_in_one_unit_of_one_rank) {
    for (const ProductPlan& plan :
         {grid_plan({13, 17, 11}, {2, 3, 1}, 2, 7), block_plan({13, 17, 11}, ClusterAlgorithm::pegmm, {3, 4, 2}, 4),
          block_plan({13, 17, 11}, ClusterAlgorithm::mod_pegmm, {3, 4, 2}, 4),
          block_plan({2, 17, 11}, ClusterAlgorithm::mod_pegmm, {1, 4, 2}, 4), caps_plan({13, 17, 11}, 1, 8)}) {
        std::vector<int> times(static_cast<std::size_t>(plan.m * plan.n));
        for (std::int64_t rank = 0; rank < plan.rank->ranks; ++rank) {
            for (const Window& unit : result_units(plan, rank)) {
                for (std::int64_t i = 0; i < unit.rows; ++i) {
                    for (std::int64_t j = 0; j < unit.cols; ++j) {
                        ++times.at(static_cast<std::size_t>((unit.row + i) * plan.n + unit.col + j));
                    }
                }
            }
        }
        EXPECT_EQ(times, std::vector<int>(times.size(), 1)) << to_string(plan);
    }
}

TEST(cluster_plan, columns_of_mod_pegmm_are_finished_in_the_order_in_which_b_arrives) {
    const ProductPlan plan = block_plan({8, 8, 12}, ClusterAlgorithm::mod_pegmm, {2, 4, 2}, 3);
    const std::vector<Window> units = result_units(plan, 1);
    ASSERT_EQ(units.size(), 6U);
    for (std::size_t i = 0; i < units.size(); ++i) {
        // Rank 1 has columns 4 to 7 of B itself, then come those of rank 2, at last those of rank 0.
        EXPECT_EQ(units[i].col, static_cast<std::int64_t>(4 + 2 * i) % 12);
        EXPECT_EQ(units[i].rows, 3);
    }
}

TEST(cluster_plan, print_of_what_is_decided_parses_back_and_can_be_carried_out) {
    for (const std::int64_t ranks : {1, 2, 7, 12, 49, 100}) {
        for (const ProblemSize size : {ProblemSize{1, 1, 1}, {5, 6, 7}, {100, 200, 300}, {1 << 15, 1 << 20, 4096}}) {
            for (const char* algorithm : {"grid", "pegmm", "mod-pegmm", "caps"}) {
                if (ranks < 7 && std::string(algorithm) == "caps") {
                    continue;
                }
                ClusterRequest request;
                request.algorithm = algorithm;
                const ProductPlan plan = make_cluster_plan(size, Type::f32, ranks, request, {});
                const ProductPlan again = parse_plan(to_string(plan));
                EXPECT_EQ(again, plan) << to_string(plan);
                EXPECT_NO_THROW(check_rank_cut(again)) << to_string(plan);
            }
        }
    }
    EXPECT_NE(to_string(grid_plan({100, 200, 300}, {3, 1, 2}, 4, 7))
                  .find("plan 100x200x300 f32 rank={ranks=7;algorithm=grid;grid=3x1x2;panels=4} "),
              std::string::npos);
}

TEST(cluster_plan, plan_that_was_edited_into_nonsense_is_refused) {
    const auto refused = [](const ProductPlan& plan, const std::string& cut) {
        std::string text = to_string(plan);
        const std::size_t begin = text.find("rank="), end = text.find(' ', begin);
        text.replace(begin, end - begin, cut);
        try {
            check_rank_cut(parse_plan(text));
        } catch (const Error& error) {
            return error.code() == ErrorCode::input;
        }
        return false;
    };
    const ProductPlan plan = grid_plan({4, 4, 4}, {1, 1, 1}, 1, 1);
    EXPECT_FALSE(refused(plan, "rank={ranks=4;algorithm=grid;grid=2x1x2;panels=1}"));
    for (const char* cut :
         {"", "rank={}", "rank={ranks=0;algorithm=grid;grid=1x1x1;panels=1}",
          "rank={ranks=4;algorithm=grid;grid=3x1x2;panels=1}", "rank={ranks=4;algorithm=grid;grid=0x1x2;panels=1}",
          "rank={ranks=4;algorithm=grid;grid=4294967296x4294967296x1;panels=1}",
          "rank={ranks=1;algorithm=cannon;grid=1x1x1;panels=1}", "rank={ranks=1;algorithm=grid;grid=1x1x1;panels=none}",
          "rank={ranks=1;algorithm=grid;grid=1x1x1;panels=0}", "rank={ranks=1;algorithm=grid;grid=1x1x1;panels=5}",
          "rank={ranks=1;algorithm=pegmm}", "rank={ranks=1;algorithm=pegmm;block=1x0x1}",
          "rank={ranks=6;algorithm=caps;steps=1}", "rank={ranks=7;algorithm=caps}",
          "rank={ranks=7;algorithm=caps;steps=0}", "rank={ranks=1;algorithm=grid;grid=1x1x1;panels=1;colour=red}"}) {
        EXPECT_TRUE(refused(plan, cut)) << cut;
    }
}

const ClusterRates kRates{.operations_per_s = 1e12, .network_bytes_per_s = 1e9, .disk_bytes_per_s = 2e9};

double term(const ClusterForecast& result, const std::string& name) {
    for (const EquationTerm& one : result.terms) {
        if (one.name == name) {
            return one.seconds;
        }
    }
    ADD_FAILURE() << "no term " << name;
    return 0;
}

TEST(cluster_forecast, terms_of_equations_2_and_3) {
    // A has 4 GB, B has 8 GB.
    const ProblemSize size{1000000, 1000, 2000000};
    const ForecastOptions linear{.scatter = true, .broadcast = Broadcast::linear};
    const ClusterForecast two =
        forecast(block_plan(size, ClusterAlgorithm::pegmm, {1000, 1000, 1000}, 4), kRates, linear);
    EXPECT_DOUBLE_EQ(term(two, "T_dr(A)"), 2);
    EXPECT_DOUBLE_EQ(term(two, "T_scatter(A)"), 3);
    EXPECT_DOUBLE_EQ(term(two, "T_dw(A[id])"), 0.5);
    EXPECT_DOUBLE_EQ(term(two, "T_dr(B)"), 4);
    EXPECT_DOUBLE_EQ(term(two, "T_bcast(B)"), 24);
    EXPECT_DOUBLE_EQ(term(two, "T_dw(B)"), 4);
    EXPECT_EQ(two.terms.size(), 6U);
    EXPECT_DOUBLE_EQ(two.equation_s, 37.5);
    const ClusterForecast chain = forecast(block_plan(size, ClusterAlgorithm::pegmm, {1000, 1000, 1000}, 4), kRates,
                                           {.scatter = true, .broadcast = Broadcast::pipelined});
    EXPECT_DOUBLE_EQ(term(chain, "T_bcast(B)"), 8 * (1 + 2 / 2000.0));  // two blocks fill the chain
    const ClusterForecast three =
        forecast(block_plan(size, ClusterAlgorithm::mod_pegmm, {1000, 1000, 1000}, 4), kRates, linear);
    EXPECT_DOUBLE_EQ(term(three, "T_scatter(B)"), 6);
    EXPECT_DOUBLE_EQ(term(three, "T_dw(B[id])"), 1);
    EXPECT_DOUBLE_EQ(three.equation_s, 2 + 3 + 0.5 + 4 + 6 + 1);
    EXPECT_DOUBLE_EQ(three.received_bytes, 6e9);
}

TEST(cluster_forecast, one_rank_is_fully_efficient_where_disks_are_fast) {
    ClusterRates rates = kRates;
    rates.disk_bytes_per_s = 1e18;
    const ClusterForecast alone = forecast(grid_plan({4096, 4096, 4096}, {1, 1, 1}, 1, 1), rates, {});
    EXPECT_NEAR(alone.efficiency, 1, 1e-6);
    EXPECT_EQ(alone.received_bytes, 0);
    EXPECT_EQ(alone.lower_bound_bytes, 0);
}

TEST(cluster_forecast, idle_ranks_cost_efficiency) {
    ClusterRates rates = kRates;
    rates.disk_bytes_per_s = rates.network_bytes_per_s = 1e18;
    EXPECT_NEAR(forecast(grid_plan({4096, 4096, 4096}, {3, 1, 2}, 1, 12), rates, {}).efficiency, 0.5, 1e-3);
}

TEST(cluster_forecast, complex_products_have_four_times_the_operations) {
    ClusterRates rates = kRates;
    rates.disk_bytes_per_s = rates.network_bytes_per_s = 1e18;
    const ProblemSize size{4096, 4096, 4096};
    for (const RankCut& cut : {RankCut{.ranks = 4, .grid = {2, 1, 2}, .panels = 1},
                               RankCut{.ranks = 4, .algorithm = ClusterAlgorithm::pegmm, .block = {512, 512, 512}},
                               RankCut{.ranks = 7, .algorithm = ClusterAlgorithm::caps, .steps = 1}}) {
        const ClusterForecast real = forecast(plan_among_ranks(size, Type::f32, cut), rates, {}),
                              complex = forecast(plan_among_ranks(size, Type::c64, cut), rates, {});
        EXPECT_NEAR(complex.multiply_s / real.multiply_s, 4, 1e-3);
        EXPECT_NEAR(complex.efficiency, real.efficiency, 1e-3);
    }
}

TEST(cluster_forecast, thousands_of_ranks_stay_at_the_lower_bound) {
    const ClusterForecast large = forecast(grid_plan({1 << 16, 1 << 16, 1 << 16}, {16, 16, 16}, 4, 4096), kRates, {});
    EXPECT_NEAR(large.received_bytes / large.lower_bound_bytes, 1, 1e-9);
    EXPECT_GT(large.efficiency, 0);
    EXPECT_LT(large.efficiency, 1);
}

}  // namespace
}  // namespace heptad
