// `strict` by residues on a device: which data is certified, that the rest is answered classically, and that both keep
// the bound of the classical product, entry by entry.
#include <cuda_runtime.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/types.hpp"
#include "plan/predict/error_bound.hpp"
#include "plan/predict/promised_error.hpp"
#include "product/device/device_matrix.hpp"
#include "product/device/residue_operands.hpp"

namespace heptad::test {
namespace {

double bound_of(Type type, std::int64_t k) {
    const double all = static_cast<double>(k + 2) * unit_roundoff(type);
    return all / (1 - all);
}

/// One number of each row is so much larger.
void enlarge_diagonal(Operands& x, std::int64_t m, int exponent) {
    for (std::int64_t i = 0; i < m; ++i) {
        x.a.set(i, i, std::ldexp(1.0, exponent));
    }
}

TEST(certified_device, ordinary_data_is_certified_with_less_error_than_the_librarys) {
    HEPTAD_NEEDS_DEVICE();
    for (const Type type : {Type::f32, Type::f64}) {
        for (const Layout layout : {Layout::rows, Layout::rows_padded, Layout::columns}) {
            for (const auto& [m, k, n] : {std::tuple{640, 1500, 700}, {129, 4096, 1000}, {1031, 333, 517}}) {
                Operands x(type, m, k, n, layout, Layout::rows, layout);
                const ProductPlan plan = plan_device_product(m, k, n, type, by_residues(Accuracy::strict), {});
                ASSERT_TRUE(is_certified(plan)) << to_string(plan);
                const RunReport report = multiply(x, by_residues(Accuracy::strict));
                EXPECT_FALSE(report.fell_back);
                EXPECT_FALSE(report.uneven);
                const Errors ours = errors_of(x, m, k, n);
                Options plain = strict();
                plain.levels = 0;
                multiply(x, plain);
                const Errors library = errors_of(x, m, k, n);
                EXPECT_LE(ours.over_entries, bound_of(type, k));
                EXPECT_LE(ours.over_entries, std::max(library.over_entries, 2 * unit_roundoff(type)));
                fmt::print("{} {}x{}x{}: {:.2g} of |A||B|, the library {:.2g}\n", type_name(type), m, k, n,
                           ours.over_entries, library.over_entries);
            }
        }
    }
}

TEST(certified_device, less_even_data_takes_more_moduli_before_the_classical_product) {
    HEPTAD_NEEDS_DEVICE();
    for (const Type type : {Type::f32, Type::f64}) {
        int fell_back = 0, certified = 0;
        for (const int exponent : {0, 4, 8, 10, 12, 16, 20, 30}) {
            Operands x(type, 256, 512, 256);
            enlarge_diagonal(x, 256, exponent);
            const RunReport report = multiply(x, by_residues(Accuracy::strict));
            EXPECT_LE(errors_of(x, 256, 512, 256).over_entries, bound_of(type, 512)) << exponent;
            EXPECT_EQ(report.fell_back, report.uneven) << exponent;
            (report.fell_back ? fell_back : certified) += 1;
        }
        EXPECT_GT(fell_back, 1);
        EXPECT_GT(certified, 2);
    }
}

TEST(certified_device, numbers_of_one_size_may_have_zeros_anywhere) {
    HEPTAD_NEEDS_DEVICE();
    for (const Type type : {Type::f32, Type::f64}) {
        for (const Layout layout : {Layout::rows, Layout::columns}) {
            Operands x(type, 200, 700, 220, layout, layout, layout);
            set_all(x.a, [](std::int64_t i, std::int64_t j) {
                return i * 31 % 7 == j % 7 ? 1.0 / static_cast<double>(1 + j % 5) : 0.0;
            });
            set_all(x.b, [](std::int64_t i, std::int64_t j) { return (i + j) % 3 == 0 && j != 44 ? 0.7 : 0.0; });
            EXPECT_FALSE(multiply(x, by_residues(Accuracy::strict)).fell_back);
            EXPECT_LE(errors_of(x, 200, 700, 220).over_entries, 30 * unit_roundoff(type));
            for (std::int64_t i = 0; i < 200; ++i) {
                EXPECT_EQ(x.c.get(i, 44), 0);
            }
        }
    }
}

TEST(certified_device, small_numbers_that_meet_large_ones_are_multiplied_classically) {
    HEPTAD_NEEDS_DEVICE();
    for (const Type type : {Type::f32, Type::f64}) {
        for (const bool in_one_line : {false, true}) {
            Operands x(type, 200, 600, 190);
            const auto is_small = [&](std::int64_t line, bool half) { return half && (!in_one_line || line == 77); };
            set_all(x.a, [&](std::int64_t i, std::int64_t p) {
                return std::ldexp(x.a.get(i, p), is_small(i, p < 300) ? -30 : 0);
            });
            set_all(x.b, [&](std::int64_t p, std::int64_t j) {
                return std::ldexp(x.b.get(p, j), is_small(j, p >= 300) ? -30 : 0);
            });
            set_all(x.c, [](std::int64_t i, std::int64_t j) { return static_cast<double>(i - j) * 1e-9; });
            const GuardedMatrix before = x.c;
            EXPECT_TRUE(multiply(x, by_residues(Accuracy::strict)).fell_back);
            EXPECT_LE(errors_of(x, 200, 600, 190).over_entries, bound_of(type, 600));
            const GuardedMatrix plain = x.c;
            set_all(x.c, [&](std::int64_t i, std::int64_t j) { return before.get(i, j); });
            // The classical product finds C as it was.
            multiply(x, by_residues(Accuracy::strict), 1, 1);
            for (std::int64_t i = 0; i < 200; ++i) {
                for (std::int64_t j = 0; j < 190; ++j) {
                    const double expected = plain.get(i, j) + before.get(i, j);
                    ASSERT_NEAR(
                        x.c.get(i, j), expected,
                        4 * unit_roundoff(type) * (std::abs(plain.get(i, j)) + std::abs(before.get(i, j))) * 600);
                }
            }
        }
    }
}

TEST(certified_device, what_is_not_finite_stays_in_its_rows_and_columns) {
    HEPTAD_NEEDS_DEVICE();
    for (const Type type : {Type::f32, Type::f64}) {
        for (const double strange :
             {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
            Operands x(type, 200, 300, 250);
            x.a.set(17, 5, strange);
            x.b.set(8, 100, strange);
            EXPECT_TRUE(multiply(x, by_residues(Accuracy::strict)).fell_back);
            for (std::int64_t i = 0; i < 200; ++i) {
                for (std::int64_t j = 0; j < 250; ++j) {
                    ASSERT_EQ(std::isfinite(x.c.get(i, j)), i != 17 && j != 100) << i << " " << j;
                }
            }
        }
    }
}

TEST(certified_device, tiles_and_levels_have_the_same_bits) {
    HEPTAD_NEEDS_DEVICE();
    for (const Type type : {Type::f32, Type::f64}) {
        for (const Layout layout : {Layout::rows, Layout::columns}) {
            Operands x(type, 5000, 96, 4500, Layout::rows, Layout::rows, layout);
            Options options = by_residues(Accuracy::strict);
            EXPECT_FALSE(multiply(x, options).fell_back);
            const GuardedMatrix whole = x.c;
            options.levels = 1;
            multiply(x, options);
            EXPECT_TRUE(x.c.equals_byte_for_byte(whole));
            options.levels = 0;
            options.workspace_limit_bytes = plan_device_product(5000, 96, 4500, type, options, {}).workspace_bytes / 3;
            const ProductPlan tiled = plan_device_product(5000, 96, 4500, type, options, {});
            ASSERT_TRUE(is_certified(tiled));
            EXPECT_LT(tiled.tile_m, 5000);
            x.c.fill(std::numeric_limits<double>::quiet_NaN());
            multiply(x, options);
            EXPECT_TRUE(x.c.equals_byte_for_byte(whole));
        }
    }
}

TEST(certified_device, replays_of_a_graph_judge_the_data_that_they_find) {
    HEPTAD_NEEDS_DEVICE();
    Operands x(Type::f32, 320, 400, 300), uneven(Type::f32, 320, 400, 300);
    enlarge_diagonal(uneven, 320, 40);
    const cuda::Stream stream(0);
    auto* const handle = static_cast<cudaStream_t>(stream.handle());
    DeviceMatrixCopy a(x.a, handle), b(x.b, handle), c(x.c, handle), other(uneven.a, handle);
    ProductContext context;
    context.stream = handle;
    const Options options = by_residues(Accuracy::strict);
    const ProductPlan plan = plan_device_product(320, 400, 300, Type::f32, options, context);
    const cuda::DeviceMemory workspace(0, plan.workspace_bytes, handle);
    context.workspace = workspace.data();
    context.workspace_bytes = plan.workspace_bytes;
    stream.synchronize();
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t ready = nullptr;
    ASSERT_EQ(cudaStreamBeginCapture(handle, cudaStreamCaptureModeGlobal), cudaSuccess);
    multiply_on_device(1, a.view(), b.view(), 0, c.view(), options, context);
    ASSERT_EQ(cudaStreamEndCapture(handle, &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&ready, graph, 0), cudaSuccess);
    for (const bool is_even : {true, false}) {
        if (!is_even) {
            ASSERT_EQ(
                cudaMemcpy2DAsync(const_cast<void*>(a.view().data), static_cast<std::size_t>(a.view().row_stride) * 4,
                                  other.view().data, static_cast<std::size_t>(other.view().row_stride) * 4, 400 * 4,
                                  320, cudaMemcpyDeviceToDevice, handle),
                cudaSuccess);
            set_all(x.a, [&](std::int64_t i, std::int64_t p) { return uneven.a.get(i, p); });
        }
        x.c.fill(std::numeric_limits<double>::quiet_NaN());
        ASSERT_EQ(cudaGraphLaunch(ready, handle), cudaSuccess);
        c.fetch();
        stream.synchronize();
        EXPECT_LE(errors_of(x, 320, 400, 300).over_entries, bound_of(Type::f32, 400));
    }
    cudaGraphExecDestroy(ready);
    cudaGraphDestroy(graph);
}

}  // namespace
}  // namespace heptad::test
