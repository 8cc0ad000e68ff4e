// Plans as a device runs them, by the reference loops: A and B are judged while the product is on its way, products run
// whatever the judgement is, and passes that may not run do not. Where the input is not finite, the answer is the
// classical product's, from operands that were not harmed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "algorithm/schedule.hpp"
#include "kernels/guarded_matrix.hpp"
#include "kernels/reference/reference_backend.hpp"
#include "plan/search/level_layout.hpp"
#include "plan/search/planner.hpp"
#include "run/dense/evenness.hpp"
#include "run/dense/level_runner.hpp"
#include "run/dense/runner.hpp"

namespace heptad::test {
namespace {

class JudgingBackend final : public Backend, private DeferredGuard {
public:
    std::string name() const override { return "cuda"; }
    void combine(const CombinePass& pass) override {
        CombinePass done = pass;
        if (guarded_ && !scaled_) {  // exponents count only where they are needed
            done.exponents.clear();
            done.written_exponents.clear();
        }
        if (guarded_ && pass.watch >= 0) {
            for (int slot = 0; slot < pass.watched_slots; ++slot) {
                const auto at = static_cast<std::size_t>(slot);
                note(pass.watch, pass.slots[at], done.exponents.empty() ? LineExponents{} : done.exponents[at]);
            }
        }
        if (!guarded_ || !pass.only_if_safe || is_safe()) {
            loops_.combine(done);
        }
    }
    void multiply(std::span<const Product> batch, const std::string&) override { loops_.multiply(batch, "reference"); }
    bool fuses(Type, int, int, int) const override { return true; }
    void multiply_fused(std::span<const FusedProduct> instances, FusedOrder order, FusedTile tile) override {
        if (!guarded_ || is_safe()) {
            loops_.multiply_fused(instances, order, tile);
        }
    }
    ScanResult scan(const ConstView& view) override { return loops_.scan(view); }
    void copy(const ConstView& from, const View& to) override { loops_.copy(from, to); }
    std::vector<std::string> leaves(Type type) const override { return loops_.leaves(type); }
    DeferredGuard* deferred_guard() override { return this; }
    bool has_scaled() const { return scaled_ && !fell_back_; }

private:
    void start(const GuardLimits& limits, std::int64_t m, std::int64_t k, std::int64_t n) override {
        limits_ = limits;
        size_ = {m, k, n};
        std::fill(std::begin(seen_), std::end(seen_), 0.0);
        evenness_ = std::numeric_limits<double>::infinity();
        scaled_ = fell_back_ = false;
        guarded_ = true;
    }
    ProductExponents judge_evenness(const ConstView& a, const ConstView& b) override {
        const ScanResult of_a = loops_.scan(a), of_b = loops_.scan(b);
        if (std::isfinite(of_a.max_abs) && std::isfinite(of_b.max_abs)) {
            even_ = heptad::judge_evenness(loops_, a, of_a, b, of_b, {}, limits_.may_scale);
            evenness_ = even_.value;
            scaled_ = even_.scales() && even_.value >= limits_.even_enough;
        }
        even_.rows.resize(static_cast<std::size_t>(size_.m));
        even_.inner.resize(static_cast<std::size_t>(size_.k));
        even_.minus_inner.resize(even_.inner.size());
        even_.cols.resize(static_cast<std::size_t>(size_.n));
        return limits_.may_scale ? ProductExponents{even_.of_a(), even_.of_b()} : ProductExponents{};
    }
    void watch(int operand, const ConstView& view) override {
        note(operand, view,
             !scaled_ || operand == kWatchedC ? LineExponents{}
             : operand == 0                   ? even_.of_a()
                                              : even_.of_b());
    }
    void note(int operand, const ConstView& view, const LineExponents& lines) {
        GuardedMatrix scaled(Type::f64, view.rows, view.cols, Layout::rows);
        for (std::int64_t i = 0; i < view.rows; ++i) {
            for (std::int64_t j = 0; j < view.cols; ++j) {
                const int exponent =
                    (lines.rows == nullptr ? 0 : lines.rows[i]) + (lines.cols == nullptr ? 0 : lines.cols[j]);
                const float x =
                    static_cast<const float*>(view.data)[i * view.row_stride + j * view.col_stride];  // all are f32
                scaled.set(i, j, std::ldexp(static_cast<double>(x), exponent));
            }
        }
        const double here = loops_.scan(scaled.view()).max_abs;
        double& kept = seen_[operand];
        kept = std::isnan(kept) || kept > here ? kept : here;
    }
    void answer_if_unsafe(const Product& product, std::span<std::byte>) override {
        if (!is_safe()) {
            fell_back_ = true;
            loops_.multiply({&product, 1}, "reference");
        }
    }
    void finish() override { guarded_ = false; }
    bool is_safe() const {
        const double a = seen_[0], b = seen_[1];
        return a < limits_.a && b < limits_.b && a * b < limits_.product && seen_[kWatchedC] < limits_.result &&
               evenness_ >= limits_.least_evenness;
    }

    ReferenceBackend loops_;
    GuardLimits limits_;
    ProblemSize size_;
    Evenness even_;
    double seen_[kWatchedC + 1] = {};
    double evenness_ = 0;
    bool guarded_ = false, scaled_ = false, fell_back_ = false;
};

struct Named {
    const char* algorithm;
    LevelMode mode;
    const char* schedule;
};

constexpr Named kPlans[] = {{"alternative-basis", LevelMode::serial, "p1-algorithm-1"},
                            {"winograd", LevelMode::serial, "boyer-in-place-overwrite"},
                            {"winograd", LevelMode::serial, "boyer-accumulate-overwrite"},
                            {"alternative-basis", LevelMode::serial, ""},
                            {"alternative-basis", LevelMode::parallel, ""}};

TEST(deferred_guard, overwriting_plans_answer_input_that_is_not_finite_from_operands_as_they_were) {
    std::mt19937 random(1);
    constexpr double kInf = std::numeric_limits<double>::infinity();
    for (const Named& named : kPlans) {
        for (const int levels : {1, 2, 3}) {
            for (const double beta : {0.0, 2.0}) {
                for (const double special : {0.0, std::numeric_limits<double>::quiet_NaN(), kInf, 3e38}) {
                    for (const bool in_a : {true, false}) {
                        constexpr std::int64_t kSide = 18;  // three levels leave a fringe
                        Problem problem{kSide, kSide, kSide, Type::f32, 1, {}};
                        problem.options.device = "cuda";
                        problem.options.accuracy = Accuracy::fast;
                        problem.options.accumulate = beta != 0;
                        problem.options.overwrite_inputs = true;
                        const ProductPlan plan =
                            plan_with_levels(problem, Machine{},
                                             std::vector<LevelPlan>(static_cast<std::size_t>(levels),
                                                                    {named.algorithm, named.mode, named.schedule}));
                        EXPECT_EQ(plan.overwrite_inputs, beta == 0 || plan.change_basis) << to_string(plan);
                        GuardedMatrix a(Type::f32, kSide, kSide, Layout::rows),
                            b(Type::f32, kSide, kSide, Layout::columns), c(Type::f32, kSide, kSide, Layout::rows);
                        a.fill_random(random, 2);
                        b.fill_random(random, 2);
                        c.fill_random(random, 2);
                        if (special != 0) {
                            (in_a ? a : b)
                                .set(static_cast<std::int64_t>(random() % 16), static_cast<std::int64_t>(random() % 16),
                                     special);
                        }
                        const GuardedMatrix old_a = a, old_b = b;
                        GuardedMatrix expected = c;
                        JudgingBackend backend;
                        backend.multiply(std::vector<Product>{{1, a.view(), b.view(), beta, expected.view()}}, "");
                        std::vector<std::byte> workspace(static_cast<std::size_t>(plan.workspace_bytes),
                                                         std::byte{0xff});  // NaN: nothing there may be trusted
                        run_plan(plan, backend, 1, a.view(), b.view(), beta, c.view(), workspace.data());
                        for (std::int64_t i = 0; i < kSide; ++i) {
                            for (std::int64_t j = 0; j < kSide; ++j) {
                                const double x = c.get(i, j), y = expected.get(i, j);
                                ASSERT_TRUE((std::isnan(x) && std::isnan(y)) || x == y)
                                    << i << ", " << j << ": " << x << " " << y << ", " << special << " in "
                                    << to_string(plan);
                            }
                        }
                        const bool kept = a.equals_byte_for_byte(old_a) && b.equals_byte_for_byte(old_b);
                        EXPECT_EQ(kept, special != 0 || !plan.overwrite_inputs) << special << " in " << to_string(plan);
                    }
                }
            }
        }
    }
}

/// Values that must lead to the classical answer wherever they are, and one that fits.
struct Odd {
    const char* what;
    double value;
    int operand;  // 0: in A, 1: in B, 2: in C
};

TEST(deferred_guard, fused_levels_answer_input_that_is_not_finite_or_could_overflow_like_the_definition) {
    std::mt19937 random(2);
    constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
    const std::vector<std::vector<LevelPlan>> plans = {
        {{"strassen", LevelMode::fused, ""}},
        {{"strassen*strassen", LevelMode::fused, ""}},
        {{"winograd", LevelMode::parallel, ""}, {"strassen", LevelMode::fused, ""}},
        {{"winograd", LevelMode::serial, ""}, {"strassen", LevelMode::fused, ""}}};
    const Odd odds[] = {{"nothing", 1, 0},      {"NaN in A", kNan, 0}, {"Inf in A", kInf, 0}, {"NaN in B", kNan, 1},
                        {"Inf in B", -kInf, 1}, {"large A", 3e38, 0},  {"large B", -2e38, 1}, {"NaN in C", kNan, 2},
                        {"Inf in C", kInf, 2},  {"large C", 3.3e38, 2}};
    for (const std::vector<LevelPlan>& levels : plans) {
        for (const double beta : {0.0, 1.0}) {
            for (const Odd& odd : odds) {
                constexpr std::int64_t kSide = 19;
                Problem problem{kSide, kSide, kSide, Type::f32, 1, {}};
                problem.options.device = "cuda";
                problem.options.accuracy = Accuracy::fast;
                problem.options.accumulate = beta != 0;
                const ProductPlan plan = plan_with_levels(problem, Machine{}, levels);
                ASSERT_EQ(plan.levels.back().mode, LevelMode::fused);
                GuardedMatrix a(Type::f32, kSide, kSide, Layout::rows), b(Type::f32, kSide, kSide, Layout::columns),
                    c(Type::f32, kSide, kSide, Layout::rows_padded);
                a.fill_random(random, 2);
                b.fill_random(random, 2);
                c.fill_random(random, 2);
                GuardedMatrix& holds = odd.operand == 0 ? a : odd.operand == 1 ? b : c;
                holds.set(static_cast<std::int64_t>(random() % kSide), static_cast<std::int64_t>(random() % kSide),
                          odd.value);
                GuardedMatrix expected = c;
                JudgingBackend backend;
                backend.multiply(std::vector<Product>{{1, a.view(), b.view(), beta, expected.view()}}, "");
                std::vector<std::byte> workspace(static_cast<std::size_t>(plan.workspace_bytes), std::byte{0xff});
                run_plan(plan, backend, 1, a.view(), b.view(), beta, c.view(), workspace.data());
                for (std::int64_t i = 0; i < kSide; ++i) {
                    for (std::int64_t j = 0; j < kSide; ++j) {
                        const double x = c.get(i, j), y = expected.get(i, j);
                        ASSERT_TRUE((std::isnan(x) && std::isnan(y)) || x == y)
                            << i << ", " << j << ": " << x << " " << y << ", " << odd.what << ", beta " << beta
                            << " in " << to_string(plan);
                    }
                }
            }
        }
    }
}

/// Multiplies a row of A, a column of B, or a column of A and the row of B that it meets.
struct Scaled {
    int row_of_a, col_of_b, inner;  // -1: none
};

TEST(deferred_guard, uneven_rows_and_columns_are_scaled_where_the_plan_can_and_answered_by_the_definition_otherwise) {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> uniform(0.5, 1);
    const std::vector<std::vector<LevelPlan>> plans = {
        {{"winograd", LevelMode::parallel, ""}, {"winograd", LevelMode::parallel, ""}},
        {{"winograd", LevelMode::serial, ""}},
        {{"alternative-basis", LevelMode::parallel, ""}},
        {{"strassen", LevelMode::fused, ""}},
        {{"winograd", LevelMode::parallel, ""}, {"strassen", LevelMode::fused, ""}}};
    for (const std::vector<LevelPlan>& levels : plans) {
        for (const double beta : {0.0, 1.0}) {
            for (const Scaled& scaled : {Scaled{0, -1, -1}, {13, -1, -1}, {-1, 2, -1}, {-1, 17, -1}, {-1, -1, 9}}) {
                constexpr std::int64_t kSide = 20;
                constexpr double kFactor = 0x1p-20;
                Problem problem{kSide, kSide, kSide, Type::f32, 1, {}};
                problem.options.device = "cuda";
                problem.options.accumulate = beta != 0;
                const ProductPlan plan = plan_with_levels(problem, Machine{}, levels);
                ASSERT_GT(plan.least_evenness, 0);
                GuardedMatrix a(Type::f32, kSide, kSide, Layout::rows), b(Type::f32, kSide, kSide, Layout::columns),
                    c(Type::f32, kSide, kSide, Layout::rows);
                for (std::int64_t i = 0; i < kSide; ++i) {
                    for (std::int64_t j = 0; j < kSide; ++j) {
                        a.set(i, j,
                              uniform(random) * (i == scaled.row_of_a ? kFactor : 1) *
                                  (j == scaled.inner ? 1 / kFactor : 1));
                        b.set(
                            i, j,
                            uniform(random) * (j == scaled.col_of_b ? kFactor : 1) * (i == scaled.inner ? kFactor : 1));
                        c.set(i, j, uniform(random));
                    }
                }
                GuardedMatrix expected = c;
                JudgingBackend backend;
                backend.multiply(std::vector<Product>{{1, a.view(), b.view(), beta, expected.view()}}, "");
                std::vector<std::byte> workspace(static_cast<std::size_t>(plan.workspace_bytes), std::byte{0xff});
                run_plan(plan, backend, 1, a.view(), b.view(), beta, c.view(), workspace.data());
                const auto what = [&] {
                    return fmt::format("row {}, column {}, inner {}, beta {} in {}", scaled.row_of_a, scaled.col_of_b,
                                       scaled.inner, beta, to_string(plan));
                };
                ASSERT_EQ(backend.has_scaled(), can_scale(plan, beta)) << what();
                if (!backend.has_scaled()) {
                    EXPECT_TRUE(c.equals_byte_for_byte(expected)) << what();
                }
                for (std::int64_t i = 0; i < kSide; ++i) {
                    for (std::int64_t j = 0; j < kSide; ++j) {
                        double magnitude = beta;
                        for (std::int64_t l = 0; l < kSide; ++l) {
                            magnitude += a.get(i, l) * b.get(l, j);
                        }
                        ASSERT_LE(std::abs(c.get(i, j) - expected.get(i, j)), 64 * 0x1p-24 * magnitude) << what();
                    }
                }
            }
        }
    }
}

}  // namespace
}  // namespace heptad::test
