// Products by residues on a device: what they promise of errors, for data of all sizes and scales; the same bits again,
// in tiles and by other kernels; classical answers where numbers are not finite; recorded in graphs.
#include <cuda_runtime.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/device_layout.hpp"
#include "base/moduli.hpp"
#include "base/types.hpp"
#include "kernels/cuda/residue/residue_launches.hpp"
#include "plan/predict/promised_error.hpp"
#include "product/device/device_matrix.hpp"
#include "product/device/device_product.hpp"
#include "product/device/residue_operands.hpp"

namespace heptad::test {
namespace {

TEST(residue_device, errors_are_at_most_those_of_the_library_on_normal_data) {
    HEPTAD_NEEDS_DEVICE();
    for (const Type type : {Type::f32, Type::f64}) {
        for (const auto& [m, k, n] : {std::tuple{640, 1500, 700}, {129, 4096, 1000}, {1031, 333, 517}}) {
            Operands x(type, m, k, n, Layout::rows, Layout::columns, Layout::columns);
            const ProductPlan plan = plan_device_product(m, k, n, type, by_residues(), {});
            ASSERT_TRUE(is_by_residues(plan)) << to_string(plan);
            EXPECT_FALSE(multiply(x, by_residues()).fell_back);
            const Errors ours = errors_of(x, m, k, n);
            const double promised = promised_error(plan, 1, false).bound;
            multiply(x, strict());
            const Errors library = errors_of(x, m, k, n);
            EXPECT_LE(ours.over_lines, promised);
            EXPECT_LE(ours.over_entries, std::max(library.over_entries, 2 * unit_roundoff(type)));
            fmt::print("{} {}x{}x{}: {:.2g} of |A||B|, the library {:.2g}; of lines {:.2g}, promised {:.2g}\n",
                       type_name(type), m, k, n, ours.over_entries, library.over_entries, ours.over_lines, promised);
        }
    }
}

TEST(residue_device, short_sums_have_large_integers) {
    HEPTAD_NEEDS_DEVICE();
    for (const std::int64_t k : {1, 2, 3, 17, 48, 130, 300}) {
        for (const Type type : {Type::f32, Type::f64}) {
            Operands x(type, 150, k, 140);
            multiply(x, by_residues(Accuracy::fast));
            EXPECT_LE(errors_of(x, 150, k, 140).over_lines, 30 * unit_roundoff(type)) << k << type_name(type);
            multiply(x, by_residues());
            EXPECT_LE(errors_of(x, 150, k, 140).over_entries, 4 * unit_roundoff(type)) << k << type_name(type);
        }
    }
}

TEST(residue_device, fast_has_a_modulus_less) {
    HEPTAD_NEEDS_DEVICE();
    for (const Type type : {Type::f32, Type::f64}) {
        Operands x(type, 512, 2048, 640);
        EXPECT_FALSE(multiply(x, by_residues(Accuracy::fast)).fell_back);
        EXPECT_LE(errors_of(x, 512, 2048, 640).over_entries, 30 * unit_roundoff(type));
    }
}

TEST(residue_device, rows_and_columns_of_any_scale_keep_their_digits) {
    HEPTAD_NEEDS_DEVICE();
    for (const auto& [type, most] : {std::pair{Type::f32, 55}, {Type::f64, 150}, {Type::f64, 450}, {Type::f64, 500}}) {
        Operands x(type, 300, 800, 280);
        const int octaves = most;
        set_all(x.a, [&](std::int64_t i, std::int64_t j) {
            return std::ldexp(x.a.get(i, j), static_cast<int>(i * 7919 % (2 * octaves)) - octaves);
        });
        set_all(x.b, [&](std::int64_t i, std::int64_t j) {
            return std::ldexp(x.b.get(i, j), static_cast<int>(j * 104729 % (2 * octaves)) - octaves);
        });
        EXPECT_EQ(multiply(x, by_residues()).fell_back, octaves > 480) << octaves;
        EXPECT_LE(errors_of(x, 300, 800, 280).over_entries, 4 * unit_roundoff(type)) << octaves;
    }
}

TEST(residue_device, less_even_data_takes_more_moduli_before_the_classical_product) {
    HEPTAD_NEEDS_DEVICE();
    int fell_back = 0, answered = 0;
    for (const int exponent : {0, 4, 8, 12, 16, 20, 30}) {
        Operands x(Type::f32, 256, 512, 256);
        for (std::int64_t i = 0; i < 256; ++i) {  // one large number in each row
            x.a.set(i, i, std::ldexp(1.0, exponent));
        }
        const RunReport report = multiply(x, by_residues());
        const double error = errors_of(x, 256, 512, 256).over_entries;
        multiply(x, strict());
        EXPECT_LE(error, 10 * std::max(errors_of(x, 256, 512, 256).over_entries, unit_roundoff(Type::f32))) << exponent;
        (report.fell_back ? fell_back : answered) += 1;
    }
    EXPECT_GT(fell_back, 0);
    EXPECT_GT(answered, 2);
}

TEST(residue_device, tiles_and_repeats_have_the_same_bits) {
    HEPTAD_NEEDS_DEVICE();
    for (const Layout layout : {Layout::rows, Layout::columns}) {
        Operands x(Type::f64, 5000, 96, 4500, Layout::rows, Layout::rows, layout);
        multiply(x, by_residues());
        const GuardedMatrix whole = x.c;
        multiply(x, by_residues());
        EXPECT_TRUE(x.c.equals_byte_for_byte(whole));
        Options small = by_residues();
        const ProductPlan plan = plan_device_product(5000, 96, 4500, Type::f64, small, {});
        small.workspace_limit_bytes = plan.workspace_bytes / 3;
        const ProductPlan tiled = plan_device_product(5000, 96, 4500, Type::f64, small, {});
        ASSERT_TRUE(is_by_residues(tiled));
        EXPECT_LE(tiled.workspace_bytes, small.workspace_limit_bytes);
        EXPECT_LT(tiled.tile_m, 5000);
        EXPECT_EQ(parse_plan(to_string(tiled)), tiled);
        x.c.fill(std::numeric_limits<double>::quiet_NaN());
        multiply(x, small);
        EXPECT_TRUE(x.c.equals_byte_for_byte(whole));
    }
}

TEST(residue_device, levels_inside_have_the_same_bits) {
    HEPTAD_NEEDS_DEVICE();
    for (const Type type : {Type::f32, Type::f64}) {
        for (const auto& [m, k, n] : {std::tuple{512, 1024, 768}, {257, 1030, 301}, {64, 4, 5}, {1000, 333, 129}}) {
            for (const Layout layout : {Layout::rows, Layout::columns}) {
                for (const int octaves : {1, 40}) {  // of rows and along k: powers of two, more moduli, or none of it
                    Operands x(type, m, k, n, layout, Layout::rows, layout);
                    const int most = octaves;
                    set_all(x.a, [&](std::int64_t i, std::int64_t j) {
                        return std::ldexp(x.a.get(i, j), static_cast<int>((i * 7919 + j * 31) % most));
                    });
                    for (const Accuracy accuracy : {Accuracy::balanced, Accuracy::fast}) {
                        Options options = by_residues(accuracy);
                        set_all(x.c, [](std::int64_t i, std::int64_t j) { return static_cast<double>(i - j); });
                        const bool fell_back = multiply(x, options, 1.5, -2).fell_back;
                        const GuardedMatrix without = x.c;
                        for (options.levels = 1; options.levels <= 2; ++options.levels) {
                            const ProductPlan plan = plan_device_product(m, k, n, type, options, {});
                            ASSERT_TRUE(is_by_residues(plan));
                            ASSERT_EQ(static_cast<int>(plan.levels.size()), options.levels);
                            set_all(x.c, [](std::int64_t i, std::int64_t j) { return static_cast<double>(i - j); });
                            EXPECT_EQ(multiply(x, options, 1.5, -2).fell_back, fell_back);
                            EXPECT_TRUE(x.c.equals_byte_for_byte(without))
                                << type_name(type) << " " << m << "x" << k << "x" << n << " levels " << options.levels
                                << " octaves " << octaves << " fell back " << fell_back;
                        }
                    }
                }
            }
        }
    }
}

TEST(residue_device, levels_in_bands_of_rows_have_the_same_bits) {
    HEPTAD_NEEDS_DEVICE();
    for (const Layout layout : {Layout::rows, Layout::columns}) {
        Operands x(Type::f32, 9000, 96, 4500, Layout::rows, Layout::rows, layout);
        multiply(x, by_residues());
        const GuardedMatrix whole = x.c;
        Options small = by_residues();
        small.levels = 1;
        small.workspace_limit_bytes = plan_device_product(9000, 96, 4500, Type::f32, small, {}).workspace_bytes * 2 / 3;
        const ProductPlan banded = plan_device_product(9000, 96, 4500, Type::f32, small, {});
        ASSERT_TRUE(is_by_residues(banded));
        EXPECT_EQ(banded.tile_n, 4500);
        EXPECT_LT(banded.tile_m, 9000);
        x.c.fill(std::numeric_limits<double>::quiet_NaN());
        // In the device's memory: products from the host's are cut up for the transfers first.
        const cuda::Stream stream(0);
        auto* const handle = static_cast<cudaStream_t>(stream.handle());
        DeviceMatrixCopy a(x.a, handle), b(x.b, handle), c(x.c, handle);
        ProductContext context;
        context.stream = handle;
        multiply_on_device(1, a.view(), b.view(), 0, c.view(), small, context);
        c.fetch();
        stream.synchronize();
        EXPECT_TRUE(x.c.equals_byte_for_byte(whole));
    }
}

/// A matrix by rows or by columns in device memory that ends with its last number: so many before the first one, and so
/// many between the end of a line and the next, all of them NaN.
class PlacedMatrix {
public:
    PlacedMatrix(const GuardedMatrix& x, Layout layout, std::int64_t before, std::int64_t gap, void* stream)
        : view_(x.view()), stream_(stream) {
        const bool by_rows = layout == Layout::rows;
        const std::int64_t lines = by_rows ? view_.rows : view_.cols, numbers = by_rows ? view_.cols : view_.rows;
        const auto element = static_cast<std::int64_t>(element_bytes(view_.type));
        view_.row_stride = by_rows ? numbers + gap : 1;
        view_.col_stride = by_rows ? 1 : numbers + gap;
        before_bytes_ = before * element;
        host_.resize(static_cast<std::size_t>((before + lines * (numbers + gap) - gap) * element), std::byte{0xff});
        memory_ = cuda::DeviceMemory(0, bytes(), stream);
        for (std::int64_t i = 0; i < view_.rows; ++i) {
            for (std::int64_t j = 0; j < view_.cols; ++j) {
                set_element(view_.type, element_pointer(on_host(), i, j), x.get(i, j));
            }
        }
        cuda::copy_rows(host_.data(), bytes(), memory_.data(), bytes(), bytes(), 1, stream);
    }
    View view() const { return seen_in(static_cast<std::byte*>(memory_.data())); }
    /// What it has become; what is around it is as it was.
    void fetch(GuardedMatrix& to) {
        cuda::copy_rows(memory_.data(), bytes(), host_.data(), bytes(), bytes(), 1, stream_);
        ASSERT_EQ(cudaStreamSynchronize(static_cast<cudaStream_t>(stream_)), cudaSuccess);
        const auto element = element_bytes(view_.type);
        for (std::int64_t i = 0; i < view_.rows; ++i) {
            for (std::int64_t j = 0; j < view_.cols; ++j) {
                std::byte* const made = element_pointer(on_host(), i, j);
                to.set(i, j, get_element(view_.type, made));
                std::fill_n(made, element, std::byte{0xff});
            }
        }
        EXPECT_EQ(std::count(host_.begin(), host_.end(), std::byte{0xff}), bytes());
    }

private:
    std::int64_t bytes() const { return static_cast<std::int64_t>(host_.size()); }
    View seen_in(std::byte* memory) const {
        View there = view_;
        there.data = memory + before_bytes_;
        return there;
    }
    View on_host() { return seen_in(host_.data()); }

    View view_;
    void* stream_;
    std::int64_t before_bytes_ = 0;
    std::vector<std::byte> host_;
    cuda::DeviceMemory memory_;
};

/// Kernels read and write 16 bytes at a time where they can, or side by side; lines of odd length begin anywhere.
TEST(residue_device, lines_that_begin_anywhere_have_the_same_bits) {
    HEPTAD_NEEDS_DEVICE();
    const cuda::Stream stream(0);
    ProductContext context;
    context.stream = stream.handle();
    for (const Type type : {Type::f32, Type::f64}) {
        for (const auto& [m, k, n] : {std::tuple{255, 1023, 517}, {2050, 390, 131}, {134, 519, 2309}}) {
            Operands x(type, m, k, n);
            EXPECT_FALSE(multiply(x, by_residues()).fell_back);
            set_all(x.c, [](std::int64_t i, std::int64_t j) { return static_cast<double>(i - j); });
            const GuardedMatrix old = x.c;
            Options options = by_residues();
            const auto multiply_placed = [&](const std::array<Layout, 3>& layouts, std::int64_t before,
                                             const std::array<std::int64_t, 3>& gaps, double beta) {
                PlacedMatrix a(x.a, layouts[0], before, gaps[0], stream.handle());
                PlacedMatrix b(x.b, layouts[1], before, gaps[1], stream.handle());
                PlacedMatrix c(old, layouts[2], before, gaps[2], stream.handle());
                multiply_on_device(1.5, a.view(), b.view(), beta, c.view(), options, context);
                c.fetch(x.c);
            };
            for (const double beta : {0.0, -2.0}) {
                options.levels = 0;
                const auto up = [](std::int64_t numbers) { return 16 - numbers % 16; };  // to a boundary
                multiply_placed({Layout::rows, Layout::rows, Layout::rows}, 0, {up(k), up(n), up(n)}, beta);
                const GuardedMatrix expected = x.c;
                for (int which = 0; which < 24; ++which) {
                    const auto layout = [&](int bit) {
                        return (which >> bit & 1) != 0 ? Layout::columns : Layout::rows;
                    };
                    const std::int64_t gap = which % 3, before = which / 3 % 4;
                    options.levels = which / 2 % 3;
                    multiply_placed({layout(0), layout(1), layout(2)}, before, {gap, gap, gap}, beta);
                    EXPECT_TRUE(x.c.equals_byte_for_byte(expected))
                        << type_name(type) << " " << m << "x" << k << "x" << n << " case " << which << " beta " << beta;
                }
            }
        }
    }
}

TEST(residue_device, what_is_not_finite_stays_in_its_rows_and_columns) {
    HEPTAD_NEEDS_DEVICE();
    for (const Type type : {Type::f32, Type::f64}) {
        for (const auto& [strange, octaves] : {std::pair{std::numeric_limits<double>::infinity(), 1},
                                               {std::numeric_limits<double>::quiet_NaN(), 1},
                                               {std::numeric_limits<double>::quiet_NaN(), 30}}) {
            Operands x(type, 200, 300, 250);
            const int most = octaves;  // of rows: where they differ much, powers of two count
            set_all(x.a, [&](std::int64_t i, std::int64_t j) {
                return std::ldexp(x.a.get(i, j), static_cast<int>(i * 7919 % most));
            });
            x.a.set(17, 5, strange);
            x.b.set(8, 100, strange);
            EXPECT_TRUE(multiply(x, by_residues()).fell_back);
            for (std::int64_t i = 0; i < 200; ++i) {
                for (std::int64_t j = 0; j < 250; ++j) {
                    ASSERT_EQ(std::isfinite(x.c.get(i, j)), i != 17 && j != 100) << i << " " << j;
                }
            }
        }
    }
}

TEST(residue_device, zeros_are_zeros_and_lines_of_zeros_cost_nobody_digits) {
    HEPTAD_NEEDS_DEVICE();
    Operands x(Type::f32, 200, 700, 220);
    for (std::int64_t p = 0; p < 700; ++p) {
        x.a.set(11, p, 0);
        x.b.set(p, 44, 0);
    }
    multiply(x, by_residues());
    for (std::int64_t j = 0; j < 220; ++j) {
        EXPECT_EQ(x.c.get(11, j), 0);
        EXPECT_EQ(x.c.get(j % 200, 44), 0);
    }
    EXPECT_LE(errors_of(x, 200, 700, 220).over_entries, 2 * unit_roundoff(Type::f32));
}

TEST(residue_device, replays_of_a_graph_are_products) {
    HEPTAD_NEEDS_DEVICE();
    Operands x(Type::f32, 320, 256, 300);
    const cuda::Stream stream(0);
    auto* const handle = static_cast<cudaStream_t>(stream.handle());
    DeviceMatrixCopy a(x.a, handle), b(x.b, handle), c(x.c, handle);
    ProductContext context;
    context.stream = handle;
    const ProductPlan plan = plan_device_product(320, 256, 300, Type::f32, by_residues(), context);
    const cuda::DeviceMemory workspace(0, plan.workspace_bytes, handle);
    context.workspace = workspace.data();
    context.workspace_bytes = plan.workspace_bytes;
    stream.synchronize();
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t ready = nullptr;
    ASSERT_EQ(cudaStreamBeginCapture(handle, cudaStreamCaptureModeGlobal), cudaSuccess);
    multiply_on_device(1, a.view(), b.view(), 0, c.view(), by_residues(), context);
    ASSERT_EQ(cudaStreamEndCapture(handle, &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&ready, graph, 0), cudaSuccess);
    for (int replay = 0; replay < 2; ++replay) {
        ASSERT_EQ(cudaGraphLaunch(ready, handle), cudaSuccess);
        c.fetch();
        stream.synchronize();
        EXPECT_LE(errors_of(x, 320, 256, 300).over_entries, 2 * unit_roundoff(Type::f32));
        x.c.fill(std::numeric_limits<double>::quiet_NaN());
    }
    cudaGraphExecDestroy(ready);
    cudaGraphDestroy(graph);
}

/// Bytes of every pair of signs and sizes, by Hopper's kernel and by that of other devices.
TEST(residue_device, both_kernels_of_products_of_bytes_are_right) {
    HEPTAD_NEEDS_DEVICE();
    constexpr std::int64_t m = 300, k = 1008, n = 500, k_n_bytes = 512;
    constexpr int kPlanes = 9;
    std::mt19937 random(3);
    std::uniform_int_distribution<int> bytes(-127, 127);
    std::vector<std::int8_t> a(kPlanes * m * k), b(kPlanes * n * k);
    for (auto* x : {&a, &b}) {
        for (std::int8_t& byte : *x) {
            byte = static_cast<std::int8_t>(bytes(random));
        }
    }
    std::fill(a.begin(), a.begin() + k, std::int8_t{127});  // the largest sum and the smallest
    std::fill(b.begin(), b.begin() + k, std::int8_t{127});
    std::fill(b.begin() + k, b.begin() + 2 * k, std::int8_t{-127});
    const cuda::Stream stream(0);
    const auto size = [](const auto& x) { return static_cast<std::int64_t>(x.size()); };
    const cuda::DeviceMemory of_a(0, size(a), stream.handle()), of_b(0, size(b), stream.handle());
    cuda::copy_rows(a.data(), size(a), of_a.data(), size(a), size(a), 1, stream.handle());
    cuda::copy_rows(b.data(), size(b), of_b.data(), size(b), size(b), 1, stream.handle());
    const auto planes = [](const cuda::DeviceMemory& memory, std::int64_t lines, std::int64_t line) {
        return cuda::BytePlanes{static_cast<std::uint8_t*>(memory.data()), lines, line, lines * line};
    };
    for (const auto launch : {cuda::launch_residue_multiply, cuda::launch_residue_multiply_mma}) {
        std::vector<std::uint8_t> c(kPlanes * m * k_n_bytes, 0xaa);
        const cuda::DeviceMemory of_c(0, size(c), stream.handle());
        cuda::copy_rows(c.data(), size(c), of_c.data(), size(c), size(c), 1, stream.handle());
        cuda::ResidueMultiply multiply{planes(of_a, m, k), planes(of_b, n, k), planes(of_c, m, k_n_bytes), {}};
        multiply.choice.usual = multiply.choice.most = kPlanes;
        ASSERT_EQ(launch(multiply, stream.handle()), 0);
        cuda::copy_rows(of_c.data(), size(c), c.data(), size(c), size(c), 1, stream.handle());
        stream.synchronize();
        int wrong = 0;
        for (int t = 0; t < kPlanes; ++t) {
            const int p = kModuli[static_cast<std::size_t>(t)];
            for (std::int64_t i = 0; i < m; i += i < 2 ? 1 : 37) {
                for (std::int64_t j = 0; j < n; ++j) {
                    std::int64_t sum = 0;
                    for (std::int64_t l = 0; l < k; ++l) {
                        sum += a[static_cast<std::size_t>((t * m + i) * k + l)] *
                               b[static_cast<std::size_t>((t * n + j) * k + l)];
                    }
                    const int made = c[static_cast<std::size_t>((t * m + i) * k_n_bytes + j)];
                    wrong += (sum - made) % p != 0 ? 1 : 0;
                }
            }
        }
        EXPECT_EQ(wrong, 0);
    }
}

}  // namespace
}  // namespace heptad::test
