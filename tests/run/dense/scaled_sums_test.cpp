// Levels whose sums are kept in f16, as a device runs them, by plain loops: which types blocks have, which powers of
// two are taken out and put back, that sums neither leave the range of f16 nor lose bits at its lower end.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "kernels/backend.hpp"
#include "kernels/equal_slots.hpp"
#include "kernels/guarded_matrix.hpp"
#include "plan/predict/error_bound.hpp"
#include "plan/search/level_layout.hpp"
#include "plan/search/planner.hpp"
#include "run/dense/runner.hpp"

namespace heptad::test {
namespace {

double load(const ConstView& view, std::int64_t i, std::int64_t j) {
    const auto size = static_cast<std::int64_t>(element_bytes(view.type));
    return get_element(view.type,
                       static_cast<const std::byte*>(view.data) + (i * view.row_stride + j * view.col_stride) * size);
}

void store(const View& view, std::int64_t i, std::int64_t j, double x) {
    const auto size = static_cast<std::int64_t>(element_bytes(view.type));
    set_element(view.type, static_cast<std::byte*>(view.data) + (i * view.row_stride + j * view.col_stride) * size, x);
}

class ScalingBackend final : public Backend, private DeferredGuard {
public:
    double largest_sum = 0;  // that was stored in f16
    bool was_classical = false;
    int passes_for_products = 0;

    std::string name() const override { return "cuda"; }

    void combine(const CombinePass& pass) override {
        passes_for_products += pass.only_multiplied ? 1 : 0;
        const std::vector<std::size_t> slot_of = first_equal_slots(pass.slots);
        const double scale = pass.scaling == SumScaling::none        ? 1
                             : pass.scaling == SumScaling::a_to_sums ? std::ldexp(pass.factor, -exponent(0))
                             : pass.scaling == SumScaling::b_to_sums
                                 ? std::ldexp(pass.factor, -exponent(1))
                                 : std::ldexp(pass.factor, exponent(0) + exponent(1));
        const auto [rows, cols] = std::pair{pass.slots.front().rows, pass.slots.front().cols};
        for (std::int64_t i = 0; i < rows; ++i) {
            for (std::int64_t j = 0; j < cols; ++j) {
                std::vector<double> value(pass.slots.size());
                std::vector<bool> known(pass.slots.size());
                std::vector<std::size_t> written;
                for (const CombineStatement& statement : pass.statements) {
                    double sum = 0;
                    for (const CombineTerm& term : statement.terms) {
                        const std::size_t source = slot_of[static_cast<std::size_t>(term.source)];
                        if (!known[source]) {
                            value[source] = load(pass.slots[source], i, j);
                            known[source] = true;
                        }
                        sum += term.coefficient * value[source];
                    }
                    const std::size_t target = slot_of[static_cast<std::size_t>(statement.target)];
                    value[target] = sum;
                    known[target] = true;
                    written.push_back(target);
                }
                for (const std::size_t slot : written) {
                    if (pass.slots[slot].data != nullptr) {
                        store(pass.slots[slot], i, j, scale * value[slot]);
                        largest_sum = std::max(largest_sum,
                                               pass.slots[slot].type == Type::f16 ? std::abs(scale * value[slot]) : 0);
                    }
                }
            }
        }
    }
    void multiply(std::span<const Product> batch, const std::string&) override {
        for (const Product& p : batch) {
            for (std::int64_t i = 0; i < p.c.rows; ++i) {
                for (std::int64_t j = 0; j < p.c.cols; ++j) {
                    double sum = 0;
                    for (std::int64_t q = 0; q < p.a.cols; ++q) {
                        sum += load(p.a, i, q) * load(p.b, q, j);
                    }
                    store(p.c, i, j, p.alpha * sum + (p.beta == 0 ? 0 : p.beta * load(p.c, i, j)));
                }
            }
        }
    }
    ScanResult scan(const ConstView&) override { return {}; }
    void copy(const ConstView& from, const View& to) override {
        combine({{to, View(const_cast<void*>(from.data), from.type, from.rows, from.cols, from.row_stride,
                           from.col_stride)},
                 {{0, {{1, 1}}}}});
    }
    std::vector<std::string> leaves(Type) const override { return {"cublas"}; }
    DeferredGuard* deferred_guard() override { return this; }

private:
    /// e with the largest value below 2^e; anything where that is not finite.
    int exponent(int operand) const {
        int above = 0;
        std::frexp(largest_[operand], &above);
        return std::isfinite(largest_[operand]) ? above : 0;
    }
    void start(const GuardLimits& limits, std::int64_t, std::int64_t, std::int64_t) override {
        limits_ = limits;
        largest_[0] = largest_[1] = 0;
    }
    ProductExponents judge_evenness(const ConstView&, const ConstView&) override { return {}; }
    void watch(int operand, const ConstView& view) override {
        for (std::int64_t i = 0; i < view.rows; ++i) {
            for (std::int64_t j = 0; j < view.cols; ++j) {
                const double x = std::abs(load(view, i, j));
                largest_[operand] = std::isnan(x) || x > largest_[operand] ? x : largest_[operand];
            }
        }
    }
    void answer_if_unsafe(const Product& product, std::span<std::byte>) override {
        if (!(largest_[0] < limits_.a && largest_[1] < limits_.b)) {
            was_classical = true;
            multiply({&product, 1}, "");
        }
    }
    void finish() override {}

    GuardLimits limits_;
    double largest_[2] = {};
};

using Levels = std::vector<LevelPlan>;
const LevelPlan kOnce{"winograd", LevelMode::parallel, ""}, kTwice{"winograd*winograd", LevelMode::parallel, ""};

ProductPlan scaled_plan(Type type, std::int64_t m, std::int64_t k, std::int64_t n, const Levels& levels) {
    Problem problem{m, k, n, type, 1, {}};
    problem.options.device = "cuda";
    problem.options.leaf = "cublas";
    ProductPlan plan = plan_with_levels(problem, Machine{}, levels);
    plan.scaled_sums = true;  // f16 has them anyway, tf32 if it is told
    plan.workspace_bytes = plan_workspace_bytes(plan);
    plan.error_bound = error_bound(plan);
    EXPECT_NO_THROW(check_plan(plan));
    EXPECT_TRUE(plan.scaled_sums && plan.levels.size() == levels.size()) << to_string(plan);
    return plan;
}

void run_there(const ProductPlan& plan, ScalingBackend& backend, double alpha, const GuardedMatrix& a,
               const GuardedMatrix& b, GuardedMatrix& c) {
    std::vector<std::byte> workspace(static_cast<std::size_t>(plan.workspace_bytes), std::byte{0xff});
    run_plan(plan, backend, alpha, a.view(), b.view(), 0, c.view(), workspace.data());
}

void fill_uniform(GuardedMatrix& x, std::mt19937& random, double scale) {
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (std::int64_t i = 0; i < x.view().rows; ++i) {
        for (std::int64_t j = 0; j < x.view().cols; ++j) {
            x.set(i, j, scale * uniform(random));
        }
    }
}

double largest(const GuardedMatrix& x) {
    double found = 0;
    for (std::int64_t i = 0; i < x.view().rows; ++i) {
        for (std::int64_t j = 0; j < x.view().cols; ++j) {
            found = std::max(found, std::abs(x.get(i, j)));
        }
    }
    return found;
}

double error_at(const GuardedMatrix& a, const GuardedMatrix& b, const GuardedMatrix& c, double alpha, std::int64_t i,
                std::int64_t j) {
    double sum = 0;
    for (std::int64_t q = 0; q < a.view().cols; ++q) {
        sum += a.get(i, q) * b.get(q, j);
    }
    return std::abs(c.get(i, j) - alpha * sum);
}

TEST(scaled_sums, products_are_within_the_bound_whatever_the_magnitudes_of_a_and_b) {
    std::mt19937 random(1);
    struct Magnitudes {
        double a, b, alpha;
    };
    for (const Levels& levels : {Levels{kOnce}, Levels{kTwice}, Levels{kOnce, kOnce}, Levels{kOnce, kTwice}}) {
        for (const Magnitudes& m :
             {Magnitudes{1, 1, 1}, Magnitudes{0x1p80, 0x1p-90, -2}, Magnitudes{0x1p-100, 0x1p90, 0.75}}) {
            const std::int64_t rows = 26, inner = 35, cols = 24;  // with fringes
            GuardedMatrix a(Type::tf32, rows, inner, Layout::rows), b(Type::tf32, inner, cols, Layout::columns),
                c(Type::tf32, rows, cols, Layout::rows_padded);
            fill_uniform(a, random, m.a);
            fill_uniform(b, random, m.b);
            const ProductPlan plan = scaled_plan(Type::tf32, rows, inner, cols, levels);
            ScalingBackend backend;
            run_there(plan, backend, m.alpha, a, b, c);
            double error = 0;
            for (std::int64_t i = 0; i < rows; ++i) {
                for (std::int64_t j = 0; j < cols; ++j) {
                    error = std::max(error, error_at(a, b, c, m.alpha, i, j));
                }
            }
            const double unit = std::abs(m.alpha) * largest(a) * largest(b);
            EXPECT_LE(error, plan.error_bound * unit) << to_string(plan);
            EXPECT_GT(error, 0x1p-14 * unit) << "sums were not rounded: " << to_string(plan);
            EXPECT_FALSE(backend.was_classical);
            // Sums of A and of B, of the innermost level alone.
            EXPECT_EQ(backend.passes_for_products, levels.size() == 1 ? 2 : 14);
        }
    }
}

TEST(scaled_sums, those_of_tf32_take_the_upper_end_of_the_range_and_never_leave_it) {
    constexpr double kLargestF16 = 65504;
    const std::int64_t n = 16;
    for (const Levels& levels : {Levels{kOnce}, Levels{kTwice}, Levels{kTwice, kOnce}}) {
        // Signs that make the largest sums of two levels, just below a power of two.
        const auto sign = [](bool left, std::int64_t i, std::int64_t j) {
            return left ? (i == 0 && j == 0 ? -1.0 : 1.0) : (i == 0 && j == 1 ? -1.0 : 1.0);
        };
        GuardedMatrix a(Type::tf32, n, n, Layout::rows), b(Type::tf32, n, n, Layout::rows),
            c(Type::tf32, n, n, Layout::rows);
        for (std::int64_t i = 0; i < n; ++i) {
            for (std::int64_t j = 0; j < n; ++j) {
                for (const bool left : {true, false}) {
                    double signs = 1;
                    for (std::int64_t half = n / 2; half >= 2; half /= 2) {
                        signs *= sign(left, i / half % 2, j / half % 2);
                    }
                    (left ? a : b).set(i, j, signs * 0.9995);
                }
            }
        }
        ScalingBackend backend;
        run_there(scaled_plan(Type::tf32, n, n, n, levels), backend, 1, a, b, c);
        EXPECT_LT(backend.largest_sum, kLargestF16);
        EXPECT_GT(backend.largest_sum, kLargestF16 / 8);
        for (std::int64_t i = 0; i < n; ++i) {
            ASSERT_TRUE(std::isfinite(c.get(i, i)));
        }
    }
    GuardedMatrix a(Type::f16, n, n, Layout::rows), b(Type::f16, n, n, Layout::rows), c(Type::f16, n, n, Layout::rows);
    a.fill(0.9375);
    b.fill(0.9375);
    ScalingBackend backend;
    run_there(scaled_plan(Type::f16, n, n, n, {kTwice}), backend, 1, a, b, c);
    EXPECT_LT(backend.largest_sum, 16) << "products in f16 need the room";
    EXPECT_NEAR(c.get(3, 5), n * 0.9375 * 0.9375, 0x1p-8 * n);
}

TEST(scaled_sums, entries_of_tf32_far_below_the_largest_keep_their_bits) {
    std::mt19937 random(2);
    const std::int64_t n = 16, half = n / 2, row = 15;
    GuardedMatrix a(Type::tf32, n, n, Layout::rows), b(Type::tf32, n, n, Layout::rows),
        c(Type::tf32, n, n, Layout::rows);
    const double small = 0x1p-20;
    fill_uniform(a, random, small);
    fill_uniform(b, random, 1);
    a.set(row, 3, 1);
    const ProductPlan plan = scaled_plan(Type::tf32, n, n, n, {kOnce});
    ScalingBackend backend;
    run_there(plan, backend, 1, a, b, c);
    for (std::int64_t i = 0; i < n; ++i) {
        if (i % half != row % half) {  // the others have sums with the large entry in them
            for (std::int64_t j = 0; j < n; ++j) {
                ASSERT_LE(error_at(a, b, c, 1, i, j), plan.error_bound * small) << i << ", " << j;
            }
        }
    }
}

TEST(scaled_sums, input_that_is_not_finite_or_too_large_is_answered_classically) {
    std::mt19937 random(3);
    const std::int64_t n = 8;
    for (const double odd :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 0x1p101}) {
        GuardedMatrix a(Type::tf32, n, n, Layout::rows), b(Type::tf32, n, n, Layout::rows),
            c(Type::tf32, n, n, Layout::rows);
        fill_uniform(a, random, 1);
        fill_uniform(b, random, 1);
        b.set(2, 6, odd);
        ScalingBackend backend;
        run_there(scaled_plan(Type::tf32, n, n, n, {kOnce}), backend, 1, a, b, c);
        EXPECT_TRUE(backend.was_classical);
        EXPECT_TRUE(std::isfinite(c.get(1, 5)));
        EXPECT_LT(error_at(a, b, c, 1, 1, 5), 1e-6);
    }
}

}  // namespace
}  // namespace heptad::test
