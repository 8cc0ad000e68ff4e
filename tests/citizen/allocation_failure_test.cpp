// Products in memory, and over several CPU devices, whose i-th allocation fails, for every i.
#include <algorithm>
#include <cstring>

#include "base/half.hpp"
#include "citizen/short_of_memory.hpp"

namespace heptad::citizen {
namespace {

#ifdef HEPTAD_REDUCED_TESTS
constexpr std::int64_t kMost = 12;
#else
constexpr std::int64_t kMost = 300;
#endif

template <class T>
T element_of(int value) {
    if constexpr (std::is_same_v<T, bf16>) {
        return to_bf16(static_cast<float>(value));
    } else if constexpr (std::is_same_v<T, f16>) {
        return to_f16(static_cast<float>(value));
    } else if constexpr (std::is_same_v<T, gf2>) {
        return {static_cast<std::uint8_t>(value & 1)};
    } else if constexpr (std::is_same_v<T, bool>) {
        return value > 0;
    } else {
        return static_cast<T>(value);
    }
}

/// A of m x k, B of k x n and what C is to be, of small integers.
template <class T>
class Dense {
public:
    Dense(std::int64_t m, std::int64_t k, std::int64_t n) : m_(m), k_(k), n_(n) {
        const std::vector<int> a = integers(m * k, 1), b = integers(k * n, 2);
        fill(a_, a);
        fill(b_, b);
        std::vector<int> expected(static_cast<std::size_t>(m * n));
        for (std::int64_t i = 0; i < m; ++i) {
            for (std::int64_t j = 0; j < n; ++j) {
                int sum = 0;
                for (std::int64_t l = 0; l < k; ++l) {
                    const int x = a[static_cast<std::size_t>(i * k + l)], y = b[static_cast<std::size_t>(l * n + j)];
                    sum += std::is_same_v<T, bool> ? (x > 0 && y > 0 ? 1 : 0) : x * y;
                }
                expected[static_cast<std::size_t>(i * n + j)] = sum;
            }
        }
        fill(expected_, expected);
        poison();
    }

    MatrixView<const T> a() const { return MatrixView<const T>::row_major(data(a_), m_, k_); }
    MatrixView<const T> b() const { return MatrixView<const T>::row_major(data(b_), k_, n_); }
    MatrixView<T> c() { return MatrixView<T>::row_major(reinterpret_cast<T*>(c_.data()), m_, n_); }
    void poison() { c_.assign(expected_.size(), '\x7f'); }
    bool is_right() const { return c_ == expected_; }

    TriedProduct product(const Options& options, const Context& context = {}) {
        return {[this] {
                    poison();
                    ++times_;
                },
                [this, options, context] { multiply(a(), b(), c(), planned_anew(options), context); },
                [this] { return is_right(); }};
    }
    /// With a limit that no plan was kept for.
    Options planned_anew(Options options) const {
        options.workspace_limit_bytes -= times_;
        return options;
    }

private:
    /// So few and small that sums over 64 of them are exact in bf16.
    static std::vector<int> integers(std::int64_t count, std::uint64_t seed) {
        std::mt19937_64 random(seed);
        std::vector<int> values(static_cast<std::size_t>(count));
        std::generate(values.begin(), values.end(), [&] { return static_cast<int>(random() % 3) - 1; });
        return values;
    }
    static void fill(std::string& to, const std::vector<int>& values) {
        to.resize(values.size() * sizeof(T));
        for (std::size_t i = 0; i < values.size(); ++i) {
            const T element = element_of<T>(values[i]);
            std::memcpy(to.data() + i * sizeof(T), &element, sizeof(T));
        }
    }
    static const T* data(const std::string& bytes) { return reinterpret_cast<const T*>(bytes.data()); }

    std::int64_t m_, k_, n_, times_ = 0;
    std::string a_, b_, c_, expected_;
};

Options forced(int levels, const std::string& mode) {
    Options options;
    options.levels = levels;
    options.mode = mode;
    options.accuracy = Accuracy::fast;
    options.leaf = "heptad";
    return options;
}

Context on_threads(int threads) {
    Context context;
    context.set_threads(threads);
    return context;
}

template <class T>
class EveryType : public ::testing::Test {};
using Types = ::testing::Types<double, float, bf16, f16, std::int32_t, gf2, bool>;
TYPED_TEST_SUITE(EveryType, Types);

TYPED_TEST(EveryType, plain_product_short_of_memory_is_right_or_says_so) {
    Dense<TypeParam> dense(33, 17, 29);
    Options options;
    options.levels = 0;
    expect_survives(dense.product(options, on_threads(2)), kMost / 2);
}

TYPED_TEST(EveryType, product_as_planned_short_of_memory_is_right_or_says_so) {
    Dense<TypeParam> dense(70, 64, 65);
    expect_survives(dense.product({}, on_threads(3)), kMost / 2);
}

TEST(ShortOfMemory, serial_levels_are_right_or_say_so) {
    Dense<float> dense(65, 70, 61);
    expect_survives(dense.product(forced(2, "serial"), on_threads(1)), kMost);
}

TEST(ShortOfMemory, parallel_levels_on_threads_are_right_or_say_so) {
    Dense<double> dense(65, 70, 61);
    expect_survives(dense.product(forced(2, "parallel"), on_threads(4)), kMost);
}

TEST(ShortOfMemory, integers_on_levels_are_right_or_say_so) {
    Dense<std::int32_t> dense(50, 41, 47);
    expect_survives(dense.product(forced(1, "auto"), on_threads(2)), kMost);
}

TEST(ShortOfMemory, product_with_a_kept_plan_is_right_or_says_so) {
    Dense<float> dense(96, 80, 72);
    TriedProduct product = dense.product(forced(1, "parallel"), on_threads(2));
    product.prepare = [&] { dense.poison(); };
    expect_survives(product, kMost);
}

TEST(ShortOfMemory, packed_bits_from_bytes_are_right_or_say_so) {
    Dense<gf2> dense(130, 140, 150);
    Options options;
    options.leaf = "packed";
    expect_survives(dense.product(options, on_threads(2)), kMost);
}

TEST(ShortOfMemory, batch_is_right_or_says_so) {
    Dense<double> dense(24, 20, 28);
    std::vector<double> c(5 * 24 * 28);
    TriedProduct product = dense.product({});
    product.multiply = [&] {
        multiply_strided_batch(1, dense.a(), 0, dense.b(), 0, 0, MatrixView<double>::row_major(c.data(), 24, 28),
                               24 * 28, 5, dense.planned_anew({}), on_threads(3));
        std::memcpy(dense.c().data, c.data() + 4 * 24 * 28, 24 * 28 * sizeof(double));
    };
    expect_survives(product, kMost);
}

TEST(ShortOfMemory, plan_through_its_text_is_right_or_says_so) {
    Dense<float> dense(40, 36, 44);
    TriedProduct product = dense.product({});
    product.multiply = [&] {
        const Plan made = plan({40, 36, 44}, Type::f32, dense.planned_anew(forced(1, "parallel")), on_threads(2));
        const Plan copy = Plan::parse(made.to_string());
        multiply(1, dense.a(), dense.b(), 0, dense.c(), copy);
    };
    expect_survives(product, kMost);
}

TEST(ShortOfMemory, products_over_cpu_devices_are_right_or_say_so) {
    Dense<std::int32_t> dense(60, 50, 70);
    for (const int levels : {0, 1}) {
        Options options;
        options.device = "cpu:2";
        options.host.levels = levels;
        expect_survives(dense.product(options), kMost / 2);
    }
}

}  // namespace
}  // namespace heptad::citizen
