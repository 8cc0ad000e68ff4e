// Plans for several devices: what fits and what does not, which stage binds, and that more memory or devices never
// hurt.
#include "plan/search/host_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace heptad {
namespace {

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kGiB = std::int64_t{1} << 30;

/// A device of 1e12 operations per second that wants a tenth of the blocks as workspace.
ProductPlan plain_block(const ProblemSize& block, bool /*accumulate*/, std::int64_t /*workspace*/) {
    const double volume = static_cast<double>(block.m) * static_cast<double>(block.k) * static_cast<double>(block.n);
    ProductPlan plan;
    plan.predicted_s = 2 * volume / 1e12;
    plan.workspace_bytes = block.m * block.k / 10;
    plan.error_bound = 1e-7 * static_cast<double>(block.k);
    plan.leaf = "any";
    return plan;
}

/// A plan, with what is asked of it here at hand.
struct Told : HostForecast {
    Told(const HostDecision& made)
        : HostForecast(made.forecast),
          plan(made.plan),
          algorithm(plan.host->algorithm),
          levels(plan.host->levels),
          pipelines(plan.host->pipelines),
          in_place(plan.host->in_place),
          block{plan.host->block_m, plan.host->block_k, plan.host->block_n} {}
    ProductPlan plan;
    std::string algorithm;
    int levels, pipelines;
    bool in_place;
    ProblemSize block;
};
std::string to_string(const Told& told) {
    return heptad::to_string(told.plan);
}
Told make_plan(const HostProblem& problem, const DeviceFacts& devices, const HostFacts& host,
               const BlockPlanner& planner = plain_block) {
    return make_host_plan(problem, devices, host, planner);
}

DeviceFacts devices(int count, std::int64_t memory) {
    DeviceFacts facts;
    facts.name = "test";
    facts.devices = count;
    facts.memory_bytes = memory;
    return facts;
}

HostProblem cube(std::int64_t n, Type type = Type::f64) {
    HostProblem problem;
    problem.size = {n, n, n};
    problem.type = problem.result_type = type;
    problem.accuracy = Accuracy::fast;
    return problem;
}

TEST(HostPlan, a_named_algorithm_does_not_bring_levels_where_they_are_forbidden_or_too_many) {
    HostProblem halves = cube(20000, Type::f16), strict = cube(20000), many = cube(20000);
    halves.constraints.algorithm = strict.constraints.algorithm = "strassen";
    strict.accuracy = Accuracy::strict;
    many.constraints.algorithm = "3x3x3-23";  // 23^3 sub-instances are more than the host deals out
    for (const HostProblem& problem : {halves, strict}) {
        EXPECT_EQ(make_plan(problem, devices(2, kGiB), {4 * kGiB, 20e9}).levels, 0);
    }
    EXPECT_LE(make_plan(many, devices(2, kGiB), {4 * kGiB, 20e9}).levels, 2);
}

TEST(HostPlan, locked_memory_for_transfers_in_place_is_told_and_within_the_hosts_limit) {
    HostProblem problem = cube(65536, Type::gf2);  // 512 MiB each
    problem.packed = true;
    problem.constraints.levels = 0;
    problem.constraints.pipelines = 3;
    DeviceFacts facts = devices(2, kGiB);
    const Told free_of_charge = make_plan(problem, facts, {kNoLimit, 20e9});
    EXPECT_TRUE(free_of_charge.in_place);
    EXPECT_EQ(free_of_charge.host_bytes, 0);
    facts.staging_bytes = 192 << 20;
    facts.least_staged_bytes = 4 << 20;
    const Told told = make_plan(problem, facts, {kNoLimit, 20e9});
    EXPECT_TRUE(told.in_place);
    EXPECT_EQ(told.host_bytes, std::int64_t{2} * 3 * (192 << 20));
    const Told limited = make_plan(problem, facts, {told.host_bytes - 1, 20e9});
    EXPECT_LT(limited.host_bytes, told.host_bytes);
    // Smaller blocks go the driver's own way, and take nothing.
    facts.memory_bytes = 8 << 20;
    const Told small = make_plan(problem, facts, {kNoLimit, 20e9});
    EXPECT_TRUE(small.in_place);
    EXPECT_EQ(small.host_bytes, 0);
}

TEST(HostPlan, what_was_measured_of_a_cut_decides_about_others_like_it) {
    HostProblem problem = cube(65536, Type::gf2);
    problem.packed = true;
    const auto plan_with = [&](const std::vector<BitHostSample>& measured) {
        problem.measured = measured;
        return make_plan(problem, devices(1, kGiB), {kNoLimit, 20e9});
    };
    const auto sample = [](int levels, int pipelines, double more_s) {
        return BitHostSample{32768, kGiB / 4, levels, pipelines, 10000, 10000 + more_s};
    };
    const Told predicted = plan_with({});
    const double alone_s = predicted.predicted_s;
    EXPECT_EQ(predicted.measured_more_s, 0);
    // All ways alike slower: the same plan, later.
    const Told slower = plan_with({sample(0, 1, 3), sample(1, 1, 3)});
    EXPECT_EQ(bits_decided_by(slower.plan), bits_decided_by(predicted.plan));
    EXPECT_NEAR(slower.predicted_s, alone_s + 3, 1e-9 * alone_s);
    EXPECT_NEAR(slower.measured_more_s, 3, 1e-9);
    // What was chosen is far slower than predicted, whatever the pipelines, and other levels are not.
    for (const int other : {0, 1}) {
        if (other != predicted.levels) {
            const Told changed = plan_with({sample(predicted.levels, 1, 50 * alone_s),
                                            sample(predicted.levels, 2, 50 * alone_s), sample(other, 1, 0)});
            EXPECT_EQ(changed.levels, other) << to_string(changed);
        }
    }
    // Faster than predicted, but never for nothing.
    const Told faster = plan_with({sample(predicted.levels, predicted.pipelines, -9000)});
    EXPECT_NEAR(faster.predicted_s, alone_s / 2, 1e-9 * alone_s);
    // Three pipelines are tried on their own account only where they were measured.
    EXPECT_LE(predicted.pipelines, 2);
    const double much = 50 * alone_s;
    EXPECT_EQ(plan_with({sample(0, 3, 0), sample(1, 3, 0), sample(0, 1, much), sample(0, 2, much), sample(1, 1, much),
                         sample(1, 2, much), sample(2, 1, much)})
                  .pipelines,
              3);
}

TEST(HostPlan, uploads_count_what_stays_on_a_device) {
    HostProblem problem = cube(65536, Type::gf2);  // 512 MiB each
    problem.packed = true;
    problem.constraints.levels = 0;
    for (const int count : {1, 2}) {
        for (const int pipelines : {1, 2}) {
            problem.constraints.pipelines = pipelines;
            const Told plan = make_plan(problem, devices(count, kGiB / 4), {kNoLimit, 20e9});
            ASSERT_TRUE(plan.in_place) << to_string(plan);
            ASSERT_GT(plan.grid.m, 1) << to_string(plan);
            const std::int64_t left = padded_block_bytes(problem.type, true, plan.block.m, plan.block.k);
            const std::int64_t right = padded_block_bytes(problem.type, true, plan.block.k, plan.block.n);
            // Whole rows of A, each on every device; with one device the last blocks of B serve the next row too.
            const bool stays = plan.grid.k == 1;
            const std::int64_t lefts = stays ? std::min<std::int64_t>(plan.tasks, plan.grid.m * count) : plan.tasks;
            const std::int64_t kept = stays && count == 1 ? (plan.grid.m - 1) * std::min(pipelines, plan.grid.n) : 0;
            EXPECT_EQ(plan.upload_bytes, lefts * left + (plan.tasks - kept) * right) << to_string(plan);
            EXPECT_DOUBLE_EQ(plan.bound_s(), std::max({plan.solve_s, plan.upload_s, plan.download_s, plan.host_s}));
        }
    }
}

TEST(HostPlan, other_times_leave_what_decides_bits_and_another_cut_or_plan_of_a_device_does_not) {
    const ProductPlan plan = make_plan(cube(20000), devices(2, kGiB), {4 * kGiB, 20e9}).plan;
    ProductPlan retuned = plan;
    retuned.predicted_s *= 2;
    EXPECT_NE(to_string(retuned), to_string(plan));
    EXPECT_EQ(bits_decided_by(retuned), bits_decided_by(plan));
    ProductPlan cut_otherwise = plan, more_levels_on_device = plan, of_another_algorithm = plan;
    cut_otherwise.host->block_k /= 2;
    more_levels_on_device.error_bound *= 1.5;
    of_another_algorithm.host->algorithm = "winograd";
    for (const ProductPlan& other : {cut_otherwise, more_levels_on_device, of_another_algorithm}) {
        EXPECT_NE(bits_decided_by(other), bits_decided_by(plan));
    }
}

TEST(HostPlan, memory_on_device_and_host_is_kept_to) {
    for (const std::int64_t memory : {kGiB / 16, kGiB / 4, kGiB, 16 * kGiB}) {
        for (const int count : {1, 2, 8}) {
            for (const Type type : {Type::f64, Type::boolean, Type::bf16}) {
                const Told plan = make_plan(cube(20000, type), devices(count, memory), {4 * kGiB, 20e9});
                EXPECT_LE(plan.device_bytes, memory);
                EXPECT_LE(plan.host_bytes, 4 * kGiB);
                EXPECT_GE(plan.block.m * plan.grid.m, 20000);
                EXPECT_GE(plan.block.k * plan.grid.k, 20000);
                EXPECT_GE(plan.block.n * plan.grid.n, 20000);
                EXPECT_EQ(plan.tasks, static_cast<std::int64_t>(layer_of(plan.plan).instances.size()));
                if (type == Type::boolean) {
                    EXPECT_EQ(plan.levels, 0);
                }
                if (type == Type::bf16) {
                    EXPECT_EQ(plan.grid.k, 1) << "each step would round the sum";
                }
            }
        }
    }
}

TEST(HostPlan, cores_as_devices_use_memory_of_the_host_twice) {
    DeviceFacts cores = devices(2, kNoLimit);
    cores.in_host_memory = true;
    const Told plan = make_plan(cube(4096), cores, {kGiB / 4, 20e9});
    EXPECT_LE(plan.host_bytes + 2 * plan.device_bytes, kGiB / 4);
}

TEST(HostPlan, shortage_is_told_in_bytes) {
    const auto message = [](std::int64_t device, std::int64_t host) -> std::string {
        try {
            make_plan(cube(4096), devices(2, device), {host, 20e9});
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::resource);
            return error.what();
        }
        return "";
    };
    EXPECT_NE(message(1000, kNoLimit).find("on each device, and 1000 are available"), std::string::npos);
    EXPECT_NE(message(kGiB, 2000).find("in host memory, and 2000 are available"), std::string::npos);
    HostProblem forced = cube(4096);
    forced.constraints.levels = 1;
    forced.constraints.device_memory_bytes = kGiB / 16;
    EXPECT_THROW(make_plan(forced, devices(1, kGiB), {kNoLimit, 20e9}), Error);
}

TEST(HostPlan, levels_at_the_host_are_taken_where_the_device_binds_and_not_where_the_host_does) {
    const Told slow_device = make_plan(cube(40000), devices(1, 16 * kGiB), {kNoLimit, 100e9});
    EXPECT_GT(slow_device.levels, 0);
    EXPECT_STREQ(slow_device.binds(), "solve");
    const Told slow_host = make_plan(cube(40000), devices(1, 16 * kGiB), {kNoLimit, 0.05e9});
    EXPECT_EQ(slow_host.levels, 0);
    EXPECT_STREQ(slow_host.binds(), "host");
    DeviceFacts far = devices(1, 16 * kGiB);
    far.upload_bytes_per_s = 1e7;
    EXPECT_STREQ(make_plan(cube(40000), far, {kNoLimit, 100e9}).binds(), "upload");
}

TEST(HostPlan, accuracy_limits_levels_at_the_host) {
    HostProblem problem = cube(40000);
    problem.accuracy = Accuracy::strict;
    EXPECT_EQ(make_plan(problem, devices(1, 16 * kGiB), {kNoLimit, 100e9}).levels, 0);
    problem.accuracy = Accuracy::balanced;
    const BlockPlanner grown = [](const ProblemSize& block, bool accumulate, std::int64_t workspace) {
        ProductPlan plan = plain_block(block, accumulate, workspace);
        plan.levels.assign(3, {"winograd", LevelMode::parallel, ""});  // which use up what balanced allows
        return plan;
    };
    EXPECT_EQ(make_plan(problem, devices(1, 16 * kGiB), {kNoLimit, 100e9}, grown).levels, 0);
    problem.constraints.levels = 2;  // what is asked for is done
    const Told forced = make_plan(problem, devices(1, 16 * kGiB), {kNoLimit, 100e9}, grown);
    EXPECT_EQ(forced.levels, 2);
    EXPECT_EQ(forced.tasks, 49);
    EXPECT_GT(forced.error_bound, 144 * 1e-7 * 10000);  // growth of two levels times that of a block
}

TEST(HostPlan, what_is_rounded_once_leaves_k_whole_and_brings_c) {
    HostProblem problem = cube(1 << 12);
    problem.accuracy = Accuracy::exact;
    const HostFacts host{64 * kGiB};
    const Told plain = make_plan(problem, devices(2, kGiB / 2), host);
    EXPECT_EQ(plain.levels, 0);
    EXPECT_EQ(plain.steps, 1);
    EXPECT_GE(plain.block.k, problem.size.k);
    EXPECT_GT(plain.tasks, 1);
    problem.accumulate = true;
    const Told adds = make_plan(problem, devices(2, kGiB / 2), host);
    EXPECT_EQ(adds.upload_bytes, plain.upload_bytes + plain.download_bytes);
    EXPECT_GT(adds.host_bytes, plain.host_bytes);
    problem.constraints.levels = 1;
    EXPECT_THROW(make_plan(problem, devices(2, kGiB / 2), host), Error);
    problem.constraints = {};
    EXPECT_THROW(make_plan(problem, devices(2, 1 << 16), host), Error);
}

TEST(HostPlan, more_devices_are_predicted_faster) {
    double before = std::numeric_limits<double>::infinity();
    for (const int count : {1, 2, 4, 8}) {
        const Told plan = make_plan(cube(60000), devices(count, 16 * kGiB), {kNoLimit, 400e9});
        EXPECT_LT(plan.predicted_s, before);
        before = plan.predicted_s;
    }
}

TEST(HostPlan, p3_at_its_largest_size_is_only_a_plan) {
    HostProblem problem = cube(std::int64_t{1} << 20, Type::gf2);
    problem.packed = true;
    const Told plan = make_plan(
        problem, devices(8, 16 * kGiB), {512 * kGiB, 100e9}, [](const ProblemSize& block, bool, std::int64_t) {
            const double volume =
                static_cast<double>(block.m) * static_cast<double>(block.k) * static_cast<double>(block.n);
            ProductPlan one;
            one.predicted_s = 2 * volume / 1e15;
            one.workspace_bytes = block.m * block.k / 8;
            one.padded = true;
            return one;
        });
    const std::string text = to_string(plan);
    EXPECT_EQ(plan.levels, 3) << text;  // blocks of 2^17, whose workspace fits beside them
    EXPECT_LE(plan.device_bytes, 16 * kGiB);
    EXPECT_NE(text.find("plan 1048576x1048576x1048576 gf2 host={devices=test;"), std::string::npos) << text;
    EXPECT_TRUE(is_packed(plan.plan));
}

TEST(HostPlan, tiny_and_thin_products_have_a_plan) {
    for (const ProblemSize& size : {ProblemSize{1, 1, 1}, {1, 100000, 1}, {100000, 1, 3}, {7, 9, 100000}}) {
        for (const bool packed : {false, true}) {
            HostProblem problem = cube(1, packed ? Type::gf2 : Type::f32);
            problem.size = size;
            problem.packed = packed;
            const Told plan = make_plan(problem, devices(3, kGiB), {kNoLimit, 20e9});
            EXPECT_GE(plan.block.k * plan.grid.k, size.k);
            EXPECT_GE(plan.tasks, 1);
        }
    }
}

TEST(HostPlan, every_plan_parses_back_is_taken_and_is_refused_where_its_cut_was_changed) {
    int with_levels = 0, in_place = 0;
    for (const std::int64_t n : {1, 100, 1000, 4096, 20000, 65536}) {
        for (const Type type : {Type::f64, Type::f32, Type::bf16, Type::i32, Type::boolean, Type::gf2}) {
            for (const int levels : {-1, 0, 1, 2}) {
                HostProblem problem = cube(n, type);
                problem.size = {n, n / 2 + 1, n + 64};
                problem.packed = type == Type::gf2;
                problem.constraints.levels = type == Type::bf16 || type == Type::boolean ? 0 : levels;
                if (problem.packed && n >= 4096) {
                    problem.size = {n, n, n};
                }
                const BlockPlanner planner = [&](const ProblemSize& block, bool accumulate, std::int64_t workspace) {
                    ProductPlan plan = plain_block(block, accumulate, workspace);
                    plan.padded = problem.packed;
                    return plan;
                };
                const ProductPlan plan = make_plan(problem, devices(2, 64 * kGiB), {kNoLimit, 20e9}, planner).plan;
                EXPECT_EQ(parse_plan(to_string(plan)), plan) << to_string(plan);
                EXPECT_NO_THROW(check_host_cut(plan)) << to_string(plan);
                with_levels += plan.host->levels > 0 ? 1 : 0;
                in_place += plan.host->in_place ? 1 : 0;
                const auto refused = [&](const auto& change) {
                    ProductPlan changed = plan;
                    change(changed, *changed.host);
                    try {
                        check_host_cut(changed);
                        ADD_FAILURE() << to_string(changed);
                    } catch (const Error& error) {
                        EXPECT_EQ(error.code(), ErrorCode::input) << error.what();
                    }
                };
                refused([](ProductPlan& whole, HostCut&) { whole.host.reset(); });
                refused([](ProductPlan& whole, HostCut&) { whole.disk.emplace(); });
                refused([](ProductPlan& whole, HostCut&) { whole.threads = 2; });
                refused([](ProductPlan&, HostCut& cut) { cut.block_m = 0; });
                refused([](ProductPlan&, HostCut& cut) { cut.block_k += 1; });
                refused([](ProductPlan&, HostCut& cut) { cut.block_n = std::int64_t{1} << 60; });
                refused([](ProductPlan&, HostCut& cut) { cut.pipelines = 1000000; });
                refused([](ProductPlan&, HostCut& cut) { cut.levels = 40; });
                refused([](ProductPlan&, HostCut& cut) { cut.algorithm = "none-such"; });
                refused([&](ProductPlan& whole, HostCut& cut) {
                    whole.m = std::int64_t{1} << 50;
                    cut.in_place = true;
                    cut.block_m = 64;
                });
            }
        }
    }
    EXPECT_GT(with_levels, 20);
    EXPECT_GT(in_place, 0);
}

}  // namespace
}  // namespace heptad
