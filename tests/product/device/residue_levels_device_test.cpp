// Levels of any algorithm over Z inside products by residues on a device: the bits of the product without levels, for
// every type and word, square and rectangular algorithms, mixed levels, odd and thin sizes, tiles and old entries of C.
#include <gtest/gtest.h>

#include <complex>
#include <random>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "plan/search/device_residue_plan.hpp"
#include "plan/search/planner.hpp"
#include "product/device/device_matrix.hpp"
#include "product/device/residue_operands.hpp"

namespace heptad::test {
namespace {

struct Asked {
    std::string algorithm;
    int levels;
};
const std::vector<Asked> kAsked{{"strassen", 1}, {"strassen", 2}, {"winograd*winograd", 1}, {"alternative-basis", 2},
                                {"2x2x3-11", 1}, {"3x2x3-15", 1}, {"3x3x3-23", 1},          {"2x3x3-15", 2},
                                {"4x4x4-49", 1}, {"5x5x5-93", 1}, {"winograd", 1}};

void set_old_entries(GuardedMatrix& c) {
    set_all(c, [](std::int64_t i, std::int64_t j) { return static_cast<double>((i - j) % 1000); });
}

/// A product with that plan, or the options' own, from host memory.
RunReport multiply_again(Operands& x, const Options& options, const ProductPlan& plan, double alpha, double beta) {
    EXPECT_TRUE(is_by_residues(plan)) << to_string(plan);
    EXPECT_EQ(parse_plan(to_string(plan)), plan);
    set_old_entries(x.c);
    return multiply(x, options, alpha, beta);
}

TEST(residue_levels_device, of_any_algorithm_have_the_same_bits) {
    HEPTAD_NEEDS_DEVICE();
    for (const Type type : {Type::f32, Type::f64}) {
        for (const auto& [m, k, n] : {std::tuple{512, 1024, 768}, {257, 1030, 301}, {25, 2003, 31}, {1000, 29, 27}}) {
            for (const Layout layout : {Layout::rows, Layout::columns}) {
                for (const Accuracy accuracy : {Accuracy::balanced, Accuracy::fast, Accuracy::strict}) {
                    Operands x(type, m, k, n, layout, Layout::rows, layout);
                    Options options = by_residues(accuracy);
                    set_old_entries(x.c);
                    const bool fell_back = multiply(x, options, 1.5, -2).fell_back;
                    const GuardedMatrix without = x.c;
                    for (const auto& [algorithm, levels] : kAsked) {
                        options.algorithm = algorithm;
                        options.levels = levels;
                        const ProductPlan plan = plan_device_product(m, k, n, type, options, {});
                        ASSERT_EQ(static_cast<int>(plan.levels.size()), levels) << to_string(plan);
                        EXPECT_EQ(multiply_again(x, options, plan, 1.5, -2).fell_back, fell_back);
                        EXPECT_TRUE(x.c.equals_byte_for_byte(without)) << to_string(plan);
                    }
                }
            }
        }
    }
}

TEST(residue_levels_device, that_round_once_or_are_integers_have_the_same_bits) {
    HEPTAD_NEEDS_DEVICE();
    for (const Type type : {Type::f32, Type::f64, Type::i64}) {
        for (const auto& [m, k, n] : {std::tuple{257, 530, 301}, {25, 2003, 31}}) {
            for (const Layout layout : {Layout::rows, Layout::columns}) {
                Operands x(type, m, k, n, Layout::columns, layout, layout);
                if (type == Type::i64) {
                    std::mt19937_64 random(4);
                    for (GuardedMatrix* one : {&x.a, &x.b}) {
                        for (std::int64_t i = 0; i < one->view().rows; ++i) {
                            for (std::int64_t j = 0; j < one->view().cols; ++j) {
                                set_integer(type, element_pointer(one->view(), i, j),
                                            static_cast<std::int64_t>(random()));
                            }
                        }
                    }
                }
                Options options = by_residues(Accuracy::exact);
                set_old_entries(x.c);
                multiply(x, options, 3, -2);
                const GuardedMatrix without = x.c;
                for (const auto& [algorithm, levels] : kAsked) {
                    options.algorithm = algorithm;
                    options.levels = levels;
                    const ProductPlan plan = plan_device_product(m, k, n, type, options, {});
                    ASSERT_EQ(static_cast<int>(plan.levels.size()), levels) << to_string(plan);
                    multiply_again(x, options, plan, 3, -2);
                    EXPECT_TRUE(x.c.equals_byte_for_byte(without)) << to_string(plan);
                }
            }
        }
    }
}

/// In the device's memory, with a plan by hand.
void multiply_there(Operands& x, const ProductPlan& plan, double beta) {
    const cuda::Stream stream(0);
    DeviceMatrixCopy a(x.a, stream.handle()), b(x.b, stream.handle()), c(x.c, stream.handle());
    ProductContext context;
    context.stream = stream.handle();
    multiply_on_device(1, a.view(), b.view(), beta, c.view(), plan, 0, context);
    c.fetch();
    stream.synchronize();
}

TEST(residue_levels_device, mixed_and_in_tiles_have_the_same_bits) {
    HEPTAD_NEEDS_DEVICE();
    constexpr std::int64_t m = 700, k = 333, n = 501;
    for (const Layout layout : {Layout::rows, Layout::columns}) {
        Operands x(Type::f32, m, k, n, Layout::rows, Layout::columns, layout);
        Problem problem{m, k, n, Type::f32, 1, by_residues()};
        problem.options.accumulate = true;
        const auto plan_of = [&](const std::vector<std::string>& levels) {
            return plan_with_shape(problem, Machine{}, {levels, kResidueLeaf});
        };
        set_old_entries(x.c);
        multiply_there(x, plan_of({}), 0.5);
        const GuardedMatrix without = x.c;
        using Levels = std::vector<std::string>;
        for (const Levels& levels : {Levels{"strassen", "winograd"},
                                     {"winograd", "2x3x3-15"},
                                     {"3x2x2-11", "2x2x3-11"},
                                     {"winograd*winograd", "winograd"}}) {
            for (const auto& [tile_m, tile_n] : {std::pair{m, n}, {std::int64_t{300}, n}, {std::int64_t{300}, 200}}) {
                ProductPlan plan = plan_of(levels);
                plan.tile_m = tile_m;
                plan.tile_n = tile_n;
                plan.workspace_bytes = device_residue_layout(plan).bytes();
                ASSERT_NO_THROW(check_plan(plan));
                set_old_entries(x.c);
                multiply_there(x, plan, 0.5);
                EXPECT_TRUE(x.c.equals_byte_for_byte(without)) << to_string(plan);
            }
        }
    }
}

TEST(residue_levels_device, of_complex_numbers_have_the_same_bits) {
    HEPTAD_NEEDS_DEVICE();
    std::mt19937 random(6);
    std::normal_distribution<double> normal;
    for (const Type type : {Type::c64, Type::c128}) {
        for (const Layout layout : {Layout::rows, Layout::columns}) {
            constexpr std::int64_t m = 259, k = 401, n = 133;
            GuardedMatrix a(type, m, k, layout), b(type, k, n, Layout::columns), c(type, m, n, layout);
            const auto fill = [&](GuardedMatrix& x, const auto& number) {
                const View v = x.view();
                for (std::int64_t i = 0; i < v.rows; ++i) {
                    for (std::int64_t j = 0; j < v.cols; ++j) {
                        if (type == Type::c64) {
                            *reinterpret_cast<std::complex<float>*>(element_pointer(v, i, j)) =
                                std::complex<float>(number());
                        } else {
                            *reinterpret_cast<std::complex<double>*>(element_pointer(v, i, j)) = number();
                        }
                    }
                }
            };
            const auto any = [&] { return std::complex<double>(normal(random), normal(random)); };
            fill(a, any);
            fill(b, any);
            const auto product = [&](const Options& options) {
                fill(c, [] { return std::complex<double>(3, -4); });
                Product one{2, a.view(), b.view(), 1, c.view(), {-1, 0.5}};
                one.a.conjugate = true;
                multiply_on_device(one, options, {});
                return c;
            };
            Options options = by_residues();
            const GuardedMatrix without = product(options);
            for (const auto& [algorithm, levels] : kAsked) {
                options.algorithm = algorithm;
                options.levels = levels;
                const ProductPlan plan = plan_device_product(m, k, n, type, options, {});
                ASSERT_TRUE(is_by_residues(plan) && static_cast<int>(plan.levels.size()) == levels) << to_string(plan);
                EXPECT_TRUE(product(options).equals_byte_for_byte(without)) << to_string(plan);
            }
        }
    }
}

TEST(residue_levels_device, over_other_rings_are_refused) {
    HEPTAD_NEEDS_DEVICE();
    Operands x(Type::f32, 100, 100, 100);
    Options options = by_residues();
    options.algorithm = "2x2x2-7-accurate";
    options.levels = 1;
    EXPECT_THROW(multiply(x, options), Error);
}

}  // namespace
}  // namespace heptad::test
