// Products by residues as a device runs them, by loops on the host: tiles of C, C by rows and by columns, more moduli
// for less even data, and the classical product where there are none.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "base/error.hpp"
#include "base/half.hpp"
#include "base/moduli.hpp"
#include "plan/predict/error_bound.hpp"
#include "plan/search/device_residue_plan.hpp"
#include "plan/search/planner.hpp"
#include "run/dense/runner.hpp"
#include "run/residue/host_residues.hpp"

namespace heptad::test {
namespace {

struct Operands {
    GuardedMatrix a, b, c;
    Operands(std::int64_t m, std::int64_t k, std::int64_t n, Layout layout)
        : a(Type::f32, m, k, Layout::rows), b(Type::f32, k, n, Layout::columns), c(Type::f32, m, n, layout) {
        std::mt19937 random(1);
        a.fill_random(random, 3);
        b.fill_random(random, 3);
        c.fill_random(random, 3);
    }
};

ProductPlan plan_of(std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t tile_m, std::int64_t tile_n,
                    const std::vector<std::string>& levels = {}, Type type = Type::f32) {
    Problem problem{m, k, n, type, 1, {}};
    problem.options.device = "cuda";
    problem.options.accumulate = true;
    ProductPlan plan = plan_with_shape(problem, Machine{}, {levels, kResidueLeaf});
    EXPECT_EQ(plan.levels.size(), levels.size());
    plan.tile_m = tile_m;
    plan.tile_n = tile_n;
    plan.workspace_bytes = device_residue_layout(plan).bytes();
    check_plan(plan);
    return plan;
}

TEST(device_residues, tiles_of_any_shape_make_up_the_product) {
    for (const Layout layout : {Layout::rows, Layout::columns}) {
        for (const auto& [tile_m, tile_n] : {std::pair{50, 41}, {20, 41}, {50, 16}, {17, 13}, {1, 41}, {50, 1}}) {
            for (const double beta : {0.0, -2.0}) {
                Operands x(50, 33, 41, layout);
                const ProductPlan plan = plan_of(50, 33, 41, tile_m, tile_n);
                GuardedMatrix expected = x.c;
                ReferenceBackend loops;
                const Product product{3, x.a.view(), x.b.view(), beta, expected.view()};
                loops.multiply({&product, 1}, "reference");
                HostResidues backend;
                std::vector<std::byte> workspace(static_cast<std::size_t>(plan.workspace_bytes));
                if (beta == 0) {
                    x.c.fill(std::numeric_limits<double>::quiet_NaN());
                }
                const RunReport report =
                    run_plan(plan, backend, 3, x.a.view(), x.b.view(), beta, x.c.view(), workspace.data());
                EXPECT_TRUE(x.c.equals(expected)) << tile_m << " x " << tile_n << " beta " << beta;
                EXPECT_LE(report.workspace_used_bytes, plan.workspace_bytes);
                const int across = (41 + tile_n - 1) / tile_n, down = (50 + tile_m - 1) / tile_m;
                EXPECT_EQ(backend.products_of_planes, across * down);
            }
        }
    }
}

TEST(device_residues, levels_inside_change_nothing) {
    using Levels = std::vector<std::string>;
    const std::vector<Levels> tried{Levels{"winograd"},
                                    {"winograd", "winograd"},
                                    {"strassen"},
                                    {"strassen", "winograd"},
                                    {"winograd*winograd", "winograd"},
                                    {"alternative-basis"},
                                    {"2x2x3-11", "strassen"},
                                    {"3x2x3-15"},
                                    {"3x3x3-23"}};
    for (const Layout layout : {Layout::rows, Layout::columns}) {
        for (const auto& [m, k, n] : {std::tuple{50, 33, 41}, {64, 128, 32}, {8, 9, 67}, {99, 8, 9}}) {
            for (const Levels& levels : tried) {
                Operands x(m, k, n, layout);
                const ProductPlan plan = plan_of(m, k, n, (m + 1) / 2, n, levels);
                GuardedMatrix expected = x.c;
                ReferenceBackend loops;
                const Product product{3, x.a.view(), x.b.view(), -2, expected.view()};
                loops.multiply({&product, 1}, "reference");
                HostResidues backend;
                std::vector<std::byte> workspace(static_cast<std::size_t>(plan.workspace_bytes));
                run_plan(plan, backend, 3, x.a.view(), x.b.view(), -2, x.c.view(), workspace.data());
                EXPECT_TRUE(x.c.equals(expected)) << to_string(plan);
                const bool in_kernels = std::ranges::all_of(levels, [](const auto& name) { return name == kHalving; });
                EXPECT_EQ(backend.passes_over_planes, in_kernels ? 0 : 5);  // of A and C two bands, of B one
            }
        }
    }
}

ProductPlan exact_plan(std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t tile_m, std::int64_t tile_n,
                       int levels = 0) {
    Problem problem{m, k, n, Type::f32, 1, {}};
    problem.options.device = "cuda";
    problem.options.accuracy = Accuracy::exact;
    problem.options.accumulate = true;
    problem.options.levels = levels;
    ProductPlan plan = make_plan(problem, Machine{});
    EXPECT_EQ(plan.levels.size(), static_cast<std::size_t>(levels));
    plan.tile_m = tile_m;
    plan.tile_n = tile_n;
    plan.workspace_bytes = device_residue_layout(plan).bytes();
    check_plan(plan);
    return plan;
}

TEST(device_residues, products_that_are_rounded_once_take_the_moduli_that_the_data_needs) {
    using Norms = ResidueKernels::Norms;
    for (const Layout layout : {Layout::rows, Layout::columns}) {
        for (const std::optional<Norms>& norms :
             {std::optional(Norms{9, 5}), std::optional(Norms{90, 90}), std::optional<Norms>()}) {
            for (const int levels : {0, 1, 2}) {
                Operands x(50, 33, 41, layout);
                const ProductPlan plan = exact_plan(50, 33, 41, 17, 20, levels);
                GuardedMatrix expected = x.c;
                ReferenceBackend loops;
                const Product product{3, x.a.view(), x.b.view(), -2, expected.view()};
                loops.multiply({&product, 1}, "reference");
                HostResidues backend;
                backend.norms = norms;
                std::vector<std::byte> workspace(static_cast<std::size_t>(plan.workspace_bytes));
                const RunReport report =
                    run_plan(plan, backend, 3, x.a.view(), x.b.view(), -2, x.c.view(), workspace.data());
                EXPECT_TRUE(x.c.equals(expected)) << levels;
                EXPECT_LE(report.workspace_used_bytes, plan.workspace_bytes);
                EXPECT_EQ(backend.taken(), norms ? moduli_for(norms->a + norms->b) : kMostModuli);
            }
        }
    }
}

TEST(device_residues, fewer_moduli_than_planned_leave_room_for_larger_tiles) {
    Operands x(50, 33, 41, Layout::rows);
    const ProductPlan plan = exact_plan(50, 33, 41, 25, 41);
    HostResidues backend;
    backend.norms = {9, 5};  // two of twenty-four
    std::vector<std::byte> workspace(static_cast<std::size_t>(plan.workspace_bytes));
    run_plan(plan, backend, 1, x.a.view(), x.b.view(), 0, x.c.view(), workspace.data());
    EXPECT_EQ(backend.products_of_planes, 1);
}

TEST(device_residues, zeros_are_not_multiplied) {
    for (const bool by_alpha : {false, true}) {
        Operands x(50, 33, 41, Layout::rows);
        const ProductPlan plan = exact_plan(50, 33, 41, 50, 41);
        HostResidues backend;
        backend.norms = {by_alpha ? 9.0 : 0.0, 300};
        GuardedMatrix expected = x.c;
        for (std::int64_t i = 0; i < 50; ++i) {
            for (std::int64_t j = 0; j < 41; ++j) {
                expected.set(i, j, 2 * expected.get(i, j));
            }
        }
        std::vector<std::byte> workspace(static_cast<std::size_t>(plan.workspace_bytes));
        run_plan(plan, backend, by_alpha ? 0 : 1, x.a.view(), x.b.view(), 2, x.c.view(), workspace.data());
        EXPECT_TRUE(x.c.equals(expected));
        EXPECT_EQ(backend.products_of_planes, 0);
    }
}

TEST(device_residues, without_products_alpha_may_be_any) {
    Operands x(50, 0, 41, Layout::rows);
    x.c.fill(3);
    const ProductPlan plan = exact_plan(50, 0, 41, 50, 41);
    HostResidues backend;
    std::vector<std::byte> workspace(static_cast<std::size_t>(plan.workspace_bytes));
    run_plan(plan, backend, std::numeric_limits<double>::infinity(), x.a.view(), x.b.view(), 2, x.c.view(),
             workspace.data());
    EXPECT_EQ(x.c.get(49, 40), 6);
}

TEST(device_residues, data_beyond_the_moduli_is_refused_and_c_is_as_it_was) {
    for (const Layout layout : {Layout::rows, Layout::columns}) {
        Operands x(50, 33, 41, layout);
        const ProductPlan plan = exact_plan(50, 33, 41, 50, 41);
        HostResidues backend;
        backend.norms = layout == Layout::rows ? ResidueKernels::Norms{150, 40} : ResidueKernels::Norms{40, 150};
        const GuardedMatrix before = x.c;
        std::vector<std::byte> workspace(static_cast<std::size_t>(plan.workspace_bytes));
        try {
            run_plan(plan, backend, 1, x.a.view(), x.b.view(), 0, x.c.view(), workspace.data());
            FAIL() << "was not refused";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::input);
            EXPECT_NE(std::string(error.what()).find("takes 190 bits: rows of A span up to 150"), std::string::npos)
                << error.what();
        }
        EXPECT_TRUE(x.c.equals_byte_for_byte(before));
    }
}

/// What ByteRemainder (kernels/cuda/residue/residue_levels.cuh) does in f16: a reciprocal of eleven bits, a quotient
/// rounded to an integer, ties to even, and a remainder that f16 holds.
TEST(device_residues, sums_of_sixteen_bytes_are_reduced_to_bytes_in_f16) {
    for (int t = 0; t < kMostModuli; ++t) {
        const int p = kModuli[static_cast<std::size_t>(t)];
        const double reciprocal = to_float(to_f16(static_cast<float>(1.0 / p)));
        for (int x = -16 * 128; x <= 16 * 128; ++x) {
            const int quotient = static_cast<int>(std::nearbyint(x * reciprocal));
            const int rest = x - p * quotient;
            ASSERT_LE(std::abs(rest), p == 256 ? 128 : 127) << x << " modulo " << p;
        }
    }
}

TEST(device_residues, complex_products_have_planes_of_parts_in_every_form) {
    using Number = std::complex<float>;
    constexpr std::int64_t m = 23, k = 18, n = 29;
    const ProductPlan plans[] = {plan_of(m, k, n, 10, 16, {}, Type::c64),
                                 plan_of(m, k, n, 12, 16, {"winograd"}, Type::c64),
                                 plan_of(m, k, n, m, n, {"2x2x3-11"}, Type::c64)};
    std::mt19937 random(7);
    std::uniform_int_distribution<int> small(-3, 3);
    const auto numbers = [&](std::int64_t count) {
        std::vector<Number> x(static_cast<std::size_t>(count));
        for (Number& one : x) {
            one = Number(static_cast<float>(small(random)), static_cast<float>(small(random)));
        }
        return x;
    };
    for (int form = 0; form < 48; ++form) {
        const ProductPlan& plan = plans[form / 16];
        const bool conjugate_a = (form & 1) != 0, conjugate_b = (form & 2) != 0, by_columns = (form & 4) != 0;
        const Number alpha = (form & 8) != 0 ? Number(2, -1) : Number(3, 0), beta(0, 2);
        std::vector<Number> a = numbers(m * k), b = numbers(k * n), c = numbers(m * n), expected = c;
        const auto at = [&](std::int64_t i, std::int64_t j) {
            return static_cast<std::size_t>(by_columns ? i + j * m : i * n + j);
        };
        for (std::int64_t i = 0; i < m; ++i) {
            for (std::int64_t j = 0; j < n; ++j) {
                Number sum;
                for (std::int64_t p = 0; p < k; ++p) {
                    const Number x = a[static_cast<std::size_t>(i * k + p)], y = b[static_cast<std::size_t>(p * n + j)];
                    sum += (conjugate_a ? std::conj(x) : x) * (conjugate_b ? std::conj(y) : y);
                }
                expected[at(i, j)] = alpha * sum + beta * expected[at(i, j)];
            }
        }
        Product product{alpha.real(),
                        {a.data(), Type::c64, m, k, k, 1},
                        {b.data(), Type::c64, k, n, n, 1},
                        beta.real(),
                        {c.data(), Type::c64, m, n, by_columns ? 1 : n, by_columns ? m : 1},
                        {alpha.imag(), beta.imag()}};
        product.a.conjugate = conjugate_a;
        product.b.conjugate = conjugate_b;
        HostResidues backend;
        std::vector<std::byte> workspace(static_cast<std::size_t>(plan.workspace_bytes));
        run_plan(plan, backend, product, workspace.data());
        EXPECT_EQ(c, expected) << form;
    }
}

TEST(device_residues, operands_are_converted_once_where_there_is_room) {
    Operands x(50, 33, 41, Layout::rows);
    const ProductPlan plan = plan_of(50, 33, 41, 17, 41);
    HostResidues backend;
    std::vector<std::byte> workspace(static_cast<std::size_t>(plan.workspace_bytes));
    run_plan(plan, backend, 1, x.a.view(), x.b.view(), 0, x.c.view(), workspace.data());
    EXPECT_EQ(backend.conversions[0], 3);
    EXPECT_EQ(backend.conversions[1], 1);
}

TEST(device_residues, the_classical_product_answers_where_the_guard_says_so) {
    for (const double alpha : {2.0, 0.0, std::numeric_limits<double>::infinity()}) {
        Operands x(20, 30, 25, Layout::rows);
        const ProductPlan plan = plan_of(20, 30, 25, 20, 25);
        GuardedMatrix expected = x.c;
        ReferenceBackend loops;
        const Product product{alpha, x.a.view(), x.b.view(), 1, expected.view()};
        loops.multiply({&product, 1}, "reference");
        HostResidues backend;
        backend.is_safe = false;
        std::vector<std::byte> workspace(static_cast<std::size_t>(plan.workspace_bytes));
        run_plan(plan, backend, alpha, x.a.view(), x.b.view(), 1, x.c.view(), workspace.data());
        EXPECT_TRUE(x.c.equals_byte_for_byte(expected)) << alpha;
    }
}

TEST(device_residues, certified_plans_have_all_numbers_counted_and_a_classical_answer_beside_them) {
    for (const bool is_safe : {true, false}) {
        for (const Layout layout : {Layout::rows, Layout::columns}) {
            Operands x(50, 33, 41, layout);
            ProductPlan plan = plan_of(50, 33, 41, 17, 41);
            plan.least_evenness = kCertifiedEvenness;
            plan.error_bound = error_bound(plan);
            check_plan(plan);
            GuardedMatrix expected = x.c;
            ReferenceBackend loops;
            const Product product{3, x.a.view(), x.b.view(), -2, expected.view()};
            loops.multiply({&product, 1}, "reference");
            HostResidues backend;
            backend.is_safe = is_safe;
            std::vector<std::byte> workspace(static_cast<std::size_t>(plan.workspace_bytes));
            run_plan(plan, backend, 3, x.a.view(), x.b.view(), -2, x.c.view(), workspace.data());
            EXPECT_TRUE(x.c.equals(expected));
            EXPECT_FALSE(backend.limits.may_scale);
            EXPECT_EQ(backend.choice.least_evenness, certified_evenness(plan));
            EXPECT_EQ(backend.choice.most, most_moduli(plan));
            EXPECT_EQ(backend.limits.least_evenness, backend.choice.least_with_most());
        }
    }
}

TEST(device_residues, cancelling_leaves_the_rest_undone) {
    Operands x(50, 33, 41, Layout::rows);
    const ProductPlan plan = plan_of(50, 33, 41, 10, 41);
    HostResidues backend;
    std::vector<std::byte> workspace(static_cast<std::size_t>(plan.workspace_bytes));
    CancelToken cancel;
    RunHooks hooks;
    hooks.cancel = &cancel;
    hooks.progress = [&](const Progress& progress) {
        if (progress.fraction > 0.3) {
            cancel.cancel();
        }
    };
    EXPECT_THROW(run_plan(plan, backend, 1, x.a.view(), x.b.view(), 0, x.c.view(), workspace.data(), hooks), Error);
    EXPECT_LT(backend.products_of_planes, 5);
    EXPECT_GT(backend.products_of_planes, 0);
}

}  // namespace
}  // namespace heptad::test
