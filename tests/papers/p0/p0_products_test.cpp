// P0's plans at small sizes, against the definition in integers, on the backends that need no device.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/guarded_matrix.hpp"
#include "kernels/reference/reference_backend.hpp"
#include "papers/p0/p0_plan.hpp"
#include "plan/search/level_layout.hpp"
#include "run/dense/runner.hpp"

namespace heptad::test {
namespace {

/// The product by its definition; exact, because the entries are small.
GuardedMatrix definition(const GuardedMatrix& a, const GuardedMatrix& b, const GuardedMatrix& c) {
    GuardedMatrix result = c;
    for (std::int64_t i = 0; i < c.view().rows; ++i) {
        for (std::int64_t j = 0; j < c.view().cols; ++j) {
            double sum = 0;
            for (std::int64_t q = 0; q < a.view().cols; ++q) {
                sum += a.get(i, q) * b.get(q, j);
            }
            result.set(i, j, sum);
        }
    }
    return result;
}

struct Workspace {
    explicit Workspace(const ProductPlan& plan)
        : memory(static_cast<std::size_t>(plan.workspace_bytes + kWorkspaceAlignment)) {
        void* start = memory.data();
        std::size_t room = memory.size();
        data = std::align(kWorkspaceAlignment, static_cast<std::size_t>(plan.workspace_bytes), start, room);
    }
    std::vector<std::byte> memory;
    void* data = nullptr;
};

class P0Products : public testing::TestWithParam<std::tuple<std::string, Type, std::string>> {
protected:
    P0Products() {
        if (backend_name() == "cpu") {
            backend_ = std::make_unique<cpu::CpuBackend>(shared_pool(2));
        } else {
            backend_ = std::make_unique<ReferenceBackend>();
        }
    }
    static std::string backend_name() { return std::get<0>(GetParam()); }
    static Type type() { return std::get<1>(GetParam()); }
    static std::string algorithm() { return std::get<2>(GetParam()); }
    static ProductPlan plan(std::int64_t n, const P0Thresholds& thresholds) {
        Options options;
        options.device = backend_name();
        options.leaf = backend_name() == "cpu" ? "heptad" : "auto";
        return p0_plan(n, type(), algorithm(), thresholds, options, Machine{});
    }
    RunReport run(const ProductPlan& plan, const GuardedMatrix& a, const GuardedMatrix& b, const GuardedMatrix& c) {
        const Workspace workspace(plan);
        return run_plan(plan, *backend_, 1, a.view(), b.view(), 0, c.view(), workspace.data);
    }
    std::unique_ptr<Backend> backend_;
};

TEST_P(P0Products, levels_1_to_4_equal_the_definition_bit_for_bit) {
    std::mt19937 random(3);
    for (const std::int64_t n : {16, 32, 33, 47, 64, 100}) {
        for (const Layout layout : {Layout::rows, Layout::columns_padded}) {
            GuardedMatrix a(type(), n, n, layout), b(type(), n, n, Layout::rows_padded), c(type(), n, n, layout);
            a.fill_random(random);
            b.fill_random(random);
            const GuardedMatrix expected = definition(a, b, c), old_a = a, old_b = b;
            for (int levels = 1; levels <= 4; ++levels) {
                const ProductPlan p0 = plan(n, p0_thresholds(n, levels));
                ASSERT_EQ(p0.levels.size(), static_cast<std::size_t>(levels));
                GuardedMatrix result = c;
                const RunReport report = run(p0, a, b, result);
                EXPECT_TRUE(result.equals(expected)) << to_string(p0);
                EXPECT_TRUE(a.equals_byte_for_byte(old_a) && b.equals_byte_for_byte(old_b)) << to_string(p0);
                EXPECT_FALSE(report.fell_back);
                EXPECT_EQ(report.workspace_used_bytes, p0.workspace_bytes);
            }
        }
    }
}

TEST_P(P0Products, thresholds_decide_and_the_product_stays_the_same) {
    std::mt19937 random(4);
    GuardedMatrix a(type(), 60, 60, Layout::rows), b(type(), 60, 60, Layout::rows), c(type(), 60, 60, Layout::rows);
    a.fill_random(random);
    b.fill_random(random);
    const GuardedMatrix expected = definition(a, b, c);
    for (const P0Thresholds thresholds : {P0Thresholds{60, 60}, {30, 59}, {8, 60}, {15, 30}, {15, 15}, {7, 14}}) {
        GuardedMatrix result = c;
        run(plan(60, thresholds), a, b, result);
        EXPECT_TRUE(result.equals(expected)) << thresholds.tau1 << " " << thresholds.tau2;
    }
}

class P0FloatProducts : public P0Products {};

TEST_P(P0FloatProducts, non_finite_entries_are_answered_as_by_the_classical_product) {
    std::mt19937 random(5);
    GuardedMatrix a(type(), 32, 32, Layout::rows), b(type(), 32, 32, Layout::rows), c(type(), 32, 32, Layout::rows);
    a.fill_random(random);
    b.fill_random(random);
    a.set(7, 9, std::numeric_limits<double>::quiet_NaN());
    c.fill(3);
    EXPECT_TRUE(run(plan(32, p0_thresholds(32, 3)), a, b, c).fell_back);
    for (std::int64_t i = 0; i < 32; ++i) {
        for (std::int64_t j = 0; j < 32; ++j) {
            EXPECT_EQ(std::isnan(c.get(i, j)), i == 7) << i << ", " << j;
        }
    }
}

std::string case_name(const testing::TestParamInfo<P0Products::ParamType>& of) {
    return std::get<0>(of.param) + "_" + type_name(std::get<1>(of.param)) + "_" + std::get<2>(of.param);
}

INSTANTIATE_TEST_SUITE_P(backends, P0Products,
                         testing::Combine(testing::Values(std::string("reference"), std::string("cpu")),
                                          testing::Values(Type::f32, Type::i32),
                                          testing::Values(std::string("strassen"), std::string("winograd"))),
                         case_name);
INSTANTIATE_TEST_SUITE_P(backends, P0FloatProducts,
                         testing::Combine(testing::Values(std::string("reference"), std::string("cpu")),
                                          testing::Values(Type::f32),
                                          testing::Values(std::string("strassen"), std::string("winograd"))),
                         case_name);

}  // namespace
}  // namespace heptad::test
