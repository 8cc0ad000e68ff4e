// What plans tell of their errors before the product: typical ones are what is measured on even data, and no data goes
// beyond the guaranteed ones, each over the norm that the contract of its word names.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/types.hpp"
#include "kernels/guarded_matrix.hpp"
#include "plan/predict/error_bound.hpp"
#include "plan/predict/promised_error.hpp"
#include "product/data_families.hpp"
#include "product/memory/product.hpp"

namespace heptad::test {
namespace {

using Number = std::function<double(std::int64_t row, std::int64_t col)>;

template <class T>
struct Matrices {
    std::int64_t n;
    std::vector<T> a, b, c;

    Matrices(std::int64_t size, const Number& of_a, const Number& of_b) : n(size), a(count()), b(count()), c(count()) {
        for (std::int64_t i = 0; i < n; ++i) {
            for (std::int64_t j = 0; j < n; ++j) {
                a[at(i, j)] = static_cast<T>(of_a(i, j));
                b[at(i, j)] = static_cast<T>(of_b(i, j));
            }
        }
    }
    std::size_t count() const { return static_cast<std::size_t>(n * n); }
    std::size_t at(std::int64_t i, std::int64_t j) const { return static_cast<std::size_t>(i * n + j); }
    View view(std::vector<T>& x) { return {x.data(), TypeOf<T>::value, n, n, n, 1}; }
};

/// The largest errors over each of the norms, from every `step`-th row.
struct Errors {
    double over_entries = 0, over_lines = 0, over_matrices = 0;
};
template <class T>
Errors errors_of(const Matrices<T>& x, std::int64_t step) {
    using Higher = std::conditional_t<std::is_same_v<T, float>, double, long double>;
    const auto n = static_cast<std::size_t>(x.n);
    std::vector<double> col_norm(n), row_norm(n);
    double max_a = 0, max_b = 0;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            const double a = x.a[i * n + j], b = x.b[i * n + j];
            row_norm[i] = std::hypot(row_norm[i], a);
            col_norm[j] = std::hypot(col_norm[j], b);
            max_a = std::max(max_a, std::abs(a));
            max_b = std::max(max_b, std::abs(b));
        }
    }
    Errors errors;
    const auto note = [](double& largest, double error, double norm) {
        largest = std::max(largest, error == 0 ? 0 : error / norm);
    };
    for (std::size_t i = 0; i < n; i += static_cast<std::size_t>(step)) {
        for (std::size_t j = 0; j < n; ++j) {
            Higher sum = 0, size = 0;
            for (std::size_t p = 0; p < n; ++p) {
                const Higher term = static_cast<Higher>(x.a[i * n + p]) * static_cast<Higher>(x.b[p * n + j]);
                sum += term;
                size += std::abs(term);
            }
            const auto error = static_cast<double>(std::abs(static_cast<Higher>(x.c[i * n + j]) - sum));
            note(errors.over_entries, error, static_cast<double>(size));
            note(errors.over_lines, error, row_norm[i] * col_norm[j]);
            note(errors.over_matrices, error, max_a * max_b);
        }
    }
    return errors;
}

Options with_levels(Accuracy accuracy, int levels) {
    Options options;
    options.device = "cpu";
    options.accuracy = accuracy;
    options.levels = levels;
    options.algorithm = levels > 0 ? "winograd" : "auto";
    return options;
}

template <class T>
ProductPlan multiply(Matrices<T>& x, const Options& options) {
    const ProductPlan plan = plan_product(x.n, x.n, x.n, TypeOf<T>::value, options, {});
    multiply_in_memory(1, x.view(x.a), x.view(x.b), 0, x.view(x.c), plan, {});
    return plan;
}

ErrorPromise promise_of(const ProductPlan& plan) {
    return promised_error(plan, expected_growth(plan), false);
}

template <class T>
class promised : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(promised, Floats);

TYPED_TEST(promised, typical_errors_of_classical_products_are_those_that_are_measured) {
    std::mt19937_64 random(7);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform(-1, 1);
    const double typical = typical_classical_error(TypeOf<TypeParam>::value);
    for (const bool is_normal : {false, true}) {
        const Number draw = [&](std::int64_t, std::int64_t) { return is_normal ? normal(random) : uniform(random); };
        for (const std::int64_t n : {256, 512, 1024}) {
            Matrices<TypeParam> x(n, draw, draw);
            const ProductPlan plan = multiply(x, with_levels(Accuracy::strict, 0));
            const double largest = errors_of(x, n / 32).over_lines;
            std::printf("%s n = %d: %.2g of |a_i||b_j|, %.2f roundoffs, by %s\n", is_normal ? "normal" : "uniform",
                        static_cast<int>(n), largest, largest / unit_roundoff(plan.type), plan.leaf.c_str());
            EXPECT_LT(largest, 3 * typical);
            EXPECT_GT(largest, typical / 6);
        }
    }
}

TYPED_TEST(promised, no_data_goes_beyond_what_is_guaranteed) {
    std::mt19937_64 random(11);
    std::uniform_real_distribution<double> uniform(-1, 1);
    constexpr std::int64_t kSide = 192;
    const Number even = [&](std::int64_t, std::int64_t) { return uniform(random); };
    const Number rows = [&](std::int64_t i, std::int64_t) {
        return std::ldexp(uniform(random), -static_cast<int>(i / 6));
    };
    const Number cols = [&](std::int64_t, std::int64_t j) {
        return std::ldexp(uniform(random), -static_cast<int>(j / 6));
    };
    const Number huge = [&](std::int64_t i, std::int64_t j) { return uniform(random) * (i == 3 && j == 5 ? 1e6 : 1); };
    for (const auto& [a, b] : std::vector<std::pair<Number, Number>>{
             {even, even}, {rows, cols}, {cols, rows}, {rows, rows}, {huge, huge}, {even, huge}}) {
        for (const Accuracy accuracy : {Accuracy::strict, Accuracy::balanced, Accuracy::fast}) {
            for (const int levels : {0, 1, 2}) {
                Matrices<TypeParam> x(kSide, a, b);
                const ProductPlan plan = multiply(x, with_levels(accuracy, accuracy == Accuracy::strict ? 0 : levels));
                const ErrorPromise promise = promise_of(plan);
                const Errors errors = errors_of(x, 1);
                if (plan.levels.empty()) {
                    ASSERT_EQ(promise.over, BoundOver::entries);
                    EXPECT_LE(errors.over_entries, promise.bound);
                } else if (accuracy == Accuracy::balanced) {
                    ASSERT_EQ(promise.over, BoundOver::lines);
                    EXPECT_LE(errors.over_lines, promise.bound);
                } else {
                    ASSERT_EQ(promise.over, BoundOver::matrices);
                    EXPECT_LE(errors.over_matrices, promise.bound);
                }
            }
        }
    }
}

TYPED_TEST(promised, no_family_goes_beyond_what_norms_guarantee) {
    constexpr std::int64_t kSide = 160;
    double closest = 0;
    for (const testing_data::Family& family : testing_data::all_families()) {
        testing_data::Random random(5);
        testing_data::Matrix<double> a(kSide, kSide), b(kSide, kSide);
        family.make(a, b, random);
        for (const int levels : {1, 2, 3}) {
            Matrices<TypeParam> x(
                kSide, [&](std::int64_t i, std::int64_t j) { return a.at(i, j); },
                [&](std::int64_t i, std::int64_t j) { return b.at(i, j); });
            const ErrorPromise promise = promise_of(multiply(x, with_levels(Accuracy::balanced, levels)));
            ASSERT_EQ(promise.over, BoundOver::lines);
            const double error = errors_of(x, sizeof(TypeParam) == 8 ? 9 : 1).over_lines;  // long doubles are slow
            EXPECT_LE(error, promise.bound) << family.name << " " << levels;
            closest = std::max(closest, error / promise.bound);
        }
    }
    std::printf("errors come within a factor of %.2g of the bound\n", 1 / closest);
    EXPECT_GT(closest, 1e-6);  // it says something
}

TEST(promised_error, words_are_told_by_plans_and_their_norms) {
    const auto plan = [](Type type, Accuracy accuracy, int levels) {
        return plan_product(512, 512, 512, type, with_levels(accuracy, levels), {});
    };
    const double u = 0x1p-24;
    const ErrorPromise strict = promise_of(plan(Type::f32, Accuracy::strict, 0));
    EXPECT_EQ(strict.growth, 1);
    EXPECT_DOUBLE_EQ(strict.bound, 514 * u / (1 - 514 * u));
    const ProductPlan two = plan(Type::f32, Accuracy::balanced, 2);
    const ErrorPromise balanced = promise_of(two);
    EXPECT_EQ(balanced.growth, expected_growth(two));
    EXPECT_GT(balanced.growth, 1);
    EXPECT_DOUBLE_EQ(balanced.typical, balanced.growth * strict.typical);
    EXPECT_DOUBLE_EQ(balanced.bound, 64 * line_error_bound(two));
    EXPECT_LT(balanced.bound, 64 * two.error_bound / 100);
    ProductPlan short_one = two;
    short_one.type = Type::bf16;
    EXPECT_DOUBLE_EQ(promise_of(short_one).bound, 64 * line_error_bound(short_one));
    EXPECT_EQ(promise_of(plan(Type::f32, Accuracy::fast, 2)).over, BoundOver::matrices);
    const ErrorPromise exact = promise_of(plan(Type::i32, Accuracy::balanced, 2));
    EXPECT_EQ(exact.over, BoundOver::nothing);
    EXPECT_EQ(exact.typical, 0);
    EXPECT_EQ(exact.bound, 0);
}

TEST(promised_error, levels_of_every_place_are_counted) {
    ProductPlan plan = plan_product(512, 512, 512, Type::f32, with_levels(Accuracy::balanced, 1), {});
    const double inside = expected_growth(plan), bound = promise_of(plan).bound;
    plan.host.emplace().algorithm = "winograd";
    plan.host->levels = 1;
    plan.host->block_k = 512;
    plan.k = 1024;
    EXPECT_DOUBLE_EQ(expected_growth(plan), inside * inside);
    // Judged by the host, and sums of blocks below again; a level of Winograd's multiplies errors by 18.
    EXPECT_NEAR(promise_of(plan).bound / (64 * 18 * bound), 1, 0.01);
    plan.host.reset();
    plan.levels.clear();
    plan.least_evenness = 0;
    plan.disk.emplace().algorithm = "winograd";
    plan.disk->levels = 1;
    EXPECT_DOUBLE_EQ(expected_growth(plan), inside);
    EXPECT_EQ(promised_error(plan, 2, true).over, BoundOver::lines);
    EXPECT_EQ(promised_error(plan, 2, false).over, BoundOver::matrices);
    EXPECT_EQ(promised_error(plan, 2, true).growth, 2);
}

TEST(promised_error, grows_as_k_everywhere) {
    const auto plan = [](std::int64_t n, Type type) {
        return plan_product(n, n, n, type, with_levels(Accuracy::balanced, 1), {});
    };
    const auto ratio = [](const ProductPlan& large, const ProductPlan& small) {
        return promised_error(large, 1, true).bound / promised_error(small, 1, true).bound;
    };
    ProductPlan small = plan(2048, Type::f32), large = plan(16384, Type::f32);
    EXPECT_NEAR(ratio(large, small), 8, 0.3);
    small.backend = large.backend = "cuda";  // a sixteenth of every line
    EXPECT_NEAR(ratio(large, small), 8, 0.3);
    EXPECT_LT(promise_of(large).bound, 64 * large.error_bound / 50);
    small.type = large.type = Type::bf16;
    EXPECT_LT(ratio(large, small), 2);  // roundings to the type beside sums in f32
    EXPECT_LT(promise_of(large).bound, 64 * error_bound(large) / 50);
    for (ProductPlan* const files : {&small, &large}) {
        *files = plan(files == &small ? 1024 : 8192, Type::f32);
        files->disk.emplace().algorithm = "strassen";
        files->disk->levels = 1;
        files->disk->depth = files->k;
        files->k *= 2;
    }
    EXPECT_NEAR(ratio(large, small), 8, 0.3);
    for (ProductPlan* const ranks : {&small, &large}) {
        ranks->disk.reset();
        ranks->rank.emplace().algorithm = ClusterAlgorithm::caps;
        ranks->rank->steps = 1;
    }
    const auto of_ranks = [&](const ProductPlan& whole) {
        return promised_error(whole, plan(whole.k / 2, Type::f32), Accuracy::balanced).bound;
    };
    EXPECT_NEAR(of_ranks(large) / of_ranks(small), 8, 0.3);
}

TEST(promised_error, a_sum_of_products_along_k_rounds_once_for_each) {
    ProductPlan plan = plan_product(512, 512, 512, Type::f32, with_levels(Accuracy::balanced, 1), {});
    const double of_one = promise_of(plan).bound;
    plan.k = 4096;
    plan.disk.emplace().depth = 512;
    EXPECT_NEAR(promise_of(plan).bound, of_one + 7 * 0x1p-24, 0.01 * of_one);
    EXPECT_GT(promise_of(plan).bound, of_one + 7 * 0x1p-24);
}

// C of 16 bits is rounded with every part of k, by half of its last digit: here all parts are lost.
TEST(promised_error, parts_of_k_round_c_of_16_bits_once_each) {
    for (const Type type : {Type::bf16, Type::f16}) {
        const double u = unit_roundoff(type);
        ProductPlan plan = plan_product(1, 512, 1, type, with_levels(Accuracy::strict, 0), {});
        const double of_one = promise_of(plan).bound;
        plan.disk.emplace().depth = 16;
        const ErrorPromise promise = promise_of(plan);
        EXPECT_EQ(promise.over, BoundOver::entries);
        EXPECT_NEAR(promise.bound, of_one + 31 * u, 2 * 32 * 32 * u * u);
        GuardedMatrix a(type, 1, 512, Layout::rows), b(type, 512, 1, Layout::rows), c(type, 1, 1, Layout::rows);
        a.fill(1);
        b.fill(u / 16);
        b.set(0, 0, 1);
        for (std::int64_t p = 0; p < 512; p += 16) {
            multiply_in_memory(1, block(a.view(), 0, p, 1, 16), block(b.view(), p, 0, 16, 1), p > 0 ? 1 : 0, c.view(),
                               with_levels(Accuracy::strict, 0), {});
        }
        const double exact = 1 + 511 * u / 16, error = std::abs(c.get(0, 0) - exact) / exact;
        EXPECT_GT(error, of_one);
        EXPECT_LE(error, promise.bound);
        // Ranks add up as files do.
        ProductPlan block_of_rank = plan_product(1, 16, 1, type, with_levels(Accuracy::strict, 0), {});
        plan.disk.reset();
        plan.rank.emplace().algorithm = ClusterAlgorithm::grid;
        EXPECT_EQ(promised_error(plan, block_of_rank, Accuracy::strict).bound, promise.bound);
    }
}

// Libraries add to C part by part of k. Each is less than half the last digit of C here, and lost.
TYPED_TEST(promised, what_c_held_may_be_rounded_with_every_part_of_k) {
    constexpr std::int64_t kDepth = 16384;
    constexpr Type type = TypeOf<TypeParam>::value;
    const double u = unit_roundoff(type);
    for (const std::int64_t part : {32, 128, 256, 384, 512, 1024}) {
        const auto value = static_cast<TypeParam>(0.9 * u / static_cast<double>(part));
        std::vector<TypeParam> a(8 * kDepth, 1), b(8 * kDepth, value), c(64, 1);
        const ConstView left{a.data(), type, 8, kDepth, kDepth, 1}, right{b.data(), type, kDepth, 8, 8, 1};
        const ProductPlan plan = plan_product(8, kDepth, 8, type, with_levels(Accuracy::strict, 0), {});
        multiply_in_memory(1, left, right, 1, {c.data(), type, 8, 8, 8, 1}, with_levels(Accuracy::strict, 0), {});
        const long double of_product = static_cast<long double>(value) * kDepth;
        for (const TypeParam x : c) {
            EXPECT_LE(std::abs(static_cast<double>(x - (1 + of_product))),
                      promise_of(plan).bound * static_cast<double>(of_product) + gamma_of(kDepth + 2, u) + 2 * u);
        }
    }
}

TEST(promised_error, blocks_of_ranks_add_up) {
    ProductPlan block = plan_product(256, 256, 256, Type::f32, with_levels(Accuracy::balanced, 1), {});
    ProductPlan plan;
    plan.m = plan.k = plan.n = 1024;
    plan.rank.emplace().algorithm = ClusterAlgorithm::grid;
    const ErrorPromise promise = promised_error(plan, block, Accuracy::balanced);
    EXPECT_EQ(promise.over, BoundOver::lines);
    EXPECT_EQ(promise.growth, expected_growth(block));
    EXPECT_NEAR(promise.bound, 64 * line_error_bound(block) + 3 * 0x1p-24, 1e-8);
    plan.rank->algorithm = ClusterAlgorithm::caps;
    plan.rank->steps = 2;
    EXPECT_GT(promised_error(plan, block, Accuracy::balanced).growth, promise.growth);
    block.levels.clear();
    block.least_evenness = 0;
    plan.rank->algorithm = ClusterAlgorithm::grid;
    EXPECT_EQ(promised_error(plan, block, Accuracy::balanced).over, BoundOver::entries);
    plan.type = block.type = Type::i32;
    EXPECT_EQ(promised_error(plan, block, Accuracy::balanced).over, BoundOver::nothing);
}

TEST(promised_error, a_result_that_is_stored_in_fewer_bits_is_rounded_once_more) {
    const double u = 0x1p-11;
    for (const Accuracy accuracy : {Accuracy::strict, Accuracy::balanced, Accuracy::fast}) {
        const ProductPlan plan =
            plan_product(512, 512, 512, Type::f32, with_levels(accuracy, accuracy == Accuracy::strict ? 0 : 1), {});
        const ErrorPromise before = promise_of(plan), after = stored_as(Type::f16, plan, before);
        const double norm = accuracy == Accuracy::fast ? 512 : 1;
        EXPECT_EQ(after.over, before.over);
        EXPECT_DOUBLE_EQ(after.bound, before.bound + u * (norm + before.bound));
        EXPECT_EQ(after.roundoff, u);
        EXPECT_GE(after.typical, typical_classical_error(Type::f16));
        EXPECT_EQ(stored_as(Type::f32, plan, before).bound, before.bound);
        EXPECT_EQ(stored_as(Type::f64, plan, before).bound, before.bound);
    }
    ProductPlan exact = plan_product(64, 64, 64, Type::i32, with_levels(Accuracy::balanced, 0), {});
    EXPECT_EQ(stored_as(Type::f16, exact, promise_of(exact)).bound, 0);
}

TEST(promised_error, short_floats_add_in_f32) {
    ProductPlan plan;
    plan.m = plan.k = plan.n = 4096;
    for (const Type type : {Type::tf32, Type::bf16, Type::f16}) {
        plan.type = type;
        const double of_values = (type == Type::tf32 ? 2 : 1) * unit_roundoff(type);
        EXPECT_NEAR(classical_promise(plan).bound, of_values + 4098 * 0x1p-24, 1e-7) << type_name(type);
    }
}

}  // namespace
}  // namespace heptad::test
