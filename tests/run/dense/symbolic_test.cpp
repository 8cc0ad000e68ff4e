// Random plans run over polynomials: every cell of C gets exactly its terms  alpha * sum_q a_iq b_qj + beta * c_ij,
// the workspace used is what the plan told, and the plan's print parses back.
#include "run/dense/symbolic_backend.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "algorithm/catalogue.hpp"
#include "algorithm/schedule.hpp"
#include "plan/search/level_layout.hpp"
#include "plan/search/planner.hpp"
#include "run/dense/runner.hpp"

namespace heptad::test {
namespace {

#ifdef HEPTAD_REDUCED_TESTS
constexpr int kPlansPerTest = 60;
#else
constexpr int kPlansPerTest = 3000;
#endif

using Random = std::mt19937_64;

int pick(Random& random, int lowest, int highest) {
    return std::uniform_int_distribution<int>(lowest, highest)(random);
}

/// A matrix of handles, by rows or by columns, with a gap after each.
struct HandleMatrix {
    std::vector<std::int32_t> memory;
    View view;
    HandleMatrix(Type type, std::int64_t rows, std::int64_t cols, Random& random) {
        const bool by_rows = pick(random, 0, 1) == 0;
        const std::int64_t stride = std::max<std::int64_t>(1, by_rows ? cols : rows) + pick(random, 0, 2);
        memory.assign(static_cast<std::size_t>(stride * (by_rows ? rows : cols) + 1), 0);
        view = {memory.data(), type, rows, cols, by_rows ? stride : 1, by_rows ? 1 : stride};
    }
};

struct Scalars {
    double alpha = 1, beta = 0;
};

/// Why the run of this plan is wrong; empty if it is right.
std::string objection(const ProductPlan& plan, std::uint64_t modulus, const Scalars& scalars, bool exact_workspace,
                      Random& random) {
    HandleMatrix a(plan.type, plan.m, plan.k, random);
    HandleMatrix b(plan.type, plan.k, plan.n, random);
    HandleMatrix c(plan.type, plan.m, plan.n, random);
    SymbolicBackend backend(modulus, static_cast<std::uint32_t>(plan.m * plan.k),
                            static_cast<std::uint32_t>(plan.k * plan.n), static_cast<std::uint32_t>(plan.m * plan.n));
    const auto number = [](std::int64_t i, std::int64_t cols, std::int64_t j) {
        return static_cast<std::uint32_t>(i * cols + j);
    };
    for (std::int64_t i = 0; i < plan.m; ++i) {
        for (std::int64_t q = 0; q < plan.k; ++q) {
            SymbolicBackend::set_handle(a.view, i, q,
                                        backend.new_value({{backend.a_monomial(number(i, plan.k, q)), 1}}));
        }
    }
    for (std::int64_t q = 0; q < plan.k; ++q) {
        for (std::int64_t j = 0; j < plan.n; ++j) {
            SymbolicBackend::set_handle(b.view, q, j,
                                        backend.new_value({{backend.b_monomial(number(q, plan.n, j)), 1}}));
        }
    }
    for (std::int64_t i = 0; i < plan.m && scalars.beta != 0; ++i) {  // beta = 0: C holds no values
        for (std::int64_t j = 0; j < plan.n; ++j) {
            SymbolicBackend::set_handle(c.view, i, j,
                                        backend.new_value({{backend.c_monomial(number(i, plan.n, j)), 1}}));
        }
    }
    const HandleMatrix old_a = a;
    const HandleMatrix old_b = b;
    constexpr std::int32_t kGuard = 0x5a5a5a5a;
    const std::int64_t own_bytes = plan.workspace_bytes - plan.vendor_workspace_bytes;
    std::vector<std::int32_t> workspace(static_cast<std::size_t>(own_bytes / 4 + 16), 0);
    std::fill(workspace.end() - 16, workspace.end(), kGuard);
    const RunReport report =
        run_plan(plan, backend, scalars.alpha, a.view, b.view, scalars.beta, c.view, workspace.data());
    const bool written = a.memory != old_a.memory || b.memory != old_b.memory;
    if (written && !plan.overwrite_inputs) {
        return "an operand was written";
    }
    if (std::any_of(workspace.end() - 16, workspace.end(), [](std::int32_t x) { return x != kGuard; })) {
        return "memory behind the workspace was written";
    }
    const std::int64_t blocks_bytes = own_bytes - reserved_bytes(plan);
    if (report.workspace_used_bytes > blocks_bytes ||
        (exact_workspace && report.workspace_used_bytes != blocks_bytes)) {
        return "used " + std::to_string(report.workspace_used_bytes) + " bytes of workspace";
    }
    for (std::int64_t i = 0; i < plan.m; ++i) {
        for (std::int64_t j = 0; j < plan.n; ++j) {
            Polynomial expected;
            for (std::int64_t q = 0; q < plan.k && backend.residue(scalars.alpha) != 0; ++q) {
                expected.push_back({backend.product_monomial(number(i, plan.k, q), number(q, plan.n, j)),
                                    backend.residue(scalars.alpha)});
            }
            if (backend.residue(scalars.beta) != 0) {
                expected.push_back({backend.c_monomial(number(i, plan.n, j)), backend.residue(scalars.beta)});
            }
            Polynomial found = backend.value(SymbolicBackend::handle(c.view, i, j));
            const auto by_monomial = [](const SymbolicTerm& x, const SymbolicTerm& y) {
                return x.monomial < y.monomial;
            };
            std::sort(found.begin(), found.end(), by_monomial);
            std::sort(expected.begin(), expected.end(), by_monomial);
            if (found != expected) {
                return "cell " + std::to_string(i) + ", " + std::to_string(j) + " has other terms";
            }
        }
    }
    return "";
}

/// Every shipped schedule that may be named for this algorithm in a plan.
std::vector<std::string> schedules_of(const std::string& algorithm) {
    std::vector<std::string> names{""};
    for (const std::string& name : schedule_names()) {
        if (find_schedule(name).algorithm == algorithm && find_schedule(name).ring == Ring::integers) {
            names.push_back(name);
        }
    }
    return names;
}

LevelPlan random_level(const std::string& algorithm, Random& random) {
    constexpr LevelMode modes[] = {LevelMode::serial, LevelMode::parallel, LevelMode::fused};
    LevelPlan level{algorithm, modes[pick(random, 0, 2)], ""};
    if (level.mode == LevelMode::fused) {
        level.order = fused_orders[pick(random, 0, 4)];
        level.tile = fused_tiles[pick(random, 0, 6)];
    }
    if (level.mode == LevelMode::serial) {
        const std::vector<std::string> names = schedules_of(algorithm);
        level.schedule = names[static_cast<std::size_t>(pick(random, 0, static_cast<int>(names.size()) - 1))];
    }
    return level;
}

struct PlanLimits {
    int most_levels = 2;
    int most_rank = 1000;     // of all levels together
    int most_elements = 500;  // of A and B together
    Type type = Type::i32;
    std::uint64_t modulus = SymbolicBackend::large_prime;
    bool uniform = false;  // one algorithm and mode on all levels
    bool overwrite_inputs = false;
    std::string device = "auto";
};

/// Random levels and sizes: a few units of the levels' sizes, fringes of less than a unit.
ProductPlan random_plan(const std::vector<std::string>& names, const PlanLimits& limits, Random& random) {
    for (;;) {
        std::vector<LevelPlan> levels;
        const int wanted = pick(random, 1, limits.most_levels);
        std::int64_t unit_m = 1;
        std::int64_t unit_k = 1;
        std::int64_t unit_n = 1;
        std::int64_t rank = 1;
        for (int i = 0; i < wanted; ++i) {
            const std::string& name =
                names[static_cast<std::size_t>(pick(random, 0, static_cast<int>(names.size()) - 1))];
            levels.push_back(limits.uniform && i > 0 ? levels.front() : random_level(name, random));
            const Algorithm& algorithm = find_algorithm(levels.back().algorithm).algorithm;
            unit_m *= algorithm.m;
            unit_k *= algorithm.k;
            unit_n *= algorithm.n;
            rank *= algorithm.rank();
        }
        Problem problem;
        problem.m = unit_m * pick(random, 1, 2) + pick(random, 0, 1) * pick(random, 0, static_cast<int>(unit_m) - 1);
        problem.k = unit_k * pick(random, 1, 2) + pick(random, 0, 1) * pick(random, 0, static_cast<int>(unit_k) - 1);
        problem.n = unit_n * pick(random, 1, 2) + pick(random, 0, 1) * pick(random, 0, static_cast<int>(unit_n) - 1);
        if (pick(random, 0, 3) == 0) {  // square, so that the schedules for square blocks are met
            problem.m = problem.k = problem.n = std::max({problem.m, problem.k, problem.n});
        }
        if (rank > limits.most_rank || problem.m * problem.k + problem.k * problem.n > limits.most_elements) {
            continue;
        }
        problem.type = limits.type;
        problem.options.accumulate = pick(random, 0, 1) == 0;
        problem.options.overwrite_inputs = limits.overwrite_inputs;
        problem.options.device = limits.device;
        return plan_with_levels(problem, Machine{}, levels);
    }
}

Scalars random_scalars(const ProductPlan& plan, Random& random) {
    constexpr double values[] = {1, 1, -1, 2, -3};
    return {values[pick(random, 0, 4)], plan.accumulate && pick(random, 0, 5) > 0 ? values[pick(random, 0, 4)] : 0};
}

std::vector<std::string> names_over(std::initializer_list<Ring> rings, int most_rank) {
    std::vector<std::string> names;
    for (const std::string& name : algorithm_names(true)) {
        const Algorithm& algorithm = find_algorithm(name).algorithm;
        if (std::find(rings.begin(), rings.end(), algorithm.ring) != rings.end() && algorithm.rank() <= most_rank) {
            names.push_back(name);
        }
    }
    return names;
}

void check_random_plans(int count, const std::vector<std::string>& names, const PlanLimits& limits, unsigned seed) {
    Random random(seed);
    for (int i = 0; i < count; ++i) {
        const ProductPlan plan = random_plan(names, limits, random);
        const Scalars scalars = random_scalars(plan, random);
        ASSERT_EQ(parse_plan(to_string(plan)), plan) << to_string(plan);
        if (limits.modulus != 2) {
            ASSERT_NO_THROW(check_plan(plan)) << to_string(plan);
        }
        // One that accumulates tells the larger of what it needs with beta = 0 and with another.
        const bool exact_workspace = limits.uniform && !plan.accumulate;
        std::string why;
        try {
            why = objection(plan, limits.modulus, scalars, exact_workspace, random);
        } catch (const std::exception& error) {
            why = error.what();
        }
        ASSERT_EQ(why, "") << "plan " << i << " of seed " << seed << ", alpha " << scalars.alpha << ", beta "
                           << scalars.beta << ": " << to_string(plan);
    }
}

TEST(symbolic_run, mixed_algorithms_over_the_integers_give_every_cell_its_terms) {
    check_random_plans(kPlansPerTest, names_over({Ring::integers}, 60), {}, 1);
}

TEST(symbolic_run, algorithms_with_fractions_give_every_cell_its_terms) {
    PlanLimits limits;
    limits.type = Type::f32;
    check_random_plans(kPlansPerTest, names_over({Ring::integers, Ring::halves, Ring::rationals}, 60), limits, 2);
}

TEST(symbolic_run, algorithms_over_gf2_give_every_cell_its_terms_mod_2) {
    PlanLimits limits;
    limits.modulus = 2;
    check_random_plans(kPlansPerTest, names_over({Ring::gf2, Ring::integers}, 50), limits, 3);
    check_random_plans(kPlansPerTest / 8, names_over({Ring::gf2}, 50), limits, 4);
}

TEST(symbolic_run, uniform_levels_use_exactly_the_workspace_told) {
    PlanLimits limits;
    limits.uniform = true;
    limits.most_levels = 3;
    check_random_plans(kPlansPerTest, names_over({Ring::integers}, 12), limits, 5);
}

/// Levels that name overwriting schedules, alone and among others, on a CPU and as a device lays them out.
TEST(symbolic_run, plans_that_overwrite_a_and_b_give_every_cell_its_terms) {
    for (const char* device : {"cpu", "cuda"}) {
        PlanLimits limits;
        limits.overwrite_inputs = true;
        limits.device = device;
        limits.most_levels = 3;
        limits.most_rank = 343;
        limits.most_elements = 2 * 17 * 17;
        check_random_plans(kPlansPerTest / 4, {"winograd", "alternative-basis"}, limits, 9);
        limits.uniform = true;
        check_random_plans(kPlansPerTest / 4, {"winograd", "alternative-basis"}, limits, 10);
    }
}

TEST(symbolic_run, three_and_four_levels_of_small_algorithms_give_every_cell_its_terms) {
    PlanLimits limits;
    limits.most_levels = 4;
    limits.most_rank = 2401;
    limits.most_elements = 2 * 19 * 19;
    check_random_plans(
        kPlansPerTest / 20, {"winograd", "strassen", "classical", "alternative-basis", "2x2x2-7-accurate"},
        [&] {
            limits.type = Type::f32;
            return limits;
        }(),
        6);
}

TEST(symbolic_run, every_algorithm_and_mode_at_one_level_with_fringes) {
    Random random(7);
    for (const std::string& name : algorithm_names(true)) {
        const Algorithm& algorithm = find_algorithm(name).algorithm;
        for (const LevelMode mode : {LevelMode::serial, LevelMode::parallel, LevelMode::fused}) {
            for (const bool accumulate : {false, true}) {
                Problem problem;
                problem.m = algorithm.m + 1;
                problem.k = algorithm.k + 1;
                problem.n = algorithm.n + 1;
                problem.type = algorithm.ring == Ring::gf2 ? Type::i32 : Type::f32;
                problem.options.accumulate = accumulate;
                const std::uint64_t modulus = algorithm.ring == Ring::gf2 ? 2 : SymbolicBackend::large_prime;
                std::string why;
                ProductPlan plan;
                try {
                    plan = plan_with_levels(problem, Machine{}, {{name, mode, ""}});
                    why = objection(plan, modulus, {1, accumulate ? 1.0 : 0.0}, !accumulate, random);
                } catch (const std::exception& error) {
                    why = error.what();
                }
                EXPECT_EQ(why, "") << name << " " << mode_name(mode) << " " << to_string(plan);
            }
        }
    }
}

TEST(symbolic_run, every_shipped_schedule_that_keeps_its_inputs_runs_on_square_blocks) {
    Random random(8);
    int run = 0;
    for (const std::string& name : schedule_names()) {
        const Schedule& schedule = find_schedule(name);
        if (schedule.overwrites_inputs) {
            continue;
        }
        for (const int levels : {1, 2}) {
            Problem problem;
            problem.m = problem.k = problem.n = levels == 1 ? 6 : 8;
            problem.type = Type::i32;
            problem.options.accumulate = schedule.accumulates;
            std::string why;
            ProductPlan plan;
            try {
                plan = plan_with_levels(problem, Machine{},
                                        std::vector<LevelPlan>(static_cast<std::size_t>(levels),
                                                               {schedule.algorithm, LevelMode::serial, name}));
                EXPECT_EQ(plan.levels.front().schedule, name);
                why = objection(plan, schedule.ring == Ring::gf2 ? 2 : SymbolicBackend::large_prime,
                                {1, schedule.accumulates ? 1.0 : 0.0}, false, random);
            } catch (const std::exception& error) {
                why = error.what();
            }
            EXPECT_EQ(why, "") << name << ": " << to_string(plan);
            ++run;
        }
    }
    EXPECT_GE(run, 6);
}

TEST(symbolic_run, every_shipped_schedule_that_overwrites_its_inputs_runs_and_destroys_them) {
    Random random(11);
    int run = 0;
    for (const std::string& name : schedule_names()) {
        const Schedule& schedule = find_schedule(name);
        if (!schedule.overwrites_inputs) {
            continue;
        }
        for (const char* device : {"cpu", "cuda"}) {
            for (const int levels : {1, 2, 3}) {
                Problem problem;
                problem.m = problem.k = problem.n = levels == 3 ? 16 : 9 - levels;
                problem.type = Type::i32;
                problem.options.device = device;
                problem.options.accumulate = schedule.accumulates && std::string(device) == "cpu";
                problem.options.overwrite_inputs = true;
                const std::vector<LevelPlan> named(static_cast<std::size_t>(levels),
                                                   {schedule.algorithm, LevelMode::serial, name});
                const ProductPlan plan = plan_with_levels(problem, Machine{}, named);
                EXPECT_EQ(plan.levels.front().schedule, name);
                EXPECT_TRUE(plan.overwrite_inputs);
                std::string why;
                try {
                    why = objection(plan, schedule.ring == Ring::gf2 ? 2 : SymbolicBackend::large_prime,
                                    {1, problem.options.accumulate ? 1.0 : 0.0}, false, random);
                } catch (const std::exception& error) {
                    why = error.what();
                }
                EXPECT_EQ(why, "") << name << ": " << to_string(plan);
                problem.options.overwrite_inputs = false;
                const ProductPlan keeping = plan_with_levels(problem, Machine{}, named);
                EXPECT_FALSE(keeping.overwrite_inputs);
                EXPECT_TRUE(keeping.levels.front().schedule.empty());
                ++run;
            }
        }
    }
    EXPECT_GE(run, 18);
}

/// Ordinary levels outside, as a CPU and as a device lays them out, and one or two levels at once inside the kernel.
TEST(symbolic_run, fused_levels_below_others_give_every_cell_its_terms_and_take_no_memory_of_their_own) {
    Random random(12);
    for (int i = 0; i < kPlansPerTest / 10; ++i) {
        const bool on_device = pick(random, 0, 1) == 0;
        std::vector<LevelPlan> levels(static_cast<std::size_t>(pick(random, 0, 2)));
        for (LevelPlan& level : levels) {
            level = {"winograd", pick(random, 0, 1) == 0 ? LevelMode::serial : LevelMode::parallel, ""};
        }
        Problem problem;
        problem.m = pick(random, 4, 13);
        problem.k = pick(random, 4, 13);
        problem.n = pick(random, 4, 13);
        problem.type = Type::f32;
        problem.options.device = on_device ? "cuda" : "cpu";
        problem.options.accumulate = pick(random, 0, 1) == 0;
        const ProductPlan unfused = plan_with_levels(problem, Machine{}, levels);
        const char* const algorithm = levels.empty() && pick(random, 0, 2) == 0 ? "strassen*strassen"
                                      : pick(random, 0, 1) == 0                 ? "strassen"
                                                                                : "winograd";
        levels.push_back({algorithm, LevelMode::fused, "", fused_orders[pick(random, 0, 4)]});
        const ProductPlan plan = plan_with_levels(problem, Machine{}, levels);
        ASSERT_EQ(parse_plan(to_string(plan)), plan) << to_string(plan);
        ASSERT_NO_THROW(check_plan(plan)) << to_string(plan);
        if (plan.levels.size() == 1 && plan.levels.front().mode == LevelMode::fused) {
            ASSERT_EQ(plan.workspace_bytes, 0) << to_string(plan);
            ASSERT_EQ(plan.core_m * plan.core_k * plan.core_n, plan.m * plan.k * plan.n) << to_string(plan);
        }
        if (plan.levels.size() == unfused.levels.size() + 1) {
            ASSERT_LE(plan.workspace_bytes, unfused.workspace_bytes) << to_string(plan);
        }
        std::string why;
        try {
            why = objection(plan, SymbolicBackend::large_prime, random_scalars(plan, random), false, random);
        } catch (const std::exception& error) {
            why = error.what();
        }
        ASSERT_EQ(why, "") << "plan " << i << ": " << to_string(plan);
    }
}

TEST(symbolic_run, reading_memory_that_nobody_wrote_is_noticed) {
    SymbolicBackend backend(SymbolicBackend::large_prime, 1, 1, 1);
    std::int32_t empty = 0;
    std::int32_t target = 0;
    const View from(&empty, Type::i32, 1, 1, 1, 1);
    const View to(&target, Type::i32, 1, 1, 1, 1);
    EXPECT_THROW(backend.combine({{from, to}, {{1, {{0, 1}}}}}), std::runtime_error);
}

}  // namespace
}  // namespace heptad::test
