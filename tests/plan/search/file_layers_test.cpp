// Outer levels through files: blocks, what they move, memory and bounds. No file is touched.
#include "plan/search/file_layers.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "base/error.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

FileProblem problem_of(std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t memory, Type type = Type::f32) {
    const auto layout = [&](std::int64_t rows, std::int64_t cols) {
        return FileLayout{rows, cols, type == Type::f64 ? 8 : 4, false, 4096, 512};
    };
    FileProblem problem{m, k, n, type, false, memory, layout(m, k), layout(k, n), layout(m, n)};
    return problem;
}

/// A machine of a rate that does not depend on the shape, with products that take no workspace.
StagePrediction flat(const StageProduct& product) {
    return {2e-11 * static_cast<double>(product.m) * static_cast<double>(product.k) * static_cast<double>(product.n),
            0};
}

TEST(FileLayers, one_level_of_strassen_reads_each_block_as_often_as_it_is_added) {
    const OuterLaunch layers =
        *plan_file_launch(problem_of(32768, 32768, 32768, 2 * kGiB), {"strassen", 1}, flat).layers;
    EXPECT_EQ(layers.products(), 7);
    EXPECT_EQ(layers.scratch_bytes(), 7 * kGiB);
    EXPECT_EQ(layers.products_written_bytes, 7 * kGiB);
    EXPECT_EQ(layers.products_read_bytes, 7 * kGiB);
    EXPECT_EQ(layers.written_bytes, 4 * kGiB);
    const DiskCut& cut = layers.cut;
    const std::int64_t blocks = 12 * kGiB;  // of either operand, where C stays whole in memory
    const std::int64_t across = cut.mirrored ? 1 : (layers.part.n + cut.tile_n - 1) / cut.tile_n;
    EXPECT_EQ(layers.read_a_bytes, blocks * across);
    EXPECT_LE(layers.used_bytes(), 2 * kGiB);
    EXPECT_EQ(layers.a.file.block_bytes, 512);  // read directly
}

TEST(FileLayers, pieces_of_a_sum_cover_its_blocks_once_and_end_at_the_edge) {
    for (const bool by_columns : {false, true}) {
        FileProblem problem = problem_of(101, 67, 59, 64 << 10);
        problem.a.by_columns = by_columns;
        const OuterLaunch layers = *plan_file_launch(problem, {"winograd", 2}, flat).layers;
        for (const BlockedOperand& operand : {layers.a, transposed(layers.b)}) {
            std::map<std::pair<std::int64_t, std::int64_t>, int> seen;
            const FileWindow all{0, operand.block_rows, 0, operand.block_cols};
            for (std::int64_t row = 0; row * operand.block_rows < operand.file.rows; ++row) {
                for (std::int64_t col = 0; col * operand.block_cols < operand.file.cols; ++col) {
                    for (const FileWindow& piece : operand.pieces({row, col}, all)) {
                        for (std::int64_t i = 0; i < piece.rows * piece.cols; ++i) {
                            ++seen[{piece.row + i / piece.cols, piece.col + i % piece.cols}];
                        }
                    }
                }
            }
            EXPECT_EQ(static_cast<std::int64_t>(seen.size()), operand.file.rows * operand.file.cols);
            for (const auto& [place, count] : seen) {
                ASSERT_EQ(count, 1);
                ASSERT_LT(place.first, operand.file.rows);
                ASSERT_LT(place.second, operand.file.cols);
            }
        }
    }
}

TEST(FileLayers, results_of_repeats_lie_apart_and_steps_go_through_all_of_them) {
    const OuterLaunch layers = *plan_file_launch(problem_of(640, 512, 768, 1 << 20), {"strassen", 1}, flat).layers;
    const FileSchedule schedule = layers_schedule(layers);
    ASSERT_EQ(schedule.tiles() % 7, 0);
    std::set<std::int64_t> offsets;
    for (std::int64_t tile = 0; tile < schedule.tiles(); ++tile) {
        EXPECT_EQ(schedule.result_of(tile).data_offset, schedule.repeat_of(tile) * layers.product_bytes);
        offsets.insert(schedule.result_of(tile).data_offset);
        EXPECT_EQ(schedule.tile_window(tile), schedule.tile_window(tile % (schedule.tiles() / 7)));
    }
    EXPECT_EQ(offsets.size(), 7U);
    EXPECT_GE(layers.product_bytes, layers.part.c.total_bytes());
    EXPECT_EQ(products_layout(layers).total_bytes(), layers.scratch_bytes());
}

TEST(FileLayers, windows_have_one_number_where_they_are_the_same_and_others_else) {
    const OuterLaunch layers = *plan_file_launch(problem_of(640, 512, 768, 1 << 20), {"strassen", 1}, flat).layers;
    const FileSchedule schedule = layers_schedule(layers);
    using Known = std::map<std::int64_t, std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>>;
    Known left, right;
    std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>> left_windows, right_windows;
    const auto take = [&](Known& known, auto& windows, std::int64_t number, std::int64_t repeat, const FileWindow& w) {
        const auto [at, is_new] = known.emplace(number, std::tuple(repeat, w.row, w.col, w.cols));
        EXPECT_EQ(at->second, std::tuple(repeat, w.row, w.col, w.cols));
        EXPECT_EQ(windows.insert(at->second).second, is_new);
    };
    for (std::int64_t tile = 0; tile < schedule.tiles(); ++tile) {
        for (std::int64_t panel = 0; panel < schedule.panels(); ++panel) {
            take(right, right_windows, schedule.right_number(tile, panel), schedule.repeat_of(tile),
                 schedule.right_window(tile, panel));
            for (std::int64_t strip = 0; strip < schedule.strips(tile); ++strip) {
                take(left, left_windows, schedule.left_number(tile, panel, strip), schedule.repeat_of(tile),
                     schedule.left_window(tile, panel, strip));
            }
        }
    }
    EXPECT_EQ(left.size(), left_windows.size());
    EXPECT_EQ(right.size(), right_windows.size());
}

TEST(FileLayers, check_of_the_whole_result_stays_in_memory_and_reads_once_more) {
    FileProblem problem = problem_of(32768, 32768, 32768, 2 * kGiB);
    const OuterLaunch without = *plan_file_launch(problem, {"strassen", 1}, flat).layers;
    problem.line_bytes = 300;
    const OuterLaunch with = *plan_file_launch(problem, {"strassen", 1}, flat).layers;
    EXPECT_LE(with.used_bytes(), problem.memory_bytes);
    EXPECT_EQ(with.cut, without.cut);
    EXPECT_EQ(with.traffic, without.traffic);
    EXPECT_EQ(with.read_bytes(), without.read_bytes() + problem.a.total_bytes() + problem.b.total_bytes());
    problem.memory_bytes = 8 << 20;
    EXPECT_THROW(plan_file_launch(problem, {"strassen", 1}, flat), Error);
}

TEST(FileLayers, bound_and_expected_growth_are_those_of_the_level) {
    const OuterLaunch one = *plan_file_launch(problem_of(640, 512, 768, 1 << 20), {"strassen", 1}, flat).layers;
    EXPECT_GE(layers_error_bound(one, 1), layer_growth(one.layer).growth);
    EXPECT_EQ(expected_growth(OuterLevels{"strassen", 0}), 1);
    EXPECT_GT(expected_growth(OuterLevels{"strassen", 2}), expected_growth(OuterLevels{"strassen", 1}));
    const OuterLaunch exact =
        *plan_file_launch(problem_of(640, 512, 768, 1 << 20, Type::i32), {"strassen", 1}, flat).layers;
    EXPECT_EQ(layers_error_bound(exact, 0), 0);
}

TEST(FileLayers, levels_pay_where_products_bind_and_cost_where_the_disk_does) {
    FileProblem problem = problem_of(32768, 32768, 32768, 2 * kGiB);
    const auto wall_with = [&](double disk_bytes_per_s) {
        problem.read_bytes_per_s = problem.write_bytes_per_s = disk_bytes_per_s;
        return std::pair(plan_file_launch(problem, {"strassen", 1}, flat).plan.predicted_s,
                         plan_files(problem, flat).plan.predicted_s);
    };
    const auto [with_fast, without_fast] = wall_with(1e10);
    EXPECT_LT(with_fast, without_fast);
    const auto [with_slow, without_slow] = wall_with(5e7);
    EXPECT_GT(with_slow, without_slow);
}

TEST(FileLayers, print_parses_back_to_a_plan_that_takes_as_much_and_edits_are_refused) {
    for (const char* algorithm : {"strassen", "winograd"}) {
        for (const int levels : {1, 2}) {
            for (const std::int64_t memory : {3 << 20, 8 << 20, 40 << 20}) {
                FileProblem problem = problem_of(1640, 1512, 1768, memory);
                problem.adds = levels == 2;
                const FileLaunch launch = plan_file_launch(problem, {algorithm, levels}, flat);
                const ProductPlan& plan = launch.plan;
                const std::string text = to_string(plan);
                ASSERT_EQ(parse_plan(text), plan) << text;
                const FileLaunch taken = file_launch(problem, parse_plan(text));
                EXPECT_EQ(taken.plan, plan) << text;
                EXPECT_EQ(taken.moved_bytes(), launch.moved_bytes()) << text;
                EXPECT_EQ(taken.used_bytes(), launch.used_bytes()) << text;
                for (const int other : {0, 99}) {
                    ProductPlan edited = plan;
                    edited.disk->levels = other;
                    EXPECT_THROW(file_launch(problem, edited), Error) << other;
                }
                ProductPlan edited = plan;
                edited.disk->tile_m = launch.layers->part.m + launch.layers->part.n;
                EXPECT_THROW(file_launch(problem, edited), Error);
            }
        }
    }
}

TEST(FileLayers, types_and_memories_that_do_not_go_are_refused) {
    const auto code_of = [](const FileProblem& problem, const OuterLevels& outer) {
        try {
            plan_file_launch(problem, outer, flat);
        } catch (const Error& error) {
            return error.code();
        }
        return ErrorCode::internal;
    };
    FileProblem half = problem_of(640, 512, 768, 1 << 20);
    half.type = Type::f16;
    EXPECT_EQ(code_of(half, {"strassen", 1}), ErrorCode::usage);
    EXPECT_EQ(code_of(problem_of(640, 512, 768, 1 << 20), {"strassen", 9}), ErrorCode::usage);
    EXPECT_EQ(code_of(problem_of(640, 512, 768, 8 << 10), {"strassen", 1}), ErrorCode::resource);
}

}  // namespace
}  // namespace heptad
