// How even data is called, and what is taken out of it, on the families that accuracy is promised for.
#include "run/dense/evenness.hpp"

#include <gtest/gtest.h>

#include "kernels/cpu/cpu_backend.hpp"
#include "plan/search/planner.hpp"
#include "product/data_families.hpp"

namespace heptad {
namespace {

using namespace testing_data;

Evenness judged(const Matrix<double>& a, const Matrix<double>& b, bool by_columns = false) {
    ThreadPool pool(1);
    cpu::CpuBackend backend(pool);
    Matrix<float> x = rounded_to<float>(a), y = rounded_to<float>(b);
    const auto laid_out = [&](Matrix<float>& m) {
        if (!by_columns) {
            return ConstView(AnyView(m.view()));
        }
        std::vector<float> turned(m.data.size());
        for (std::int64_t i = 0; i < m.rows; ++i) {
            for (std::int64_t j = 0; j < m.cols; ++j) {
                turned[static_cast<std::size_t>(j * m.rows + i)] = m.at(i, j);
            }
        }
        m.data = turned;
        return ConstView{m.data.data(), Type::f32, m.rows, m.cols, 1, m.rows};
    };
    const ConstView left = laid_out(x), right = laid_out(y);
    return judge_evenness(backend, left, backend.scan(left), right, backend.scan(right),
                          {{"winograd", LevelMode::parallel, ""}}, true);
}

TEST(evenness, is_called_by_its_name) {
    const double least = least_evenness_of({{"winograd", LevelMode::parallel, ""}});
    for (const std::int64_t n : {300, 1024}) {
        for (const Family& family : all_families()) {
            Random random(3);
            Matrix<double> a(n, n + 7), b(n + 7, n - 5);
            family.make(a, b, random);
            for (const bool by_columns : {false, true}) {
                const Evenness even = judged(a, b, by_columns);
                SCOPED_TRACE(family.name + " " + std::to_string(n) + " " + std::to_string(even.value));
                RecordProperty(family.name, std::to_string(even.value));
                if (family.way == Way::classical) {
                    EXPECT_LT(even.value, least);
                } else if (family.way != Way::any) {
                    EXPECT_GE(even.value, least);
                    EXPECT_EQ(even.scales(), family.way == Way::scaled);
                }
            }
        }
    }
}

TEST(evenness, takes_whole_powers_out_of_lines_and_leaves_the_product_alone) {
    Random random(5);
    Matrix<double> a(200, 160), b(160, 220);
    fill_uniform(a, random);
    fill_uniform(b, random);
    times(a, [](std::int64_t i, std::int64_t k) { return std::ldexp(1.0, static_cast<int>(i % 30 + k % 10)); });
    times(b, [](std::int64_t k, std::int64_t j) { return std::ldexp(1.0, static_cast<int>(j % 20 - k % 10)); });
    const Evenness even = judged(a, b);
    ASSERT_TRUE(even.scales());
    for (std::size_t k = 0; k < even.inner.size(); ++k) {
        EXPECT_EQ(even.inner[k], -even.minus_inner[k]);
    }
    // Up to the noise of samples, lines end up alike.
    for (std::size_t i = 30; i < even.rows.size(); ++i) {
        EXPECT_NEAR(even.rows[i] - even.rows[0], static_cast<double>(i / 30 * 30) - static_cast<double>(i), 1.01);
    }
}

TEST(evenness, a_sample_of_many_levels_is_no_larger_than_that_of_a_few) {
    Random random(7);
    constexpr std::int64_t n = 2048;
    Matrix<double> a(n, n), b(n, n);
    fill_uniform(a, random);
    fill_uniform(b, random);
    const auto view = [](Matrix<double>& m) { return ConstView(AnyView(m.view())); };
    for (const char* algorithm : {"strassen", "2x2x2-7-accurate"}) {
        double before = 1;
        for (std::size_t count = 1; count <= 8; ++count) {
            const std::vector<LevelPlan> levels(count, LevelPlan{algorithm, LevelMode::parallel, ""});
            MeetingSamples samples({n, n, n}, levels);
            EXPECT_LE(samples.of_a.values.size(), std::size_t{128} * 128) << count;
            EXPECT_EQ(samples.tried.size(), std::min<std::size_t>(count, 4));
            samples.of_a.note(view(a), 0, 0, {}, 0);
            samples.of_b.note(transposed(view(b)), 0, 0, {}, 0);
            const double growth = samples.growth();
            EXPECT_GT(growth, 1.2 * before) << algorithm << " " << count;  // every level loses some
            EXPECT_LT(growth, 3.5 * before) << algorithm << " " << count;
            before = growth;
        }
    }
}

TEST(evenness, of_a_matrix_of_zeros_is_whatever_pleases) {
    EXPECT_GE(judged(Matrix<double>(20, 20), Matrix<double>(20, 20)).value, 1);
}

}  // namespace
}  // namespace heptad
