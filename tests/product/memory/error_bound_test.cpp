// Floats stay within the bound that the plan prints, and the growth of the error on random data is what the planner
// expects of it.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "algorithm/catalogue.hpp"
#include "base/error.hpp"
#include "plan/predict/error_bound.hpp"
#include "product/classical_error.hpp"
#include "product/memory/product.hpp"

namespace heptad::test {
namespace {

#ifdef HEPTAD_REDUCED_TESTS
constexpr bool kReduced = true;
#else
constexpr bool kReduced = false;
#endif

template <class T>
struct Square {
    std::int64_t n;
    std::vector<T> data;
    explicit Square(std::int64_t size) : n(size), data(static_cast<std::size_t>(size * size)) {}
    T& operator()(std::int64_t i, std::int64_t j) { return data[static_cast<std::size_t>(i * n + j)]; }
    const T& operator()(std::int64_t i, std::int64_t j) const { return data[static_cast<std::size_t>(i * n + j)]; }
    View view() { return {data.data(), TypeOf<T>::value, n, n, n, 1}; }
    double largest() const {
        double result = 0;
        for (const T x : data) {
            result = std::max(result, std::abs(static_cast<double>(x)));
        }
        return result;
    }
};

/// How the entries of A and B are chosen; the last two make the large terms meet the small ones.
enum class Data { uniform, positive, scaled_blocks, graded };

template <class T>
Square<T> random_square(std::int64_t n, Data data, bool is_a, std::mt19937_64& random) {
    Square<T> result(n);
    std::uniform_real_distribution<double> uniform(data == Data::positive ? 0 : -1, 1);
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
            double scale = 1;
            if (data == Data::scaled_blocks) {
                scale = (i < n / 2) == (j < n / 2) ? 1 : 0x1p-12;
            } else if (data == Data::graded) {
                scale = std::exp2(-20.0 * static_cast<double>(is_a ? j : i) / static_cast<double>(n));
            }
            result(i, j) = static_cast<T>(scale * uniform(random));
        }
    }
    return result;
}

struct Measured {
    double largest = 0, rms = 0;
};

/// Against a product in a higher precision (f32: double; f64: long double), over every `step`-th row.
template <class T>
Measured measure(const Square<T>& a, const Square<T>& b, const Square<T>& c, std::int64_t step) {
    using Higher = std::conditional_t<std::is_same_v<T, float>, double, long double>;
    Measured result;
    std::int64_t count = 0;
    std::vector<Higher> row(static_cast<std::size_t>(a.n));
    for (std::int64_t i = 0; i < a.n; i += step) {
        std::fill(row.begin(), row.end(), Higher{0});
        for (std::int64_t q = 0; q < a.n; ++q) {
            const Higher factor = a(i, q);
            for (std::int64_t j = 0; j < a.n; ++j) {
                row[static_cast<std::size_t>(j)] += factor * static_cast<Higher>(b(q, j));
            }
        }
        for (std::int64_t j = 0; j < a.n; ++j) {
            const double error =
                std::abs(static_cast<double>(static_cast<Higher>(c(i, j)) - row[static_cast<std::size_t>(j)]));
            result.largest = std::isnan(error) ? HUGE_VAL : std::max(result.largest, error);
            result.rms += error * error;
            ++count;
        }
    }
    result.rms = std::sqrt(result.rms / static_cast<double>(count));
    return result;
}

template <class T>
void check_bound(std::int64_t n, const std::vector<std::string>& names, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    int products = 0;
    for (const Data data : {Data::uniform, Data::positive, Data::scaled_blocks, Data::graded}) {
        const Square<T> a_const = random_square<T>(n, data, true, random);
        const Square<T> b_const = random_square<T>(n, data, false, random);
        Square<T> a = a_const;
        Square<T> b = b_const;
        for (const std::string& name : names) {
            for (int levels = 0; levels <= 4; ++levels) {
                for (const char* mode : {"serial", "parallel"}) {
                    Options options;
                    options.accuracy = Accuracy::fast;  // those levels, whatever the data is like
                    options.algorithm = name;
                    options.levels = levels;
                    options.mode = mode;
                    const ProductPlan plan = plan_product(n, n, n, TypeOf<T>::value, options, {});
                    if (static_cast<int>(plan.levels.size()) != levels) {
                        continue;
                    }
                    Square<T> c(n);
                    const RunReport report = multiply_in_memory(1, a.view(), b.view(), 0, c.view(), options, {});
                    ASSERT_FALSE(report.fell_back);
                    const Measured error = measure(a, b, c, 1);
                    ASSERT_GT(plan.error_bound, 0);
                    ASSERT_LE(error.largest, plan.error_bound * a.largest() * b.largest())
                        << name << " levels " << levels << " " << mode << " data " << static_cast<int>(data);
                    ASSERT_TRUE(std::isfinite(error.rms));
                    ++products;
                }
            }
        }
    }
    testing::Test::RecordProperty("products", products);
}

std::vector<std::string> float_algorithms() {
    std::vector<std::string> names;
    for (const std::string& name : algorithm_names(true)) {
        const Algorithm& algorithm = find_algorithm(name).algorithm;
        if (algorithm_admits(algorithm, Type::f32) && (!kReduced || algorithm.rank() < 12)) {
            names.push_back(name);
        }
    }
    return names;
}

TEST(error_bound, every_algorithm_stays_within_the_bound_in_f32) {
    check_bound<float>(kReduced ? 16 : 50, float_algorithms(), 1);
}

TEST(error_bound, every_algorithm_stays_within_the_bound_in_f64) {
    check_bound<double>(kReduced ? 16 : 32, float_algorithms(), 2);
}

TEST(error_bound, rms_error_grows_as_the_planner_expects) {
    const std::int64_t n = kReduced ? 64 : 512;
    std::mt19937_64 random(3);
    Square<float> a = random_square<float>(n, Data::uniform, true, random);
    Square<float> b = random_square<float>(n, Data::uniform, false, random);
    const auto error_of = [&](const std::string& name, int levels, ProductPlan& plan) {
        Options options;
        options.accuracy = Accuracy::fast;
        options.algorithm = name;
        options.levels = levels;
        plan = plan_product(n, n, n, Type::f32, options, {});
        Square<float> c(n);
        multiply_in_memory(1, a.view(), b.view(), 0, c.view(), options, {});
        return measure(a, b, c, 8).rms;
    };
    ProductPlan plan;
    Square<float> by_vectors(n);
    cpu::gemm({1, a.view(), b.view(), 0, by_vectors.view()}, testing_data::set_of_vectors());
    const double classical = measure(a, b, by_vectors, 8).rms;
    ASSERT_GT(classical, 0);
    for (const char* name : {"winograd", "strassen", "alternative-basis", "2x2x2-7-accurate", "3x3x3-23"}) {
        for (int levels = 1; levels <= 3; ++levels) {
            const double ratio = error_of(name, levels, plan) / classical;
            const double expected = expected_growth(plan.levels);
            RecordProperty(fmt::format("{}_{}_levels_measured", name, levels), fmt::format("{:.3f}", ratio));
            RecordProperty(fmt::format("{}_{}_levels_expected", name, levels), fmt::format("{:.3f}", expected));
            EXPECT_GT(ratio, 0.3) << name << " " << levels;
            // The planner's word is an upper estimate: leaves add up to fewer roundings as k shrinks.
            EXPECT_LT(ratio, 1.3 * expected) << name << " " << levels;
        }
    }
}

TEST(error_bound, a_change_of_basis_is_charged_for_what_cancels) {
    Options options;
    options.levels = 2;
    options.algorithm = "alternative-basis";
    const ProductPlan changed = plan_product(64, 64, 64, Type::f32, options, {});
    ASSERT_TRUE(changed.change_basis);
    options.algorithm = "winograd";
    EXPECT_GT(changed.error_bound, plan_product(64, 64, 64, Type::f32, options, {}).error_bound);
}

TEST(error_bound, exact_types_have_none_and_more_levels_have_more) {
    Options options;
    options.levels = 2;
    EXPECT_EQ(plan_product(64, 64, 64, Type::i32, options, {}).error_bound, 0);
    EXPECT_EQ(plan_product(64, 64, 64, Type::gf2, options, {}).error_bound, 0);
    double last = 0;
    for (options.levels = 0; options.levels <= 4; ++options.levels) {
        const double bound = plan_product(128, 128, 128, Type::f32, options, {}).error_bound;
        EXPECT_GT(bound, last);
        last = bound;
    }
}

}  // namespace
}  // namespace heptad::test
