// Schedules of transfers, carried out on small integers: every part is there before it is needed and comes once, every
// part of C is complete when it leaves, and the sums are those of the definition. And what the predicted times decide.
#include "plan/search/transfer_schedule.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace heptad {
namespace {

class Integers {
public:
    Integers(std::int64_t rows, std::int64_t cols, std::int64_t value)
        : cols_(cols), values_(static_cast<std::size_t>(rows * cols), value) {}
    std::int64_t& at(std::int64_t i, std::int64_t j) { return values_[static_cast<std::size_t>(i * cols_ + j)]; }
    bool operator==(const Integers&) const = default;

private:
    std::int64_t cols_;
    std::vector<std::int64_t> values_;
};

constexpr std::int64_t kMissing = 1'000'000'007;  // no part of a right result

template <class Use>
void each(const MatrixWindow& window, Use use) {
    for (std::int64_t i = window.row; i < window.row + window.rows; ++i) {
        for (std::int64_t j = window.col; j < window.col + window.cols; ++j) {
            use(i, j);
        }
    }
}

std::int64_t entry_of_a(std::int64_t i, std::int64_t j) {
    return (7 * i + 3 * j) % 11 - 5;
}
std::int64_t entry_of_b(std::int64_t i, std::int64_t j) {
    return (5 * i + 2 * j) % 13 - 6;
}
std::int64_t entry_of_c(std::int64_t i, std::int64_t j) {
    return (i + j) % 3;
}

/// Carries the schedule out as a device would, and compares what arrives at home.
void expect_product(const ProblemSize& size, const TransferSchedule& schedule, std::int64_t beta) {
    const std::int64_t m = size.m, k = size.k, n = size.n;
    Integers a(m, k, kMissing), b(k, n, kMissing), c(m, n, kMissing), home(m, n, kMissing);
    Integers sum_of_right(0, 0, 0);  // of the step before
    for (const TransferStep& step : schedule.steps) {
        for (const MatrixWindow& window : step.brings_a) {
            each(window, [&](std::int64_t i, std::int64_t j) {
                ASSERT_EQ(a.at(i, j), kMissing) << "brought twice";
                a.at(i, j) = entry_of_a(i, j);
            });
        }
        for (const MatrixWindow& window : step.brings_b) {
            each(window, [&](std::int64_t i, std::int64_t j) {
                ASSERT_EQ(b.at(i, j), kMissing) << "brought twice";
                b.at(i, j) = entry_of_b(i, j);
            });
        }
        Integers left(step.size.m, step.size.k, 0), right(step.size.k, step.size.n, 0);
        const auto sum = [](const std::vector<Term<MatrixWindow>>& terms, Integers& from, Integers& to) {
            for (const Term<MatrixWindow>& term : terms) {
                each(term.block, [&](std::int64_t i, std::int64_t j) {
                    to.at(i - term.block.row, j - term.block.col) += std::llround(term.coefficient) * from.at(i, j);
                });
            }
        };
        sum(step.left, a, left);
        sum(step.right, b, right);
        if (step.keeps_right_sum) {
            ASSERT_EQ(sum_of_right, right);
        }
        sum_of_right = right;
        Integers product(step.size.m, step.size.n, 0);
        each({0, step.size.m, 0, step.size.n}, [&](std::int64_t i, std::int64_t j) {
            for (std::int64_t p = 0; p < step.size.k; ++p) {
                product.at(i, j) += left.at(i, p) * right.at(p, j);
            }
        });
        for (const ResultTerm<MatrixWindow>& result : step.result) {
            each(result.block, [&](std::int64_t i, std::int64_t j) {
                if (result.first()) {
                    ASSERT_EQ(c.at(i, j), kMissing) << "begun twice";
                    c.at(i, j) = beta * entry_of_c(i, j);
                }
                c.at(i, j) += std::llround(result.coefficient) * product.at(i - result.block.row, j - result.block.col);
                if (result.last) {
                    ASSERT_EQ(home.at(i, j), kMissing) << "fetched twice";
                    home.at(i, j) = c.at(i, j);
                }
            });
        }
        for (const TransferSpread& spread : step.spreads) {
            for (const ResultTerm<MatrixWindow>& result : spread.to) {
                each(result.block, [&](std::int64_t i, std::int64_t j) {
                    ASSERT_TRUE(result.first());
                    ASSERT_EQ(c.at(i, j), kMissing) << "begun twice";
                    c.at(i, j) = std::llround(result.coefficient) *
                                 c.at(i - result.block.row + spread.from.row, j - result.block.col + spread.from.col);
                    if (result.last) {
                        ASSERT_EQ(home.at(i, j), kMissing) << "fetched twice";
                        home.at(i, j) = c.at(i, j);
                    }
                });
            }
        }
    }
    each({0, m, 0, n}, [&](std::int64_t i, std::int64_t j) {
        std::int64_t entry = beta * entry_of_c(i, j);
        for (std::int64_t p = 0; p < k; ++p) {
            entry += entry_of_a(i, p) * entry_of_b(p, j);
        }
        ASSERT_EQ(home.at(i, j), entry) << i << ", " << j;
    });
}

TEST(TransferSchedule, levels_give_the_product_of_even_and_odd_sizes) {
    for (const ProblemSize& size : {ProblemSize{8, 8, 8}, {7, 9, 5}, {2, 3, 11}, {1, 1, 1}, {6, 1, 4}}) {
        for (const char* algorithm : {"winograd", "strassen"}) {
            expect_product(size, transfers_by_level(size, algorithm, Type::f32), 0);
        }
    }
}

TEST(TransferSchedule, levels_at_both_ends_give_the_product_of_any_sizes) {
    for (const ProblemSize& size : {ProblemSize{16, 16, 16},
                                    {17, 19, 15},
                                    {7, 9, 5},
                                    {2, 3, 11},
                                    {1, 1, 1},
                                    {6, 1, 4},
                                    {1, 12, 13},
                                    {33, 2, 1},
                                    {9, 31, 1}}) {
        for (const char* algorithm : {"winograd", "strassen"}) {
            for (int opening = 0; opening <= 4; ++opening) {
                for (int closing = 0; closing <= 4; ++closing) {
                    expect_product(size, transfers_by_level(size, algorithm, Type::f32, {opening, closing, 1}), 0);
                }
            }
        }
    }
}

TEST(TransferSchedule, the_opening_product_is_made_by_levels_of_its_own) {
    const ProblemSize size{16, 24, 8};
    const TransferSchedule schedule = transfers_by_level(size, "winograd", Type::f32, {3, 1, 1});
    EXPECT_EQ(schedule.levels, 3);
    ASSERT_EQ(schedule.steps.size(), 7U + 6 + 6);
    const TransferStep& first = schedule.steps[0];
    EXPECT_EQ(first.size.m, 2);
    EXPECT_EQ(first.size.k, 3);
    EXPECT_EQ(first.size.n, 1);
    EXPECT_EQ(first.brings_a.size() + first.brings_b.size(), 2U);
    // It is made in one block of C, and three others begin with what is there.
    EXPECT_TRUE(first.result_lies_there());
    ASSERT_EQ(first.spreads.size(), 1U);
    EXPECT_EQ(first.spreads[0].to.size(), 3U);
    EXPECT_EQ(schedule.steps[6].spreads[0].from, (MatrixWindow{0, 4, 0, 2}));
    // All products of Strassen take sums or go to several blocks: none of them opens.
    EXPECT_EQ(transfers_by_level(size, "strassen", Type::f32, {3, 3, 1}).steps.size(), 7U);
}

TEST(TransferSchedule, the_closing_product_is_made_by_levels_of_its_own) {
    const TransferSchedule schedule = transfers_by_level({16, 16, 16}, "winograd", Type::f32, {1, 3, 1});
    ASSERT_EQ(schedule.steps.size(), 7U + 6 + 6);
    const TransferStep& last = schedule.steps.back();
    EXPECT_EQ(last.size.k, 2);
    ASSERT_EQ(last.result.size(), 1U);
    EXPECT_TRUE(last.result[0].last);
    EXPECT_EQ(last.result[0].block.elements(), 4);  // all that is left to go home
}

TEST(TransferSchedule, the_last_product_of_a_level_may_go_home_in_parts) {
    const ProblemSize size{8192, 4, 2};
    const TransferSchedule schedule = transfers_by_level(size, "winograd", Type::f32, {1, 0, 16});
    std::vector<std::int64_t> heights;
    for (std::size_t i = 6; i < schedule.steps.size(); ++i) {
        heights.push_back(schedule.steps[i].size.m);
        EXPECT_TRUE(schedule.steps[i].result[0].last);
    }
    EXPECT_EQ(heights, (std::vector<std::int64_t>{3072, 768, 256}));
    expect_product(size, schedule, 0);
    // A block at the edge has a row less, so the last product stays whole.
    const ProblemSize odd{8191, 4, 2};
    EXPECT_EQ(transfers_by_level(odd, "winograd", Type::f32, {1, 0, 16}).steps.size(), 7U);
    expect_product({4096, 16, 2}, transfers_by_level({4096, 16, 2}, "winograd", Type::f32, {2, 0, 4}), 0);
}

TEST(TransferSchedule, sides_shorter_than_the_parts_asked_for_are_left_whole) {
    for (const ProblemSize& size : {ProblemSize{6, 1, 5}, {1, 6, 5}, {1, 1, 1}, {3, 2, 7}}) {
        expect_product(size, transfers_by_level(size, "winograd", Type::f64, {1, 0, 4}), 0);
    }
}

TEST(TransferSchedule, memory_for_sums_is_the_largest_of_each_side) {
    const TransferSchedule whole = undivided_transfers({64, 64, 64});
    EXPECT_EQ(sum_buffers(whole, 4, 4).bytes(), 0);
    for (const LevelEnds& ends : {LevelEnds{1, 1, 1}, LevelEnds{3, 2, 1}, LevelEnds{2, 0, 4}}) {
        const SumBuffers sums = sum_buffers(transfers_by_level({4096, 2048, 1024}, "winograd", Type::f32, ends), 4, 4);
        EXPECT_EQ(sums.left_bytes, 2048 * 1024 * 4);
        EXPECT_EQ(sums.right_bytes, 1024 * 512 * 4);
        EXPECT_EQ(sums.result_bytes, 2048 * 512 * 4);
    }
    // Halves are rounded up, and rows to 16 bytes.
    EXPECT_EQ(sum_buffers(transfers_by_level({5, 5, 5}, "strassen", Type::f32), 4, 4).bytes(), 3 * (3 * 4 * 4));
    TransferProblem problem;
    problem.size = {4096, 4096, 4096};
    EXPECT_EQ(sum_bytes_of_level(problem), 3 * 2048 * 2048 * 4);
}

TEST(TransferSchedule, pieces_give_the_product) {
    const ProblemSize size{10, 12, 5};
    expect_product(size, undivided_transfers(size), 2);
    expect_product(size, transfers_by_pieces(size, {12}, {4, 4, 2}), 2);
    expect_product(size, transfers_by_pieces(size, {3, 9}, {10}), 0);
    expect_product(size, transfers_by_pieces(size, {1, 2, 9}, {5, 3, 2}), 2);
    expect_product({3, 0, 4}, undivided_transfers({3, 0, 4}), 1);
}

TEST(TransferSchedule, a_corner_that_grows_by_rows_and_columns_gives_the_product) {
    const ProblemSize size{10, 12, 7};
    for (const std::vector<std::int64_t>& depths : {std::vector<std::int64_t>{12}, {3, 9}, {1, 2, 9}}) {
        expect_product(size, transfers_by_pieces(size, depths, {4, 4, 2}, {3, 1, 3}), 2);
        expect_product(size, transfers_by_pieces(size, depths, {9, 1}, {1, 6}), 2);
        expect_product(size, transfers_by_pieces(size, depths, {10}, {7}), 2);
    }
    // The last product may be made in parts of its rows.
    for (const int last_parts : {2, 3, 64}) {
        const ProblemSize high{1300, 5, 7};
        const TransferSchedule in_parts = transfers_by_pieces(high, {2, 3}, {700, 600}, {4, 3}, last_parts);
        EXPECT_EQ(in_parts.steps.size(), 6U + (last_parts == 2 ? 1 : last_parts == 3 ? 2 : 5));
        expect_product(high, in_parts, 0);
    }
    // Each piece of A or B is followed by what it makes possible, which goes home at once.
    const TransferSchedule schedule = transfers_by_pieces(size, {12}, {4, 4, 2}, {3, 1, 3});
    ASSERT_EQ(schedule.steps.size(), 5U);
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
        EXPECT_EQ(schedule.steps[i].brings_a.size() + schedule.steps[i].brings_b.size(), i == 0 ? 2U : 1U);
        EXPECT_TRUE(schedule.steps[i].result[0].last);
    }
}

TEST(TransferSchedule, corners_before_the_last_part_of_k_begin_with_the_smallest_panels_and_send_nothing_home) {
    const ProblemSize size{10, 12, 10};
    const TransferSchedule schedule = transfers_by_pieces(size, {5, 7}, {6, 3, 1}, {6, 3, 1});
    ASSERT_EQ(schedule.steps.size(), 10U);
    const std::vector<std::int64_t> rows{1, 3, 4, 6, 10, 6, 3, 9, 1, 10}, cols{1, 1, 3, 4, 6, 6, 6, 3, 9, 1};
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
        const TransferStep& step = schedule.steps[i];
        EXPECT_EQ(step.size.m, rows[i]) << i;
        EXPECT_EQ(step.size.k, i < 5 ? 5 : 7) << i;
        EXPECT_EQ(step.size.n, cols[i]) << i;
        EXPECT_EQ(step.result[0].first(), i < 5) << i;
        EXPECT_EQ(step.result[0].last, i >= 5) << i;
        EXPECT_EQ(step.brings_a.size() + step.brings_b.size(), i % 5 == 0 ? 2U : 1U) << i;
    }
}

TEST(TransferSchedule, products_of_a_level_come_in_the_order_of_what_they_have_to_wait_for) {
    const auto brought = [](const LevelEnds& ends) {
        std::vector<std::size_t> windows;
        for (const TransferStep& step : transfers_by_level({64, 64, 64}, "winograd", Type::f32, ends).steps) {
            windows.push_back(step.brings_a.size() + step.brings_b.size());
        }
        return windows;
    };
    EXPECT_EQ(brought({1, 0, 1}), (std::vector<std::size_t>{2, 2, 3, 1, 0, 0, 0}));
    // One of the two that need little comes last.
    EXPECT_EQ(brought({1, 1, 1}), (std::vector<std::size_t>{2, 3, 1, 0, 1, 1, 0}));
}

TEST(TransferSchedule, a_level_begins_with_two_blocks_and_ends_with_one) {
    const TransferSchedule schedule = transfers_by_level({64, 64, 64}, "winograd", Type::f32);
    const TransferStep &first = schedule.steps.front(), &last = schedule.steps.back();
    EXPECT_EQ(first.brings_a.size() + first.brings_b.size(), 2U);
    int completed = 0;
    for (const ResultTerm<MatrixWindow>& result : last.result) {
        completed += result.last ? 1 : 0;
    }
    EXPECT_EQ(completed, 1);
}

/// 1e12 operations a second, a ninth saved for every halving of all sides down to 1024.
double fast_product_s(const ProblemSize& size, bool /*accumulate*/) {
    double seconds = 2e-12 * static_cast<double>(size.m) * static_cast<double>(size.k) * static_cast<double>(size.n);
    for (std::int64_t side = std::min({size.m, size.k, size.n}); side > 1024; side /= 2) {
        seconds *= 8.0 / 9;
    }
    return seconds;
}

TransferProblem cube(std::int64_t n) {
    TransferProblem problem;
    problem.size = {n, n, n};
    return problem;
}

TEST(TransferSchedule, predicted_times_count_waits_at_both_ends_alone_where_products_bind) {
    TransferProblem problem = cube(1000);
    problem.upload_bytes_per_s = 8e6;     // A and B in a second
    problem.download_bytes_per_s = 16e6;  // C in a quarter
    const ProductSeconds per_row = [](const ProblemSize& size, bool) {
        return static_cast<double>(size.m * size.k) * 10e-6;  // all in 10 s
    };
    EXPECT_NEAR(predicted_transfers_s(problem, undivided_transfers(problem.size), per_row), 1 + 10 + 0.25, 1e-9);
    EXPECT_NEAR(predicted_transfers_s(problem, transfers_by_pieces(problem.size, {100, 900}, {800, 200}), per_row),
                0.06 + 10 + 0.05, 1e-9);  // a tenth of k: all columns of B, and a fifth of the rows of A
    problem.adds = true;                  // C is brought too
    EXPECT_NEAR(predicted_transfers_s(problem, undivided_transfers(problem.size), per_row), 1.5 + 10 + 0.25, 1e-9);
}

TEST(TransferSchedule, levels_are_taken_where_they_pay_and_may_be_taken) {
    const TransferProblem large = cube(32768);
    const PlannedTransfers by_level = plan_transfers(large, fast_product_s);
    EXPECT_EQ(by_level.schedule.algorithm, "winograd");
    ASSERT_TRUE(by_level.cut);
    EXPECT_EQ(by_level.cut->algorithm, "winograd");
    TransferProblem adding = large, without = large, slow_sums = large;
    adding.adds = true;
    adding.most_levels = without.most_levels = 0;
    slow_sums.sum_bytes_per_s = 1e9;
    EXPECT_EQ(plan_transfers(cube(4096), fast_product_s).schedule.algorithm, "");
    for (const TransferProblem& problem : {adding, without, slow_sums}) {
        const PlannedTransfers planned = plan_transfers(problem, fast_product_s);
        ASSERT_TRUE(planned.cut);
        EXPECT_EQ(planned.cut->algorithm, "");
        EXPECT_GT(planned.schedule.steps.size(), 1U);
        EXPECT_GT(planned.predicted_s, 0);
    }
    TransferProblem halves = without;
    halves.may_cut_k = false;
    for (const TransferStep& step : plan_transfers(halves, fast_product_s).schedule.steps) {
        EXPECT_EQ(step.size.k, 32768);
    }
}

TEST(TransferSchedule, cuts_that_cannot_be_are_refused) {
    const ProblemSize size{100, 80, 60};
    const TransferCut pieces{"", 1, 1, 1, {30, 50}, {60, 40}}, levels{"winograd", 2, 1, 4, {}, {}};
    for (const TransferCut& cut : {pieces, levels}) {
        EXPECT_NO_THROW(check_transfer_cut(size, Type::f32, cut));
        EXPECT_GT(transfers_of(size, Type::f32, cut).steps.size(), 1U);
    }
    EXPECT_EQ(transfers_of(size, Type::f32, std::nullopt).steps.size(), 1U);
    std::vector<TransferCut> wrong(9, pieces);
    wrong[0].depths = {30, 51};
    wrong[1].panels = {};
    wrong[2].panels = {100, 0};
    wrong[3].depths.assign(80, 1);
    wrong[4] = wrong[5] = wrong[6] = wrong[7] = levels;
    wrong[4].algorithm = "none-such";
    wrong[5].opening = 0;
    wrong[6].closing = 30;
    wrong[7].last_parts = 1 << 30;
    wrong[8].last_parts = 0;
    for (const TransferCut& cut : wrong) {
        try {
            check_transfer_cut(size, Type::f32, cut);
            ADD_FAILURE() << &cut - wrong.data();
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::input) << error.what();
        }
    }
    EXPECT_THROW(check_transfer_cut(size, Type::boolean, levels), Error);
}

TEST(TransferSchedule, where_link_and_product_take_as_long_most_of_both_is_at_a_time) {
    TransferProblem problem = cube(16384);
    problem.most_levels = 0;
    problem.upload_bytes_per_s = problem.download_bytes_per_s = 40e9;  // 54 ms there, 27 back
    const ProductSeconds product = [](const ProblemSize& size, bool) {
        return 2e-14 / 3.7 * static_cast<double>(size.m) * static_cast<double>(size.k) * static_cast<double>(size.n);
    };
    const double alone_s = product(problem.size, false);  // 24 ms
    const PlannedTransfers planned = plan_transfers(problem, product);
    EXPECT_LT(planned.predicted_s, 0.0537 + 0.35 * alone_s);
    // Columns are cut as rows are, but not into pieces that are too small to multiply well.
    const TransferCut cut{"", 1, 1, 1, {16384}, {8192, 8192}};
    EXPECT_EQ(transfers_of({16384, 16384, 12288}, Type::f32, cut).steps.size(), 3U);
    EXPECT_EQ(transfers_of({16384, 16384, 12288}, Type::f32, cut).steps[0].size.n, 6144);
    EXPECT_EQ(transfers_of({16384, 16384, 1500}, Type::f32, cut).steps.size(), 2U);
}

TEST(TransferSchedule, where_every_product_costs_more_than_its_work_corners_beat_whole_parts_of_k) {
    // f32 by residues on an H200, in ms: the products of bytes, the bytes of A and B, and C again for each part of k.
    TransferProblem problem = cube(16384);
    problem.most_levels = 0;
    problem.upload_bytes_per_s = problem.download_bytes_per_s = 48e9;  // 45 ms there, 22 back
    const ProductSeconds residues = [](const ProblemSize& size, bool) {
        const auto m = static_cast<double>(size.m), k = static_cast<double>(size.k), n = static_cast<double>(size.n);
        return 8e-15 * m * k * n + 5.4e-12 * k * (m + n) + 7.5e-12 * m * n + 40e-6;
    };
    const auto predicted = [&](const std::vector<std::int64_t>& depths, const std::vector<std::int64_t>& panels) {
        return predicted_transfers_s(problem, transfers_by_pieces(problem.size, depths, panels, panels), residues);
    };
    const PlannedTransfers planned = plan_transfers(problem, residues);
    ASSERT_TRUE(planned.cut);
    EXPECT_GT(planned.cut->depths.size(), 1U);
    EXPECT_GT(planned.cut->panels.size(), 2U);
    EXPECT_LT(planned.predicted_s, 0.059);
    EXPECT_LT(planned.predicted_s, predicted({2048, 4096, 10240}, {16384}) - 0.010);
    EXPECT_LT(planned.predicted_s, predicted({16384}, {6144, 4096, 4096, 2048}) - 0.003);
    // Residues that are kept save time.
    problem.kept_moduli = 9;
    const PlannedTransfers keeping = plan_transfers(problem, residues);
    EXPECT_EQ(keeping.schedule.kept_moduli, 9);
    EXPECT_LT(keeping.predicted_s, planned.predicted_s - 0.001);
    TransferSchedule once = keeping.schedule;
    once.kept_moduli = 0;
    EXPECT_GT(predicted_transfers_s(problem, once, residues), keeping.predicted_s);
}

TEST(TransferSchedule, at_65536_less_than_three_hundredths_are_lost) {
    // An H200 as it was measured: effective rates of cubes, 40 GB/s each way.
    const ProductSeconds h200 = [](const ProblemSize& size, bool) {
        const std::int64_t side = std::min({size.m, size.k, size.n});
        const double rate = side >= 65536   ? 98.9e12
                            : side >= 32768 ? 86.5e12
                            : side >= 16384 ? 76.8e12
                            : side >= 8192  ? 66e12
                                            : 58e12;
        return 2 * static_cast<double>(size.m) * static_cast<double>(size.k) * static_cast<double>(size.n) / rate;
    };
    TransferProblem problem = cube(65536);
    problem.upload_bytes_per_s = problem.download_bytes_per_s = 40e9;
    const PlannedTransfers planned = plan_transfers(problem, h200);
    EXPECT_GT(h200(problem.size, false) / planned.predicted_s, 0.97);
    EXPECT_EQ(planned.schedule.algorithm, "winograd");
    EXPECT_GT(planned.schedule.steps.size(), 7U + 6 + 6);  // both ends are made by levels
}

}  // namespace
}  // namespace heptad
