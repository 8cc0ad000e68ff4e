// Plans of products from files to a file: the bytes they move against the bound, and the memory they take. Nothing is
// timed and no file is touched.
#include "plan/search/file_plan.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "base/error.hpp"
#include "base/size.hpp"
#include "plan/search/file_schedule.hpp"

namespace heptad {
namespace {

struct Files {
    std::int64_t block = 512, offset = 4096;
    bool a_by_columns = false, b_by_columns = false;
};

FileProblem problem_of(std::int64_t m, std::int64_t k, std::int64_t n, Type type, std::int64_t memory,
                       const Files& files = {}) {
    const auto element = static_cast<std::int64_t>(element_bytes(type));
    FileProblem problem{m, k, n, type, false, memory, {}, {}, {}};
    problem.a = {m, k, element, files.a_by_columns, files.offset, files.block};
    problem.b = {k, n, element, files.b_by_columns, files.offset, files.block};
    problem.c = {m, n, element, false, 4096, files.block};
    return problem;
}

/// A machine that likes large products and takes no workspace.
StagePrediction plain_prediction(const StageProduct& p) {
    return {static_cast<double>(p.m) * static_cast<double>(p.k) * static_cast<double>(p.n) * 1e-11 + 1e-4, 0};
}

std::int64_t operand_bytes(const FileProblem& problem) {
    return problem.a.total_bytes() + problem.b.total_bytes() + problem.c.total_bytes();
}

class Traffic : public ::testing::TestWithParam<std::tuple<int, int, int>> {};

const std::vector<std::tuple<int, int, int>> kShapes{
    {16384, 16384, 16384}, {32768, 32768, 32768}, {65536, 65536, 65536},  // square
    {65536, 1024, 65536},  {131072, 512, 16384},                          // thin along k
    {2048, 131072, 2048},  {1024, 262144, 4096},                          // long along k
    {262144, 2048, 2048},  {2048, 2048, 262144},  {16384, 65536, 1024},   // one tall or wide operand
    {20000, 20000, 20000}, {17000, 33001, 8191},                          // rows that are no whole blocks
};

TEST_P(Traffic, is_at_most_1_03_times_the_reference_for_every_memory_from_a_64th_up) {
    const auto [m, k, n] = GetParam();
    for (const Type type : {Type::f32, Type::f64}) {
        for (const Files& files : {Files{}, Files{.offset = 128}, Files{.block = 1, .offset = 128},
                                   Files{.a_by_columns = true}, Files{.b_by_columns = true}}) {
            FileProblem problem = problem_of(m, k, n, type, 0, files);
            const auto all = static_cast<double>(operand_bytes(problem));
            for (double share = 1.0 / 64; share < 1.2; share *= 1.17) {
                problem.memory_bytes = static_cast<std::int64_t>(all * share);
                const auto [plan, traffic] = plan_files(problem, plain_prediction);
                ASSERT_LE(static_cast<double>(traffic.moved_bytes()),
                          1.03 * static_cast<double>(reference_bytes(problem)))
                    << share << " block " << files.block << " offset " << files.offset << "\n"
                    << to_string(plan);
                ASSERT_LE(traffic.used_bytes(), problem.memory_bytes) << to_string(plan);
                ASSERT_GE(traffic.moved_bytes(), operand_bytes(problem)) << to_string(plan);
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(shapes, Traffic, ::testing::ValuesIn(kShapes));

TEST(FilePlan, cutting_a_kept_a_along_k_never_moves_fewer_bytes_than_the_reference) {
    for (const auto& [m, k, n] : kShapes) {
        FileProblem problem = problem_of(m, k, n, Type::f32, 0);
        const auto all = static_cast<double>(operand_bytes(problem));
        for (double share = 1.0 / 64; share < 1; share *= 1.3) {
            problem.memory_bytes = static_cast<std::int64_t>(all * share);
            const double room = 0.9 * static_cast<double>(problem.memory_bytes);
            for (std::int64_t p = 1; p <= 80; ++p) {
                const double rows = std::ceil(static_cast<double>(m) / static_cast<double>(p)) * 4;
                const double depth = std::floor(room / rows);
                if (depth < 1) {
                    continue;
                }
                const double q = std::ceil(static_cast<double>(k) / depth);
                const double moved = static_cast<double>(problem.a.total_bytes()) +
                                     static_cast<double>(p * problem.b.total_bytes()) +
                                     (2 * q - 1) * static_cast<double>(problem.c.total_bytes());
                ASSERT_GE(moved, static_cast<double>(reference_bytes(problem))) << m << " " << k << " " << n;
            }
        }
    }
}

TEST(FilePlan, paper_of_the_blocks_of_8192_moves_far_more_than_a_plan_in_8_gib) {
    // P4's blocks of 2^13: every tile of C reads a row of blocks of A and a column of blocks of B.
    const std::int64_t n = 65536;
    const FileProblem problem = problem_of(n, n, n, Type::f32, std::int64_t{8} << 30);
    const std::int64_t theirs = 2 * (n / 8192) * problem.a.total_bytes() + problem.c.total_bytes();
    const FileTraffic traffic = plan_files(problem, plain_prediction).traffic;
    EXPECT_EQ(theirs, std::int64_t{17} << 34);
    EXPECT_LT(3 * traffic.moved_bytes(), theirs);
    EXPECT_GE(traffic.moved_bytes(), lower_bound_bytes(problem));
}

TEST(FilePlan, everything_is_read_once_where_c_fits) {
    const FileProblem problem = problem_of(16384, 16384, 16384, Type::f32, std::int64_t{2} << 30);
    const auto [plan, traffic] = plan_files(problem, plain_prediction);
    EXPECT_EQ(traffic.moved_bytes(), operand_bytes(problem));
    EXPECT_EQ(plan.disk->kept, Kept::c);
    EXPECT_EQ(lower_bound_bytes(problem), operand_bytes(problem));
}

TEST(FilePlan, thin_product_keeps_the_small_operand) {
    const FileProblem tall = problem_of(1 << 20, 512, 512, Type::f32, std::int64_t{64} << 20);
    const FileTraffic keeps_b = plan_files(tall, plain_prediction).traffic;
    EXPECT_EQ(keeps_b.moved_bytes(), operand_bytes(tall));
    const FileProblem wide = problem_of(512, 512, 1 << 20, Type::f32, std::int64_t{64} << 20);
    const FileTraffic keeps_a = plan_files(wide, plain_prediction).traffic;
    EXPECT_EQ(keeps_a.moved_bytes(), operand_bytes(wide));
    const FileProblem outer = problem_of(65536, 64, 65536, Type::f32, std::int64_t{256} << 20);
    EXPECT_NE(plan_files(outer, plain_prediction).plan.disk->kept, Kept::c);
}

TEST(FilePlan, sums_of_16_bit_floats_are_never_kept_between_panels) {
    for (const Type type : {Type::bf16, Type::f16}) {
        const ProductPlan plan = plan_files(problem_of(8192, 8192, 8192, type, 100 << 20), plain_prediction).plan;
        EXPECT_EQ(plan.disk->depth, 8192) << to_string(plan);
    }
}

TEST(FilePlan, adding_c0_reads_it_once) {
    FileProblem problem = problem_of(16384, 16384, 16384, Type::f32, std::int64_t{1} << 29);
    const FileTraffic without = plan_files(problem, plain_prediction).traffic;
    problem.adds = true;
    const FileTraffic with = plan_files(problem, plain_prediction).traffic;
    EXPECT_EQ(with.moved_bytes() - without.moved_bytes(), problem.c.total_bytes());
}

TEST(FilePlan, too_little_memory_is_refused_with_what_is_needed_and_what_there_is) {
    const FileProblem problem = problem_of(8192, 8192, 8192, Type::f32, 1000);
    try {
        plan_files(problem, plain_prediction);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::resource);
        const std::string said = error.what();
        EXPECT_NE(said.find("1000 bytes are allowed"), std::string::npos) << said;
        const std::size_t needs = said.find("needs about ");
        ASSERT_NE(needs, std::string::npos) << said;
        FileProblem enough = problem;
        enough.memory_bytes = std::stoll(said.substr(needs + 12));
        EXPECT_LE(plan_files(enough, plain_prediction).traffic.used_bytes(), enough.memory_bytes);
    }
}

TEST(FilePlan, steps_stay_within_what_the_multiplying_device_takes) {
    for (const Type type : {Type::f32, Type::bf16}) {
        for (const std::int64_t room : {std::int64_t{64} << 20, std::int64_t{6} << 20}) {
            const FileProblem problem = problem_of(8192, 8192, 8192, type, std::int64_t{1} << 30);
            const auto element = static_cast<std::int64_t>(element_bytes(type));
            const auto bytes = [&](std::int64_t m, std::int64_t k, std::int64_t n) {
                return (m * k + k * n + m * n) * element;
            };
            const auto [plan, traffic] = plan_files(problem, [&](const StageProduct& p) {
                return bytes(p.m, p.k, p.n) > room ? StagePrediction{std::numeric_limits<double>::infinity(), 0}
                                                   : plain_prediction(p);
            });
            const DiskCut& cut = *plan.disk;
            EXPECT_LE(bytes(cut.strip_m, cut.depth, cut.tile_n), room) << to_string(plan);
            EXPECT_TRUE(std::isfinite(traffic.multiply_s)) << to_string(plan);
        }
    }
}

TEST(FilePlan, device_that_takes_no_step_is_refused_by_name) {
    try {
        plan_files(problem_of(8192, 8192, 8192, Type::f32, std::int64_t{1} << 30), [](const StageProduct&) {
            return StagePrediction{std::numeric_limits<double>::infinity(), 0};
        });
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::resource);
        EXPECT_NE(std::string(error.what()).find("device memory"), std::string::npos) << error.what();
    }
}

TEST(FilePlan, empty_product_is_refused) {
    EXPECT_THROW(plan_files(problem_of(0, 5, 5, Type::f32, 1 << 20), plain_prediction), Error);
    EXPECT_THROW(plan_files(problem_of(5, 0, 5, Type::f32, 1 << 20), plain_prediction), Error);
}

TEST(FilePlan, print_parses_back_to_a_plan_that_takes_as_much) {
    for (const auto& [m, k, n] : kShapes) {
        for (const Type type : {Type::f32, Type::f64, Type::bf16}) {
            for (const Files& files : {Files{}, Files{.offset = 128}, Files{.a_by_columns = true}}) {
                FileProblem problem = problem_of(m, k, n, type, 0, files);
                for (const int share : {2, 7, 40}) {
                    problem.memory_bytes = operand_bytes(problem) / share;
                    problem.adds = share == 7;
                    auto [plan, traffic] = plan_files(problem, plain_prediction);
                    const ProductPlan again = parse_plan(to_string(plan));
                    ASSERT_EQ(again, plan) << to_string(plan);
                    const FileChoice taken = file_choice(problem, again);
                    ASSERT_EQ(taken.plan, plan) << to_string(plan);
                    traffic.multiply_s = 0;  // which nobody asked for
                    ASSERT_EQ(taken.traffic, traffic) << to_string(plan);
                }
            }
        }
    }
}

TEST(FilePlan, plan_that_was_edited_into_nonsense_is_refused) {
    const FileProblem problem = problem_of(20000, 9000, 7000, Type::f64, 200 << 20);
    const std::string text = to_string(plan_files(problem, plain_prediction).plan);
    const auto refused = [](const FileProblem& of, const std::string& edited) {
        try {
            file_choice(of, parse_plan(edited));
        } catch (const Error& error) {
            return error.code() == ErrorCode::input;
        }
        return false;
    };
    ASSERT_FALSE(refused(problem, text)) << text;
    for (const auto& [key, values] : std::map<std::string, std::vector<std::string>>{
             {"plan ", {"files "}},
             {"20000x", {"20001x"}},
             {"f64", {"f32"}},
             {"memory=", {"memory=-"}},
             {"keep=", {"kept=", "keep=D"}},
             {"mirrored=", {"mirrored=may"}},
             {"tile=", {"tile=-", "tile=0x0;was=", "tile=99999x5;was=", "tile=1x1;was="}},
             {"depth=", {"depth=99999", "depth=0;was=", "depth=1;was="}},
             {"first=", {"first=0;was=", "first=99999;was="}},
             {"strip=", {"strip=0;was=", "strip=99999;was="}},
             {"panels=", {"panels=0;was=", "panels=3;was="}},
             {"blocks=", {"blocks=1x", "block="}},
             {"disk={", {"disk={levels=1;", "disk={algorithm=strassen;", "disk={colour=red;"}}}) {
        for (const std::string& value : values) {
            std::string edited = text;
            const std::size_t at = edited.find(key);
            ASSERT_NE(at, std::string::npos) << key;
            if (value.ends_with(";was=")) {  // in place of what stands there
                edited.replace(at, std::min(edited.find(';', at), edited.find('}', at)) - at,
                               value.substr(0, value.size() - 5));
            } else {
                edited.replace(at, key.size(), value);
            }
            EXPECT_TRUE(refused(problem, edited)) << edited;
        }
    }
    ProductPlan plan = parse_plan(text);
    plan.disk->kept = plan.disk->mirrored ? Kept::a : Kept::b;
    EXPECT_TRUE(refused(problem, to_string(plan)));
    plan = parse_plan(text);
    plan.disk.reset();
    EXPECT_TRUE(refused(problem, to_string(plan)));
    FileProblem half = problem_of(8192, 8192, 8192, Type::f16, 100 << 20);
    plan = plan_files(half, plain_prediction).plan;
    plan.disk->kept = Kept::c;
    plan.disk->mirrored = false;
    plan.disk->depth = plan.disk->first_depth = 4096;
    EXPECT_TRUE(refused(half, to_string(plan)));
    FileProblem adds = problem;
    adds.adds = true;
    EXPECT_TRUE(refused(adds, text));
    plan = parse_plan(text);
    plan.workspace_bytes = std::numeric_limits<std::int64_t>::max();
    EXPECT_THROW(file_choice(problem, plan), Error);
}

TEST(FilePlan, files_that_do_not_allow_direct_reads_are_read_through_the_cache) {
    const FileProblem aligned = problem_of(16384, 16384, 16384, Type::f32, std::int64_t{1} << 29);
    const ProductPlan plan = plan_files(aligned, plain_prediction).plan;
    ASSERT_GT(plan.disk->a_block, 1);
    const FileProblem cached = problem_of(16384, 16384, 16384, Type::f32, std::int64_t{1} << 29, {.block = 1});
    const DiskCut cut = *file_choice(cached, plan).plan.disk;
    EXPECT_EQ(cut.a_block, 1);
    EXPECT_EQ(cut.c_block, 1);
    EXPECT_EQ(cut.tile_m, plan.disk->tile_m);
}

TEST(FilePlan, memory_to_check_thin_shapes_is_within_the_limit) {
    for (const auto& [m, k, n] :
         {std::tuple{4'000'000, 64, 16}, std::tuple{16, 64, 4'000'000}, std::tuple{64, 4'000'000, 64}}) {
        FileProblem problem = problem_of(m, k, n, Type::f32, std::int64_t{64} << 20);
        problem.line_bytes = 240;
        const auto [plan, traffic] = plan_files(problem, plain_prediction);
        EXPECT_LE(traffic.used_bytes(), problem.memory_bytes) << to_string(plan);
        EXPECT_GE(traffic.check_bytes, 240 * (plan.disk->tile_m + plan.disk->tile_n)) << to_string(plan);
        EXPECT_EQ(parse_plan(to_string(plan)), plan);
    }
}

TEST(FilePlan, predicted_run_is_no_shorter_than_any_stage) {
    for (const double rate : {1e8, 1e9, 1e10}) {
        FileProblem problem = problem_of(16384, 16384, 16384, Type::f32, std::int64_t{1} << 30);
        problem.read_bytes_per_s = problem.write_bytes_per_s = rate;
        const auto [plan, traffic] = plan_files(problem, plain_prediction);
        const double wall = predicted_wall_s(problem, *plan.disk, traffic);
        EXPECT_EQ(wall, plan.predicted_s);
        EXPECT_GE(wall, traffic.multiply_s);
        EXPECT_GE(wall, static_cast<double>(traffic.moved_bytes()) / rate);
        EXPECT_LE(wall, 1.15 * std::max(traffic.multiply_s, static_cast<double>(traffic.moved_bytes()) / rate));
    }
}

TEST(FilePlan, memory_for_turning_transposed_bits_is_counted) {
    // Rows of a million bits: 64 of them, which are turned at a time, take 8 MB.
    const std::int64_t m = 1 << 20, k = 4096, n = 4096;
    FileProblem problem = problem_of(m, k, n, Type::gf2, std::int64_t{64} << 20, {.block = 1});
    problem.a.packed = problem.b.packed = problem.c.packed = true;
    const FileChoice as_stored = plan_files(problem, plain_prediction);
    EXPECT_EQ(file_buffers(problem, *as_stored.plan.disk).turning_bytes, 0);
    problem.a.by_columns = true;
    const FileChoice turned = plan_files(problem, plain_prediction);
    const FileBuffers buffers = file_buffers(problem, *turned.plan.disk);
    EXPECT_EQ(buffers.turning_bytes, 64 * m / 8);
    EXPECT_EQ(turned.traffic.panel_bytes,
              buffers.panels * buffers.panel_bytes + buffers.strips * buffers.strip_bytes + buffers.turning_bytes);
    EXPECT_LE(turned.traffic.used_bytes(), problem.memory_bytes);
    // Short rows are read many at a time, but never in a large part of the memory.
    problem = problem_of(4096, 4096, 4096, Type::gf2, std::int64_t{64} << 20);
    problem.a.packed = problem.b.packed = problem.c.packed = problem.b.by_columns = true;
    EXPECT_EQ(turning_bytes(problem.memory_bytes, problem.a, problem.b), std::int64_t{1} << 20);
    EXPECT_EQ(turning_bytes(std::int64_t{8} << 30, problem.a, problem.b), std::int64_t{4} << 20);
    EXPECT_EQ(turning_bytes(1 << 20, problem.a, problem.b), 64 * 4096 / 8);
}

TEST(FilePlan, packed_bits_move_an_eighth_of_bytes) {
    FileProblem bytes = problem_of(65536, 65536, 65536, Type::gf2, std::int64_t{4} << 30);
    FileProblem packed = bytes;
    packed.a.packed = packed.b.packed = packed.c.packed = true;
    packed.memory_bytes = bytes.memory_bytes / 8;
    EXPECT_EQ(8 * reference_bytes(packed), reference_bytes(bytes));
    const auto [plan, traffic] = plan_files(packed, plain_prediction);
    EXPECT_LE(static_cast<double>(traffic.moved_bytes()), 1.03 * static_cast<double>(reference_bytes(packed)));
    EXPECT_LE(traffic.used_bytes(), packed.memory_bytes);
    EXPECT_FALSE(plan.disk->mirrored);
    EXPECT_EQ(plan.disk->tile_n % 64, 0);
    EXPECT_EQ(file_choice(packed, parse_plan(to_string(plan))).plan, plan);
}

TEST(FileLayout, moved_bytes_of_a_window_are_those_of_its_spans) {
    for (const bool by_columns : {false, true}) {
        for (const std::int64_t block : {1, 512, 4096}) {
            for (const std::int64_t offset : {0, 128, 4096}) {
                const FileLayout layout{700, 1000, 4, by_columns, offset, block};
                for (const FileWindow& window : {FileWindow{3, 600, 10, 500}, FileWindow{0, 700, 0, 1000},
                                                 FileWindow{0, 700, 128, 129}, FileWindow{699, 1, 999, 1}}) {
                    const LineWindow part = line_window(layout, window);
                    std::int64_t moved = 0;
                    for (std::int64_t line = 0; line < part.lines && !part.whole_lines; ++line) {
                        moved += widened_span(file_offset(layout, part.line + line, part.position), part.positions * 4,
                                              block)
                                     .bytes;
                    }
                    if (part.whole_lines) {
                        moved =
                            widened_span(file_offset(layout, part.line, 0), part.lines * layout.pitch_bytes(), block)
                                .bytes;
                    }
                    EXPECT_EQ(moved_bytes(layout, window), moved);
                    EXPECT_GE(moved, window.rows * window.cols * 4);
                }
            }
        }
    }
}

}  // namespace
}  // namespace heptad
