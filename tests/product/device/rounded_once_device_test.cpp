// Products that are rounded once, and products of 64-bit integers, on a device: the bits of the processor, for all
// layouts, scales, factors and levels; what is refused, and what becomes of it in a recorded graph.
#include <cuda_runtime.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/device_layout.hpp"
#include "base/error.hpp"
#include "product/device/device_matrix.hpp"
#include "product/device/device_product.hpp"
#include "product/memory/product.hpp"

namespace heptad::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

struct Shape {
    std::int64_t m, k, n;
};

struct Operands {
    GuardedMatrix a, b, c;
    Operands(Type type, const Shape& size, Layout of_a = Layout::rows, Layout of_b = Layout::rows,
             Layout of_c = Layout::rows)
        : a(type, size.m, size.k, of_a), b(type, size.k, size.n, of_b), c(type, size.m, size.n, of_c) {}
};

/// `octaves`: how far apart the sizes of numbers are.
void fill_floats(GuardedMatrix& x, unsigned seed, int octaves = 1, int shift = 0) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    std::uniform_int_distribution<int> exponents(0, octaves - 1);
    for (std::int64_t i = 0; i < x.view().rows; ++i) {
        for (std::int64_t j = 0; j < x.view().cols; ++j) {
            x.set(i, j, std::ldexp(normal(random), shift + exponents(random)));
        }
    }
}
void fill_integers(GuardedMatrix& x, unsigned seed) {
    std::mt19937_64 random(seed);
    for (std::int64_t i = 0; i < x.view().rows; ++i) {
        for (std::int64_t j = 0; j < x.view().cols; ++j) {
            set_integer(Type::i64, element_pointer(x.view(), i, j), static_cast<std::int64_t>(random()));
        }
    }
}

Options exact(const char* device, int levels = -1) {
    Options options;
    options.device = device;
    options.accuracy = Accuracy::exact;
    options.levels = levels;
    return options;
}

/// Every NaN is the same one: processors differ in its sign.
GuardedMatrix with_one_nan(GuardedMatrix x) {
    for (std::int64_t i = 0; i < x.view().rows; ++i) {
        for (std::int64_t j = 0; j < x.view().cols; ++j) {
            if (std::isnan(x.get(i, j))) {
                x.set(i, j, kNaN);
            }
        }
    }
    return x;
}

GuardedMatrix on_processor(const Operands& x, double alpha = 1, double beta = 0) {
    GuardedMatrix c = x.c;
    multiply_in_memory(alpha, x.a.view(), x.b.view(), beta, c.view(), exact("cpu"), {});
    return c;
}

/// In the device's memory, with guards around.
GuardedMatrix on_device(Operands x, const Options& options, double alpha = 1, double beta = 0) {
    const cuda::Stream stream(0);
    DeviceMatrixCopy a(x.a, stream.handle()), b(x.b, stream.handle()), c(x.c, stream.handle());
    ProductContext context;
    context.stream = stream.handle();
    multiply_on_device(alpha, a.view(), b.view(), beta, c.view(), options, context);
    c.fetch();
    stream.synchronize();
    return x.c;
}

void expect_bits(const Operands& x, const Options& options, const std::string& what, double alpha = 1,
                 double beta = 0) {
    const GuardedMatrix expected = with_one_nan(on_processor(x, alpha, beta));
    const GuardedMatrix made = with_one_nan(on_device(x, options, alpha, beta));
    if (made.equals_byte_for_byte(expected)) {
        return;
    }
    for (std::int64_t i = 0; i < x.c.view().rows; ++i) {
        for (std::int64_t j = 0; j < x.c.view().cols; ++j) {
            if (std::memcmp(element_pointer(made.view(), i, j), element_pointer(expected.view(), i, j),
                            element_bytes(x.c.view().type)) != 0) {
                FAIL() << what << ": " << made.get(i, j) << " for " << expected.get(i, j) << " at " << i << ", " << j;
            }
        }
    }
    FAIL() << what << ": guards were written";
}

constexpr Shape kShapes[] = {{1, 1, 1},   {3, 5, 2},     {64, 128, 96}, {129, 333, 65}, {257, 1030, 301},
                             {1, 700, 9}, {500, 2, 700}, {5, 4096, 7},  {16, 16, 1027}};

TEST(rounded_once_device, floats_have_the_bits_of_the_processor) {
    HEPTAD_NEEDS_DEVICE();
    for (const Type type : {Type::f32, Type::f64}) {
        for (const Shape& size : kShapes) {
            for (const int octaves : {1, type == Type::f64 ? 8 : 20}) {
                Operands x(type, size);
                fill_floats(x.a, 1, octaves);
                fill_floats(x.b, 2, octaves);
                x.c.fill(kNaN);
                for (const int levels : {-1, 0, 1, 2}) {
                    expect_bits(x, exact("cuda", levels),
                                fmt::format("{} {}x{}x{} octaves {} levels {}", type_name(type), size.m, size.k, size.n,
                                            octaves, levels));
                }
            }
        }
    }
}

TEST(rounded_once_device, layouts_and_factors_have_the_bits_of_the_processor) {
    HEPTAD_NEEDS_DEVICE();
    for (const Type type : {Type::f32, Type::f64}) {
        for (const Layout of_a : all_layouts) {
            for (const Layout of_c : all_layouts) {
                Operands x(type, {70, 90, 53}, of_a, of_c, of_c);
                fill_floats(x.a, 3, 5);
                fill_floats(x.b, 4, 5);
                fill_floats(x.c, 5, 40, -10);
                const int levels = static_cast<int>(of_a) % 3;
                for (const auto& [alpha, beta] : {std::pair{1.0, 0.0},
                                                  {0.3, 0.0},
                                                  {1.0, 1.0},
                                                  {-2.5, 0.1},
                                                  {0.0, 0.7},
                                                  {0.0, 0.0},
                                                  {1e-200, 1.0},
                                                  {1e-30, 1e-30},
                                                  {kInf, 0.0},
                                                  {1.0, kNaN}}) {
                    expect_bits(x, exact("cuda", levels),
                                fmt::format("{} layouts {} {} alpha {} beta {}", type_name(type),
                                            static_cast<int>(of_a), static_cast<int>(of_c), alpha, beta),
                                alpha, beta);
                }
            }
        }
    }
}

TEST(rounded_once_device, integers_grids_and_wide_spans_have_the_bits_of_the_processor) {
    HEPTAD_NEEDS_DEVICE();
    for (const Type type : {Type::f32, Type::f64}) {
        for (const int octaves : {1, 8, 30, 50}) {  // two moduli to nearly all of them
            Operands x(type, {150, 64, 140});
            std::mt19937 random(6);
            if (octaves == 1) {
                x.a.fill_random(random, 3);
                x.b.fill_random(random, 100);
            } else {
                const int limit = type == Type::f64 ? octaves - 30 : octaves;
                fill_floats(x.a, 7, std::max(limit, 1));
                fill_floats(x.b, 8, std::max(limit, 1));
            }
            x.c.fill(kNaN);
            for (const int levels : {0, 2}) {
                expect_bits(x, exact("cuda", levels), fmt::format("{} octaves {}", type_name(type), octaves));
            }
        }
        // One operand has nearly all bits, the other is of integers.
        Operands x(type, {40, 16, 30});
        std::mt19937 random(9);
        fill_floats(x.a, 10, type == Type::f64 ? 100 : 120, -60);
        x.b.fill_random(random, 1);
        x.c.fill(kNaN);
        expect_bits(x, exact("cuda"), "one wide operand");
    }
}

TEST(rounded_once_device, results_beyond_the_normal_numbers_have_the_bits_of_the_processor) {
    HEPTAD_NEEDS_DEVICE();
    for (const auto& [type, tiny, huge] : {std::tuple{Type::f32, -74, 63}, {Type::f64, -538, 511}}) {
        for (const int shift : {tiny - 2, tiny, tiny + 3, huge - 4, huge}) {
            Operands x(type, {80, 48, 70});
            fill_floats(x.a, 11, 6, shift);
            fill_floats(x.b, 12, 6, shift);
            fill_floats(x.c, 13, 3, 2 * tiny);
            expect_bits(x, exact("cuda"), fmt::format("{} by 2^{}", type_name(type), shift));
            expect_bits(x, exact("cuda"), fmt::format("{} by 2^{} and beta", type_name(type), shift), 1, 1);
        }
    }
    Operands x(Type::f32, {20, 20, 20});  // whole operands of subnormal numbers
    fill_floats(x.a, 14, 3, -143);
    fill_floats(x.b, 15, 3, 20);
    x.c.fill(kNaN);
    expect_bits(x, exact("cuda"), "subnormal operands");
}

TEST(rounded_once_device, what_is_not_finite_stays_in_its_rows_and_columns) {
    HEPTAD_NEEDS_DEVICE();
    for (const Type type : {Type::f32, Type::f64}) {
        for (const int levels : {0, 1}) {
            Operands x(type, {90, 110, 75});
            fill_floats(x.a, 16);
            fill_floats(x.b, 17);
            fill_floats(x.c, 18);
            x.a.set(17, 5, kInf);
            x.a.set(18, 5, kNaN);
            x.a.set(30, 7, -kInf);
            x.a.set(30, 8, kInf);
            x.b.set(8, 60, kInf);
            x.b.set(5, 61, 0);  // infinity times zero
            x.c.set(3, 4, kInf);
            expect_bits(x, exact("cuda", levels), "not finite");
            expect_bits(x, exact("cuda", levels), "not finite, with C", -2, 0.5);
        }
    }
}

TEST(rounded_once_device, zeros_are_positive_and_rows_of_zeros_are_zeros) {
    HEPTAD_NEEDS_DEVICE();
    Operands x(Type::f32, {33, 20, 40});
    fill_floats(x.b, 19, 100, -120);  // spans what no moduli hold
    x.a.fill(-0.0);
    x.c.fill(kNaN);
    expect_bits(x, exact("cuda"), "zeros");
    x.c.fill(-0.0);
    expect_bits(x, exact("cuda"), "zeros and a negative zero", 1, 1);
    x.b.fill(1);
    for (std::int64_t p = 0; p < 20; ++p) {
        x.a.set(7, p, p % 2 == 0 ? 3 : -3);
    }
    expect_bits(x, exact("cuda"), "a sum that cancels");
}

TEST(rounded_once_device, spans_beyond_the_moduli_are_refused_and_c_is_as_it_was) {
    HEPTAD_NEEDS_DEVICE();
    for (const bool from_host : {true, false}) {
        Operands x(Type::f64, {30, 20, 40});
        fill_floats(x.a, 20, 120);
        fill_floats(x.b, 21, 60);
        x.c.fill(5);
        const GuardedMatrix before = x.c;
        try {
            if (from_host) {
                multiply_on_device(1, x.a.view(), x.b.view(), 0, x.c.view(), exact("cuda"), {});
            } else {
                on_device(x, exact("cuda"));
            }
            FAIL() << "was not refused";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::input);
            EXPECT_NE(std::string(error.what()).find("Take accuracy strict"), std::string::npos) << error.what();
        }
        EXPECT_TRUE(x.c.equals_byte_for_byte(before));
    }
}

TEST(rounded_once_device, tiles_and_operands_of_the_host_have_the_same_bits) {
    HEPTAD_NEEDS_DEVICE();
    for (const Type type : {Type::f32, Type::i64}) {
        for (const Layout layout : {Layout::rows, Layout::columns}) {
            Operands x(type, {5000, 96, 4500}, Layout::rows, Layout::columns, layout);
            if (type == Type::i64) {
                fill_integers(x.a, 22);
                fill_integers(x.b, 23);
            } else {
                fill_floats(x.a, 22);
                fill_floats(x.b, 23);
            }
            x.c.fill(7);
            Options options = exact("cuda", 0);
            const GuardedMatrix whole = on_device(x, options);
            const ProductPlan plan = plan_device_product(5000, 96, 4500, type, options, {});
            options.workspace_limit_bytes = plan.workspace_bytes / 4;
            const ProductPlan tiled = plan_device_product(5000, 96, 4500, type, options, {});
            EXPECT_LE(tiled.workspace_bytes, options.workspace_limit_bytes);
            EXPECT_EQ(parse_plan(to_string(tiled)), tiled);
            EXPECT_TRUE(on_device(x, options).equals_byte_for_byte(whole));
            options.levels = 1;
            EXPECT_TRUE(on_device(x, options).equals_byte_for_byte(whole));
            Operands host = x;
            multiply_on_device(1, host.a.view(), host.b.view(), 0, host.c.view(), exact("cuda"), {});
            EXPECT_TRUE(host.c.equals_byte_for_byte(whole));
            multiply_on_device(1, host.a.view(), host.b.view(), 0, host.c.view(), tiled, 0, {});
            EXPECT_TRUE(host.c.equals_byte_for_byte(whole));
        }
    }
}

TEST(rounded_once_device, integers_of_64_bits_have_the_bits_of_the_processor) {
    HEPTAD_NEEDS_DEVICE();
    for (const Shape& size : {Shape{1, 1, 1},
                              {33, 65, 47},
                              {129, 333, 65},
                              {7, 20000, 9},
                              {3, 65536, 5},
                              {2, 100000, 3},
                              {300, 512, 260}}) {
        for (const Layout layout : {Layout::rows, Layout::columns_padded, Layout::general, Layout::reversed}) {
            Operands x(Type::i64, size, layout, Layout::rows, layout);
            fill_integers(x.a, 24);
            fill_integers(x.b, 25);
            fill_integers(x.c, 26);
            // The largest sums, of numbers and of what their bytes with signs stand for modulo 2^64.
            constexpr std::int64_t kLargest[] = {std::numeric_limits<std::int64_t>::min(), 0x7f7f7f7f7f7f7f80};
            for (std::int64_t line = 0; line < std::min<std::int64_t>({2, size.m, size.n}); ++line) {
                for (std::int64_t p = 0; p < size.k; ++p) {
                    set_integer(Type::i64, element_pointer(x.a.view(), line, p), kLargest[line]);
                    set_integer(Type::i64, element_pointer(x.b.view(), p, line), kLargest[line]);
                }
            }
            for (const auto& [alpha, beta] : {std::pair{1.0, 0.0}, {-3.0, 1.0}, {0x1p63, -5.0}, {0.0, 2.0}}) {
                for (const int levels : {-1, 0, 1, 2}) {
                    Options options;
                    options.device = "cuda";
                    options.levels = levels;
                    if (levels == 0 && size.k > kLongestDeviceSum) {
                        EXPECT_THROW(on_device(x, options, alpha, beta), Error);
                        continue;
                    }
                    expect_bits(x, options,
                                fmt::format("i64 {}x{}x{} alpha {} beta {} levels {}", size.m, size.k, size.n, alpha,
                                            beta, levels),
                                alpha, beta);
                }
            }
        }
    }
}

TEST(rounded_once_device, replays_of_a_graph_are_products_or_nan_that_the_next_call_tells_of) {
    HEPTAD_NEEDS_DEVICE();
    for (const int levels : {0, 1}) {
        Operands x(Type::f64, {120, 80, 100});
        fill_floats(x.a, 27, 5);
        fill_floats(x.b, 28, 5);
        x.c.fill(1);
        const cuda::Stream stream(0);
        auto* const handle = static_cast<cudaStream_t>(stream.handle());
        DeviceMatrixCopy a(x.a, handle), b(x.b, handle), c(x.c, handle);
        const Options options = exact("cuda", levels);
        ProductContext context;
        context.stream = handle;
        const ProductPlan plan = plan_device_product(120, 80, 100, Type::f64, options, context);
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
        const GuardedMatrix expected = on_processor(x);
        for (int replay = 0; replay < 2; ++replay) {
            ASSERT_EQ(cudaGraphLaunch(ready, handle), cudaSuccess);
            c.fetch();
            stream.synchronize();
            EXPECT_TRUE(x.c.equals_byte_for_byte(expected));
            x.c.fill(1);
        }
        GuardedMatrix wide = x.a;  // what no moduli hold
        fill_floats(wide, 29, 500, -200);
        DeviceMatrixCopy fresh(wide, handle);
        const auto bytes = static_cast<std::size_t>(120 * 80 * 8);
        ASSERT_EQ(cudaMemcpyAsync(a.view().data, fresh.view().data, bytes, cudaMemcpyDeviceToDevice, handle),
                  cudaSuccess);
        ASSERT_EQ(cudaGraphLaunch(ready, handle), cudaSuccess);
        c.fetch();
        stream.synchronize();
        for (std::int64_t i = 0; i < 120; ++i) {
            for (std::int64_t j = 0; j < 100; ++j) {
                ASSERT_TRUE(std::isnan(x.c.get(i, j))) << i << " " << j;
            }
        }
        // Nobody waits for a graph: the next exact product that waits says it, once, and leaves its own C alone.
        fill_floats(x.a, 27, 5);
        x.c.fill(1);
        const GuardedMatrix before = x.c;
        try {
            multiply_on_device(1, x.a.view(), x.b.view(), 0, x.c.view(), options, {});
            FAIL() << "was not told of the graph";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::input);
            EXPECT_NE(std::string(error.what()).find("recorded graph"), std::string::npos) << error.what();
        }
        EXPECT_TRUE(x.c.equals_byte_for_byte(before));
        multiply_on_device(1, x.a.view(), x.b.view(), 0, x.c.view(), options, {});
        EXPECT_TRUE(x.c.equals_byte_for_byte(expected));
        cudaGraphExecDestroy(ready);
        cudaGraphDestroy(graph);
    }
}

TEST(rounded_once_device, other_types_and_too_little_workspace_are_refused) {
    HEPTAD_NEEDS_DEVICE();
    Operands x(Type::bf16, {8, 8, 8});
    EXPECT_THROW(on_device(x, exact("cuda")), Error);
    Operands y(Type::f32, {300, 300, 300});
    fill_floats(y.a, 30);
    fill_floats(y.b, 31);
    y.c.fill(0);
    Options options = exact("cuda");
    options.workspace_limit_bytes = 1000;
    EXPECT_THROW(on_device(y, options), Error);
}

}  // namespace
}  // namespace heptad::test
