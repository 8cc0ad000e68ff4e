// Complex products on a device, by residues and by the library: against sums in long double in every form and layout,
// errors beside the library's, data that is uneven or not finite, memory, graphs.
#include <cuda_runtime.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "base/complex_as_real.hpp"
#include "base/device_layout.hpp"
#include "base/error.hpp"
#include "plan/predict/promised_error.hpp"
#include "product/device/device_matrix.hpp"
#include "product/device/device_product.hpp"

namespace heptad::test {
namespace {

using Factor = std::complex<double>;
using Exact = std::complex<long double>;

Exact get(const ConstView& v, std::int64_t i, std::int64_t j) {
    return with_part_type(v.type, [&]<class T>() {
        T parts[2];
        std::memcpy(parts, element_pointer(v, i, j), sizeof parts);
        return Exact(parts[0], v.conjugate ? -parts[1] : parts[1]);
    });
}

void set(const View& v, std::int64_t i, std::int64_t j, Factor x) {
    with_part_type(v.type, [&]<class T>() {
        const T parts[2] = {static_cast<T>(x.real()), static_cast<T>(x.imag())};
        std::memcpy(element_pointer(v, i, j), parts, sizeof parts);
    });
}

template <class Make>
void set_all(GuardedMatrix& x, Make&& make) {
    for (std::int64_t i = 0; i < x.view().rows; ++i) {
        for (std::int64_t j = 0; j < x.view().cols; ++j) {
            set(x.view(), i, j, make(i, j));
        }
    }
}

struct Operands {
    GuardedMatrix a, b, c;
    Operands(Type type, std::int64_t m, std::int64_t k, std::int64_t n, Layout of_a = Layout::rows,
             Layout of_b = Layout::rows, Layout of_c = Layout::rows)
        : a(type, m, k, of_a), b(type, k, n, of_b), c(type, m, n, of_c) {
        std::mt19937 random(5);
        std::normal_distribution<double> normal;
        for (GuardedMatrix* x : {&a, &b}) {
            set_all(*x, [&](std::int64_t, std::int64_t) { return Factor(normal(random), normal(random)); });
        }
        forget_result();
    }
    void forget_result() {
        const double nan = std::numeric_limits<double>::quiet_NaN();
        set_all(c, [&](std::int64_t, std::int64_t) { return Factor(nan, nan); });
    }
};

Options on_device(const char* leaf, Accuracy accuracy = Accuracy::balanced) {
    Options options;
    options.device = "cuda";
    options.leaf = leaf;
    options.levels = leaf == std::string("auto") ? -1 : 0;
    options.accuracy = accuracy;
    return options;
}
Options by_residues(Accuracy accuracy = Accuracy::balanced) {
    return on_device(kResidueLeaf, accuracy);
}
Options strict() {
    return on_device("auto", Accuracy::strict);
}

RunReport multiply(Operands& x, const Options& options) {
    return multiply_on_device(1, x.a.view(), x.b.view(), 0, x.c.view(), options, {});
}

/// The largest error over |a_i||b_j|, and over |A||B|, of some rows.
struct Errors {
    double over_lines = 0, over_entries = 0;
};
Errors errors_of(const Operands& x) {
    const ConstView a = x.a.view(), b = x.b.view(), c = x.c.view();
    Errors worst;
    for (std::int64_t i = 0; i < c.rows; i += std::max<std::int64_t>(1, c.rows / 5)) {
        for (std::int64_t j = 0; j < c.cols; j += std::max<std::int64_t>(1, c.cols / 40)) {
            Exact sum = 0;
            long double sizes = 0, of_row = 0, of_col = 0;
            for (std::int64_t p = 0; p < a.cols; ++p) {
                const Exact left = get(a, i, p), right = get(b, p, j);
                sum += left * right;
                sizes += std::abs(left) * std::abs(right);
                of_row += std::norm(left);
                of_col += std::norm(right);
            }
            const long double error = std::abs(get(c, i, j) - sum);
            const auto over = [&](long double size) {
                const auto ratio = static_cast<double>(error == 0 ? 0 : error / size);
                return std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio;
            };
            worst.over_lines = std::max(worst.over_lines, over(std::sqrt(of_row * of_col)));
            worst.over_entries = std::max(worst.over_entries, over(sizes));
        }
    }
    return worst;
}

/// As it lies in memory, transposed, conjugated, or both.
ConstView meant(const ConstView& matrix, bool transpose, bool conjugate) {
    ConstView view = transpose ? transposed(matrix) : matrix;
    view.conjugate = conjugate;
    return view;
}

TEST(complex_device, every_form_layout_and_factor_equals_the_definition_bit_for_bit) {
    HEPTAD_NEEDS_DEVICE();
    std::mt19937 random(1);
    const auto pick = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
    const Factor factors[] = {{1, 0}, {0, 0}, {-2, 0}, {0, 1}, {2, -3}};
    const cuda::Stream stream(0);
    for (int round = 0; round < 400; ++round) {
        const Type type = pick(1) == 0 ? Type::c64 : Type::c128;
        const std::int64_t m = pick(4) == 0 ? 1 + pick(150) : 1 + pick(9), k = pick(4) == 0 ? pick(300) : pick(9),
                           n = pick(4) == 0 ? 1 + pick(150) : 1 + pick(9);
        const bool transpose_a = pick(1) == 0, transpose_b = pick(1) == 0, from_host = pick(5) == 0;
        const auto layout = [&] { return all_layouts[pick(from_host ? 3 : 5)]; };
        GuardedMatrix a(type, transpose_a ? k : m, transpose_a ? m : k, layout());
        GuardedMatrix b(type, transpose_b ? n : k, transpose_b ? k : n, layout());
        GuardedMatrix c(type, m, n, layout());
        const auto small = [&](std::int64_t, std::int64_t) { return Factor(pick(6) - 3, pick(6) - 3); };
        set_all(a, small);
        set_all(b, small);
        const Factor alpha = factors[pick(4)], beta = factors[pick(4)];
        if (beta != 0.0) {
            set_all(c, small);  // otherwise C holds NaN, which must not be read
        }
        const bool conjugate_a = pick(1) == 0, conjugate_b = pick(1) == 0;
        const ConstView left = meant(a.view(), transpose_a, conjugate_a),
                        right = meant(b.view(), transpose_b, conjugate_b);
        GuardedMatrix wanted = c;
        for (std::int64_t i = 0; i < m; ++i) {
            for (std::int64_t j = 0; j < n; ++j) {
                Exact sum = 0;
                for (std::int64_t p = 0; p < k; ++p) {
                    sum += get(left, i, p) * get(right, p, j);
                }
                sum *= Exact(alpha);
                sum += beta == 0.0 ? Exact() : Exact(beta) * get(c.view(), i, j);
                set(wanted.view(), i, j, Factor(sum) + 0.0);
            }
        }
        const Options options =
            pick(2) == 0 ? strict() : by_residues(pick(1) == 0 ? Accuracy::fast : Accuracy::balanced);
        Product product{alpha.real(), left, right, beta.real(), c.view(), {alpha.imag(), beta.imag()}};
        if (from_host) {
            multiply_on_device(product, options, {});
        } else {
            DeviceMatrixCopy da(a, stream.handle()), db(b, stream.handle()), dc(c, stream.handle());
            product.a = meant(da.view(), transpose_a, conjugate_a);
            product.b = meant(db.view(), transpose_b, conjugate_b);
            product.c = dc.view();
            ProductContext context;
            context.stream = stream.handle();
            multiply_on_device(product, options, context);
            dc.fetch();
            stream.synchronize();
        }
        for (std::int64_t i = 0; i < m; ++i) {
            for (std::int64_t j = 0; j < n; ++j) {
                ASSERT_EQ(get(c.view(), i, j), get(wanted.view(), i, j))
                    << type_name(type) << ' ' << m << 'x' << k << 'x' << n << " leaf " << options.leaf << " at " << i
                    << ", " << j << (from_host ? " from the host" : "") << (conjugate_a ? " conj a" : "")
                    << (conjugate_b ? " conj b" : "");
            }
        }
        set_all(c, [](std::int64_t, std::int64_t) { return Factor(); });
        set_all(wanted, [](std::int64_t, std::int64_t) { return Factor(); });
        ASSERT_TRUE(c.equals_byte_for_byte(wanted)) << "guards";
    }
}

TEST(complex_device, errors_are_at_most_those_of_the_library_on_normal_data) {
    HEPTAD_NEEDS_DEVICE();
    for (const Type type : {Type::c64, Type::c128}) {
        for (const auto& [m, k, n] : {std::tuple{640, 1500, 700}, {129, 4096, 1000}, {1031, 333, 517}}) {
            Operands x(type, m, k, n, Layout::rows, Layout::columns, Layout::columns);
            const ProductPlan plan = plan_device_product(m, k, n, type, by_residues(), {});
            ASSERT_TRUE(is_by_residues(plan)) << to_string(plan);
            EXPECT_FALSE(multiply(x, by_residues()).fell_back);
            const Errors ours = errors_of(x);
            const double promised = promised_error(plan, 1, false).bound;
            x.forget_result();
            multiply(x, strict());
            const Errors library = errors_of(x);
            EXPECT_LE(ours.over_lines, promised);
            EXPECT_LE(ours.over_entries, std::max(library.over_entries, 2 * unit_roundoff(type)));
            fmt::print("{} {}x{}x{}: {:.2g} of |A||B|, the library {:.2g}; of lines {:.2g}, promised {:.2g}\n",
                       type_name(type), m, k, n, ours.over_entries, library.over_entries, ours.over_lines, promised);
        }
    }
}

TEST(complex_device, thin_products_and_fast_ones_keep_their_digits) {
    HEPTAD_NEEDS_DEVICE();
    for (const Type type : {Type::c64, Type::c128}) {
        for (const auto& [m, k, n] :
             {std::tuple{150, 1, 140}, {1, 300, 200}, {333, 17, 1}, {2, 4097, 3}, {70, 48, 90}}) {
            Operands x(type, m, k, n);
            multiply(x, by_residues());
            EXPECT_LE(errors_of(x).over_lines, 6 * unit_roundoff(type)) << m << 'x' << k << 'x' << n;
            multiply(x, by_residues(Accuracy::fast));
            EXPECT_LE(errors_of(x).over_lines, 40 * unit_roundoff(type)) << m << 'x' << k << 'x' << n;
        }
    }
}

TEST(complex_device, rows_and_columns_of_any_scale_keep_their_digits) {
    HEPTAD_NEEDS_DEVICE();
    for (const auto& [type, octaves] : {std::pair{Type::c64, 55}, {Type::c128, 150}, {Type::c128, 450}}) {
        Operands x(type, 300, 800, 280);
        set_all(x.a, [&, most = octaves](std::int64_t i, std::int64_t j) {
            return Factor(get(x.a.view(), i, j)) * std::ldexp(1.0, static_cast<int>(i * 7919 % (2 * most)) - most);
        });
        set_all(x.b, [&, most = octaves](std::int64_t i, std::int64_t j) {
            return Factor(get(x.b.view(), i, j)) * std::ldexp(1.0, static_cast<int>(j * 104729 % (2 * most)) - most);
        });
        EXPECT_FALSE(multiply(x, by_residues()).fell_back) << octaves;
        EXPECT_LE(errors_of(x).over_entries, 6 * unit_roundoff(type)) << octaves;
    }
}

TEST(complex_device, parts_of_unlike_size_count_together) {
    HEPTAD_NEEDS_DEVICE();
    for (const double imaginary : {0.0, 1e-12, 1e12}) {
        Operands x(Type::c128, 200, 300, 210);
        for (GuardedMatrix* matrix : {&x.a, &x.b}) {
            set_all(*matrix, [&](std::int64_t i, std::int64_t j) {
                const Exact old = get(matrix->view(), i, j);
                return Factor(static_cast<double>(old.real()), static_cast<double>(old.imag()) * imaginary);
            });
        }
        EXPECT_FALSE(multiply(x, by_residues()).fell_back) << imaginary;
        EXPECT_LE(errors_of(x).over_entries, 6 * unit_roundoff(Type::c128)) << imaginary;
    }
}

TEST(complex_device, less_even_data_takes_more_moduli_before_the_classical_product) {
    HEPTAD_NEEDS_DEVICE();
    int fell_back = 0, answered = 0;
    for (const int exponent : {0, 4, 8, 12, 16, 20, 30}) {
        Operands x(Type::c64, 256, 512, 256);
        for (std::int64_t i = 0; i < 256; ++i) {  // one large number in each row
            set(x.a.view(), i, i, Factor(0, std::ldexp(1.0, exponent)));
        }
        const RunReport report = multiply(x, by_residues());
        const double error = errors_of(x).over_entries;
        multiply(x, strict());
        EXPECT_LE(error, 10 * std::max(errors_of(x).over_entries, unit_roundoff(Type::c64))) << exponent;
        (report.fell_back ? fell_back : answered) += 1;
    }
    EXPECT_GT(fell_back, 0);
    EXPECT_GT(answered, 2);
}

TEST(complex_device, what_is_not_finite_stays_in_its_rows_and_columns) {
    HEPTAD_NEEDS_DEVICE();
    for (const Type type : {Type::c64, Type::c128}) {
        for (const double strange :
             {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
            Operands x(type, 130, 140, 150);
            set(x.a.view(), 17, 3, Factor(1, strange));
            set(x.b.view(), 5, 90, Factor(strange, 1));
            EXPECT_TRUE(multiply(x, by_residues()).fell_back);
            const GuardedMatrix ours = x.c;
            for (std::int64_t i = 0; i < 130; ++i) {
                for (std::int64_t j = 0; j < 150; ++j) {
                    const Exact entry = get(ours.view(), i, j);
                    const bool finite = std::isfinite(entry.real()) && std::isfinite(entry.imag());
                    ASSERT_EQ(finite, i != 17 && j != 90) << i << ", " << j;
                }
            }
        }
    }
}

TEST(complex_device, tiles_and_repeats_have_the_same_bits) {
    HEPTAD_NEEDS_DEVICE();
    for (const Layout layout : {Layout::rows, Layout::columns}) {
        Operands x(Type::c64, 5000, 96, 4500, Layout::rows, Layout::rows, layout);
        multiply(x, by_residues());
        const GuardedMatrix whole = x.c;
        multiply(x, by_residues());
        EXPECT_TRUE(x.c.equals_byte_for_byte(whole));
        Options small = by_residues();
        small.workspace_limit_bytes = plan_device_product(5000, 96, 4500, Type::c64, small, {}).workspace_bytes / 2;
        const ProductPlan tiled = plan_device_product(5000, 96, 4500, Type::c64, small, {});
        ASSERT_TRUE(is_by_residues(tiled));
        EXPECT_LT(tiled.tile_m * tiled.tile_n, std::int64_t{5000} * 4500);
        EXPECT_LE(tiled.workspace_bytes, small.workspace_limit_bytes);
        x.forget_result();
        EXPECT_LE(multiply(x, small).workspace_used_bytes, small.workspace_limit_bytes);
        EXPECT_TRUE(x.c.equals_byte_for_byte(whole));
    }
}

TEST(complex_device, replays_of_a_graph_are_products_in_memory_of_the_caller) {
    HEPTAD_NEEDS_DEVICE();
    const std::int64_t n = 256;
    Operands x(Type::c64, n, n, n);
    const cuda::Stream stream(0);
    auto* const handle = static_cast<cudaStream_t>(stream.handle());
    DeviceMatrixCopy da(x.a, handle), db(x.b, handle), dc(x.c, handle);
    ProductContext context;
    context.stream = handle;
    const ProductPlan plan = plan_device_product(n, n, n, Type::c64, by_residues(), context);
    const cuda::DeviceMemory workspace(0, plan.workspace_bytes, handle);
    context.workspace = workspace.data();
    context.workspace_bytes = plan.workspace_bytes;
    stream.synchronize();
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t ready = nullptr;
    ASSERT_EQ(cudaStreamBeginCapture(handle, cudaStreamCaptureModeGlobal), cudaSuccess);
    multiply_on_device(1, da.view(), db.view(), 0, dc.view(), by_residues(), context);
    ASSERT_EQ(cudaStreamEndCapture(handle, &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&ready, graph, 0), cudaSuccess);
    for (int replay = 0; replay < 2; ++replay) {
        ASSERT_EQ(cudaGraphLaunch(ready, handle), cudaSuccess);
        dc.fetch();
        stream.synchronize();
        EXPECT_LE(errors_of(x).over_entries, 4 * unit_roundoff(Type::c64));
        x.forget_result();
    }
    cudaGraphExecDestroy(ready);
    cudaGraphDestroy(graph);
}

TEST(complex_device, numbers_between_their_boundaries_are_refused) {
    HEPTAD_NEEDS_DEVICE();
    const cuda::Stream stream(0);
    const cuda::DeviceMemory memory(0, 1 << 16, stream.handle());
    auto* const begin = static_cast<std::byte*>(memory.data());
    const View a(begin + 8, Type::c128, 4, 4, 4, 1), b(begin + 4096, Type::c128, 4, 4, 4, 1),
        c(begin + 8192, Type::c128, 4, 4, 4, 1);
    EXPECT_THROW(multiply_on_device(1, a, b, 0, c, strict(), {}), Error);
}

}  // namespace
}  // namespace heptad::test
