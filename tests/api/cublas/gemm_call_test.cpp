// How calls of cuBLAS become products of ours, and what libheptad_cublas.so shows of itself. There is no cuBLAS here.
#include "api/cublas/gemm_call.hpp"

#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <cstdio>
#include <random>
#include <sstream>
#include <vector>

#include "api/cublas/entry_signatures.hpp"
#include "product/memory/product.hpp"

extern "C" heptad::cublas_testing::Gemm<int> cublasSgemm_v2;

namespace heptad::cublas {
namespace {

std::string output_of(const std::string& command) {
    std::string text;
    if (FILE* const pipe = popen((command + " 2>&1").c_str(), "r")) {
        std::array<char, 4096> buffer{};
        for (std::size_t n; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
            text.append(buffer.data(), n);
        }
        pclose(pipe);
    }
    return text;
}

/// By columns, `leading` apart, small integers.
struct Columns {
    std::int64_t rows, cols, leading;
    std::vector<double> values;
    Columns(std::int64_t r, std::int64_t c, unsigned seed) : rows(r), cols(c), leading(r + 3) {
        std::mt19937 random(seed);
        values.resize(static_cast<std::size_t>(2 * leading * cols));
        for (double& value : values) {
            value = static_cast<double>(random() % 17) - 8;
        }
    }
    /// Of the first or second matrix; the second begins where the first one's columns end.
    double at(std::int64_t i, std::int64_t j, std::int64_t matrix) const {
        return values[static_cast<std::size_t>(matrix * leading * cols + j * leading + i)];
    }
    Operand operand() const { return {values.data(), leading, leading * cols}; }
};

TEST(gemm_call, products_are_those_of_the_definition_in_every_form) {
    const std::int64_t m = 7, n = 5, k = 9;
    for (const int op_a : {kOpN, kOpT, kOpC}) {
        for (const int op_b : {kOpN, kOpT, kOpC}) {
            const Columns a(op_a == kOpN ? m : k, op_a == kOpN ? k : m, 1);
            const Columns b(op_b == kOpN ? k : n, op_b == kOpN ? n : k, 2);
            const Columns before(m, n, 3);
            Columns c = before;
            const double alpha = 2, beta = -3;
            GemmCall call;
            call.op_a = op_a;
            call.op_b = op_b;
            call.m = m;
            call.n = n;
            call.k = k;
            call.alpha = &alpha;
            call.beta = &beta;
            call.a = a.operand();
            call.b = b.operand();
            call.c = c.operand();
            call.count = 2;
            call.type = Type::f64;
            const std::optional<ProductBatch> products = as_products(call);
            ASSERT_TRUE(products);
            EXPECT_EQ(products->c.col_stride, 1) << "by rows";
            multiply_batch_in_memory(*products, {}, {});
            for (std::int64_t matrix = 0; matrix < 2; ++matrix) {
                for (std::int64_t i = 0; i < c.leading; ++i) {
                    for (std::int64_t j = 0; j < n; ++j) {
                        double sum = before.at(i, j, matrix);
                        if (i < m) {
                            sum *= beta;
                            for (std::int64_t q = 0; q < k; ++q) {
                                sum += alpha * (op_a == kOpN ? a.at(i, q, matrix) : a.at(q, i, matrix)) *
                                       (op_b == kOpN ? b.at(q, j, matrix) : b.at(j, q, matrix));
                            }
                        }
                        ASSERT_EQ(c.at(i, j, matrix), sum) << op_a << op_b << " at " << i << ", " << j;
                    }
                }
            }
        }
    }
}

/// The same of complex numbers, where op C conjugates and factors have imaginary parts.
template <class T>
void expect_complex_products_by_the_definition(Type type) {
    using Complex = std::complex<T>;
    const std::int64_t m = 6, n = 4, k = 5;
    const auto numbers = [](std::int64_t count, unsigned seed) {
        std::mt19937 random(seed);
        std::vector<Complex> values(static_cast<std::size_t>(count));
        for (Complex& value : values) {
            value = {static_cast<T>(random() % 9) - 4, static_cast<T>(random() % 9) - 4};
        }
        return values;
    };
    const auto taken = [](const std::vector<Complex>& x, std::int64_t leading, int op, std::int64_t i, std::int64_t j) {
        const Complex value = x[static_cast<std::size_t>(op == kOpN ? j * leading + i : i * leading + j)];
        return op == kOpC ? std::conj(value) : value;
    };
    for (const int op_a : {kOpN, kOpT, kOpC}) {
        for (const int op_b : {kOpN, kOpT, kOpC}) {
            const std::vector<Complex> a = numbers(m * k, 1), b = numbers(k * n, 2), before = numbers(m * n, 3);
            std::vector<Complex> c = before;
            const Complex alpha(2, -1), beta(-3, 2);
            GemmCall call;
            call.op_a = op_a;
            call.op_b = op_b;
            call.m = m;
            call.n = n;
            call.k = k;
            call.alpha = &alpha;
            call.beta = &beta;
            call.a = {a.data(), op_a == kOpN ? m : k, 0};
            call.b = {b.data(), op_b == kOpN ? k : n, 0};
            call.c = {c.data(), m, 0};
            call.type = type;
            const std::optional<ProductBatch> products = as_products(call);
            ASSERT_TRUE(products);
            multiply_batch_in_memory(*products, {}, {});
            for (std::int64_t i = 0; i < m; ++i) {
                for (std::int64_t j = 0; j < n; ++j) {
                    Complex sum = 0;
                    for (std::int64_t q = 0; q < k; ++q) {
                        sum += taken(a, call.a.leading, op_a, i, q) * taken(b, call.b.leading, op_b, q, j);
                    }
                    const auto at = static_cast<std::size_t>(j * m + i);
                    ASSERT_EQ(c[at], alpha * sum + beta * before[at]) << op_a << op_b << " at " << i << ", " << j;
                }
            }
        }
    }
}

TEST(gemm_call, complex_products_are_those_of_the_definition_in_every_form) {
    expect_complex_products_by_the_definition<float>(Type::c64);
    expect_complex_products_by_the_definition<double>(Type::c128);
}

TEST(gemm_call, wrong_arguments_are_left_to_cublas) {
    const double one = 1;
    GemmCall right;
    right.m = 4;
    right.n = 5;
    right.k = 6;
    right.op_b = kOpT;
    right.alpha = right.beta = &one;
    right.a = {&one, 4, 0};
    right.b = {&one, 5, 0};
    right.c = {&one, 4, 0};
    right.type = Type::f64;
    EXPECT_TRUE(as_products(right));
    const auto refused = [&](auto&& spoil) {
        GemmCall call = right;
        spoil(call);
        return !as_products(call);
    };
    EXPECT_TRUE(refused([](GemmCall& call) { call.op_a = 3; }));
    EXPECT_TRUE(refused([](GemmCall& call) { call.op_b = -1; }));
    EXPECT_TRUE(refused([](GemmCall& call) { call.m = -4; }));
    EXPECT_TRUE(refused([](GemmCall& call) { call.a.leading = 3; }));
    EXPECT_TRUE(refused([](GemmCall& call) { call.b.leading = 4; }));
    EXPECT_TRUE(refused([](GemmCall& call) { call.c.leading = 3; }));
    EXPECT_TRUE(refused([](GemmCall& call) { call.count = 0; }));
}

TEST(gemm_call, types_are_known_only_where_the_arithmetic_is_ours) {
    EXPECT_EQ(product_type(kR32F, kR32F, kR32F, kCompute32F), Type::f32);
    EXPECT_EQ(product_type(kR32F, kR32F, kR32F, kCompute32FFastTf32), Type::tf32);
    EXPECT_EQ(product_type(kR64F, kR64F, kR64F, kCompute64F), Type::f64);
    EXPECT_EQ(product_type(kR16BF, kR16BF, kR16BF, kCompute32F), Type::bf16);
    EXPECT_EQ(product_type(kR16F, kR16F, kR16F, kCompute32F), Type::f16);
    EXPECT_EQ(product_type(kR16BF, kR16BF, kR32F, kCompute32F), std::nullopt);
    EXPECT_EQ(product_type(kR16F, kR16F, kR16F, 64), std::nullopt) << "sums in f16";
    EXPECT_EQ(product_type(kR32F, kR32F, kR32F, 69), std::nullopt) << "pedantic";
    EXPECT_EQ(product_type(kR32F, kR32F, kR32F, 75), std::nullopt) << "by bf16";
    EXPECT_EQ(product_type(kC32F, kC32F, kC32F, kCompute32F), Type::c64);
    EXPECT_EQ(product_type(kC64F, kC64F, kC64F, kCompute64F), Type::c128);
    EXPECT_EQ(product_type(kC32F, kC32F, kC32F, kCompute32FFastTf32), std::nullopt) << "complex by tf32";
    EXPECT_EQ(product_type(kC32F, kC32F, kC64F, kCompute64F), std::nullopt);
    EXPECT_EQ(product_type(3, 3, 10, 72), std::nullopt) << "bytes";
}

TEST(libheptad_cublas, links_no_library_of_cuda) {
    const std::string dynamic = output_of("readelf -dW " HEPTAD_CUBLAS_DROP_IN);
    ASSERT_NE(dynamic.find("libc.so"), std::string::npos) << dynamic;
    for (const char* library : {"cublas.so", "cublasLt", "cudart", "libcuda"}) {
        EXPECT_EQ(dynamic.find(std::string("library: [lib") + library), std::string::npos) << dynamic;
        EXPECT_EQ(dynamic.find(std::string("library: [") + library), std::string::npos) << dynamic;
    }
}

TEST(libheptad_cublas, shows_its_entries_without_versions_and_nothing_else) {
    std::istringstream symbols(output_of("nm -D --defined-only " HEPTAD_CUBLAS_DROP_IN));
    int entries = 0, own = 0;
    for (std::string address, kind, name; symbols >> address >> kind >> name;) {
        EXPECT_EQ(kind, "T") << name;
        EXPECT_EQ(name.find('@'), std::string::npos) << name;
        const bool is_entry =
            name.starts_with("cublas") && (name.find("gemm") != std::string::npos ||
                                           name.find("Gemm") != std::string::npos || name == "cublasLtMatmul");
        EXPECT_TRUE(is_entry || name.starts_with("heptad_cublas_")) << name;
        ++(is_entry ? entries : own);
    }
    EXPECT_EQ(entries, 31);  // six forms of four types, three with types as arguments, twice; and cublasLt's
    EXPECT_EQ(own, 2);
}

TEST(libheptad_cublas, says_that_there_is_no_cublas) {
    const float one = 1;
    int handle = 0;
    EXPECT_EQ(cublasSgemm_v2(&handle, 0, 0, 2, 2, 2, &one, &one, 2, &one, 2, &one, &handle, 2), kNotInitialized);
}

}  // namespace
}  // namespace heptad::cublas
