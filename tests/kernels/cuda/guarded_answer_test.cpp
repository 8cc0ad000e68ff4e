// The classical product that stands by for sums that cannot be trusted: right for every layout, with room for copies of
// A and B, for parts of them and for none; and not there at all where the sums could be trusted.
#include <gtest/gtest.h>

#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "base/types.hpp"
#include "kernels/cuda/device/cuda_backend.hpp"
#include "product/device/device_matrix.hpp"

namespace heptad::test {
namespace {

struct Size {
    std::int64_t m, k, n;
};
struct Case {
    Type type, result;
    Size size;
    Layout a, b, c;
    double alpha, beta;
    std::int64_t free_bytes;
};

constexpr double kAny = std::numeric_limits<double>::infinity();
constexpr GuardLimits kNothingIsSafe{}, kAllIsSafe{kAny, kAny, kAny};

/// `watched`: the guard knows the largest values of A and B, as it does behind levels.
void answer(const Case& what, const GuardLimits& limits, GuardedMatrix& a, GuardedMatrix& b, GuardedMatrix& c,
            bool watched = false) {
    const cuda::Stream stream(0);
    cuda::CudaBackend backend(0, stream.handle());
    const cuda::DeviceMemory free(0, std::max<std::int64_t>(what.free_bytes, 1), stream.handle());
    DeviceMatrixCopy on_a(a, stream.handle()), on_b(b, stream.handle()), on_c(c, stream.handle());
    backend.begin_product(nullptr, 0);
    DeferredGuard& guard = *backend.deferred_guard();
    guard.start(limits, what.size.m, what.size.k, what.size.n);
    if (watched) {
        guard.watch(0, on_a.view());
        guard.watch(1, on_b.view());
    }
    guard.answer_if_unsafe({what.alpha, on_a.view(), on_b.view(), what.beta, on_c.view()},
                           {static_cast<std::byte*>(free.data()), static_cast<std::size_t>(what.free_bytes)});
    guard.finish();
    on_c.fetch();
    stream.synchronize();
    EXPECT_EQ(backend.take_verdict().fell_back, limits.a == 0);
}

/// Integers, so that every sum is exact and the result is rounded once.
void expect_right(const Case& what, bool watched = false) {
    const auto& [m, k, n] = what.size;
    std::mt19937 random(5);
    GuardedMatrix a(what.type, m, k, what.a), b(what.type, k, n, what.b), c(what.result, m, n, what.c);
    a.fill_random(random, 3);
    b.fill_random(random, 3);
    c.fill(what.beta == 0 ? std::numeric_limits<double>::quiet_NaN() : 2);
    GuardedMatrix expected = c;
    std::vector<int> row(static_cast<std::size_t>(k)), columns;
    for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t p = 0; p < k; ++p) {
            columns.push_back(static_cast<int>(b.get(p, j)));
        }
    }
    for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t p = 0; p < k; ++p) {
            row[static_cast<std::size_t>(p)] = static_cast<int>(a.get(i, p));
        }
        for (std::int64_t j = 0; j < n; ++j) {
            const int sum = std::inner_product(row.begin(), row.end(), columns.begin() + j * k, 0);
            expected.set(i, j, what.alpha * sum + (what.beta == 0 ? 0 : what.beta * 2));
        }
    }
    answer(what, kNothingIsSafe, a, b, c, watched);
    EXPECT_TRUE(c.equals(expected)) << (watched ? "watched " : "") << type_name(what.type) << " to "
                                    << type_name(what.result) << " " << m << "x" << k << "x" << n << " layouts "
                                    << static_cast<int>(what.a) << static_cast<int>(what.b) << static_cast<int>(what.c)
                                    << " beta " << what.beta << " free " << what.free_bytes;
}

TEST(guarded_answer, is_exact_on_integers_for_every_type_and_layout) {
    HEPTAD_NEEDS_DEVICE();
    constexpr std::int64_t kMuch = 16 << 20;
    for (const Type type : {Type::bf16, Type::f16, Type::tf32, Type::f32, Type::f64}) {
        for (const Layout a : all_layouts) {
            for (const Layout b : all_layouts) {
                expect_right({type, type, {300, 136, 413}, a, b, Layout::rows, 1, 0, kMuch});
                expect_right({type, type, {304, 131, 416}, a, b, Layout::rows_padded, 1, 0, kMuch});
                expect_right({type, type, {296, 128, 520}, a, b, Layout::columns, 1, 0, kMuch});
            }
        }
        for (const Layout c : all_layouts) {
            expect_right({type, type, {270, 129, 390}, Layout::rows, Layout::rows, c, 2, 0, kMuch});
            expect_right({type, type, {270, 129, 390}, Layout::rows, Layout::rows, c, -1, 0.5, kMuch});
        }
    }
}

TEST(guarded_answer, is_exact_for_odd_thin_and_larger_sizes) {
    HEPTAD_NEEDS_DEVICE();
    for (const Type type : {Type::bf16, Type::f16, Type::tf32, Type::f32, Type::f64}) {
        for (const Size& size : {Size{1, 1, 1}, Size{1, 7, 3}, Size{5, 1030, 2}, Size{513, 64, 1}, Size{2, 3, 900},
                                 Size{1100, 520, 777}, Size{256, 2048, 384}, Size{3072, 65, 1537}}) {
            for (const double beta : {0.0, 1.0}) {
                expect_right({type, type, size, Layout::rows, Layout::rows, Layout::rows, 1, beta, 64 << 20});
            }
            if (type == Type::bf16 || type == Type::f16) {
                expect_right({type, Type::f32, size, Layout::columns, Layout::rows, Layout::rows, 1, 0, 64 << 20});
                expect_right({type, Type::f32, size, Layout::rows, Layout::columns, Layout::columns, 1, 2, 64 << 20});
            }
        }
    }
}

TEST(guarded_answer, is_exact_where_every_block_makes_several_tiles) {
    HEPTAD_NEEDS_DEVICE();
    for (const Type type : {Type::bf16, Type::f16, Type::tf32}) {
        for (const Layout b : {Layout::rows, Layout::columns}) {
            expect_right({type, type, {2048, 264, 6144}, Layout::rows, b, Layout::rows, 1, 0, 64 << 20});
        }
        expect_right({type, type, {2040, 264, 6139}, Layout::rows, Layout::rows, Layout::rows, -1, 2, 64 << 20});
    }
}

TEST(guarded_answer, is_made_in_parts_where_room_is_little_and_without_copies_where_there_is_none) {
    HEPTAD_NEEDS_DEVICE();
    for (const Type type : {Type::bf16, Type::tf32, Type::f32, Type::f64}) {
        const std::int64_t line_bytes = 80 * static_cast<std::int64_t>(element_bytes(type));
        for (const std::int64_t lines : {0, 700, 768, 1600, 2400, 3100, 5000}) {
            expect_right(
                {type, type, {1700, 77, 1900}, Layout::columns, Layout::rows, Layout::rows, 1, 2, lines * line_bytes});
            expect_right(
                {type, type, {1700, 80, 1900}, Layout::rows, Layout::rows, Layout::columns, 1, 0, lines * line_bytes});
        }
    }
}

/// What the copy engine can round is read where it lies then.
TEST(guarded_answer, of_tf32_is_exact_where_the_largest_values_are_known) {
    HEPTAD_NEEDS_DEVICE();
    for (const Layout c : {Layout::rows, Layout::columns, Layout::columns_padded}) {
        for (const Layout a : all_layouts) {
            for (const Layout b : all_layouts) {
                expect_right({Type::tf32, Type::tf32, {300, 136, 416}, a, b, c, 1, 0, 16 << 20}, true);
                expect_right({Type::tf32, Type::tf32, {303, 131, 413}, a, b, c, -1, 2, 16 << 20}, true);
            }
        }
    }
    for (const std::int64_t lines : {768, 1600, 2400, 5000}) {
        for (const Layout b : {Layout::rows, Layout::columns}) {
            expect_right({Type::tf32, Type::tf32, {1700, 80, 1900}, Layout::rows, b, Layout::rows, 1, 2, lines * 320},
                         true);
        }
    }
}

TEST(guarded_answer, leaves_c_alone_where_the_sums_can_be_trusted) {
    HEPTAD_NEEDS_DEVICE();
    for (const Type type : {Type::bf16, Type::f16, Type::tf32, Type::f32, Type::f64}) {
        const Case what{type, type, {700, 300, 500}, Layout::rows, Layout::rows, Layout::rows, 1, 0, 16 << 20};
        std::mt19937 random(5);
        GuardedMatrix a(type, 700, 300, what.a), b(type, 300, 500, what.b), c(type, 700, 500, what.c);
        a.fill_random(random);
        b.fill_random(random);
        c.fill(9);
        const GuardedMatrix before = c;
        answer(what, kAllIsSafe, a, b, c);
        EXPECT_TRUE(c.equals_byte_for_byte(before)) << type_name(type);
    }
}

/// Read by the copy engine, or copied by a kernel: to nearest either way, and what is finite stays so.
TEST(guarded_answer, operands_of_tf32_are_rounded_to_nearest) {
    HEPTAD_NEEDS_DEVICE();
    const float largest = std::numeric_limits<float>::max();
    const double given[] = {1 + 0x1p-12, 1 + 0x1.8p-11, -1 - 0x1p-12, -1 - 0x1.8p-11, 0x1.fffp-3, 0.5 * largest, 3};
    const double expected[] = {1, 1 + 0x1p-10, -1, -1 - 0x1p-10, 0.25, 0x1p127, 3};
    constexpr std::int64_t kCount = std::size(given);
    for (const auto& [of_a, watched] : {std::pair(true, true), {true, false}, {false, true}, {false, false}}) {
        for (const Layout layout : {Layout::rows, Layout::columns}) {
            const Case what{Type::tf32, Type::tf32, {64, 32, 96}, layout, layout, Layout::rows, 1, 0, 1 << 20};
            GuardedMatrix a(Type::tf32, 64, 32, layout), b(Type::tf32, 32, 96, layout), c(Type::tf32, 64, 96, what.c);
            a.fill(0);
            b.fill(0);
            for (std::int64_t i = 0; i < kCount; ++i) {
                (of_a ? a : b).set(i, i, given[i]);
                (of_a ? b : a).set(i, i, 1);
            }
            answer(what, kNothingIsSafe, a, b, c, watched);
            for (std::int64_t i = 0; i < kCount; ++i) {
                EXPECT_EQ(c.get(i, i), expected[i]) << (of_a ? "a " : "b ") << static_cast<int>(layout);
            }
        }
    }
}

TEST(guarded_answer, the_largest_f32_stays_finite_in_tf32) {
    HEPTAD_NEEDS_DEVICE();
    const double largest = std::numeric_limits<float>::max();
    for (const auto& [layout, watched] :
         {std::pair(Layout::rows, true), {Layout::rows, false}, {Layout::columns, true}, {Layout::columns, false}}) {
        const Case what{Type::tf32, Type::tf32, {64, 32, 96}, layout, layout, Layout::rows, 1, 0, 1 << 20};
        GuardedMatrix a(Type::tf32, 64, 32, layout), b(Type::tf32, 32, 96, layout), c(Type::tf32, 64, 96, what.c);
        a.fill(0);
        b.fill(0);
        a.set(0, 0, largest);
        b.set(0, 0, 0.25);
        a.set(1, 1, 0.25);
        b.set(1, 1, -largest);
        answer(what, kNothingIsSafe, a, b, c, watched);
        EXPECT_NEAR(c.get(0, 0), 0.25 * largest, 0x1p-10 * largest) << static_cast<int>(layout);
        EXPECT_NEAR(c.get(1, 1), -0.25 * largest, 0x1p-10 * largest) << static_cast<int>(layout);
    }
}

TEST(guarded_answer, rounds_as_the_classical_product_does_and_keeps_nans_in_their_rows) {
    HEPTAD_NEEDS_DEVICE();
    for (const Type type : {Type::bf16, Type::f16, Type::tf32}) {
        const Case what{type, type, {520, 1000, 410}, Layout::rows, Layout::rows, Layout::rows, 1, 0, 16 << 20};
        std::mt19937 random(6);
        std::uniform_real_distribution<double> uniform(-1, 1);
        GuardedMatrix a(type, 520, 1000, what.a), b(type, 1000, 410, what.b), c(type, 520, 410, what.c);
        for (GuardedMatrix* x : {&a, &b}) {
            for (std::int64_t i = 0; i < x->view().rows; ++i) {
                for (std::int64_t j = 0; j < x->view().cols; ++j) {
                    x->set(i, j, uniform(random));
                }
            }
        }
        a.set(17, 999, std::numeric_limits<double>::quiet_NaN());
        b.set(0, 409, std::numeric_limits<double>::infinity());
        c.fill(std::numeric_limits<double>::quiet_NaN());
        answer(what, kNothingIsSafe, a, b, c, true);
        const double u = type == Type::tf32 ? 2 * unit_roundoff(type) : unit_roundoff(type);
        for (std::int64_t i = 0; i < 520; i += 1) {
            for (std::int64_t j = 0; j < 410; ++j) {
                if (i == 17 || j == 409) {
                    ASSERT_FALSE(std::isfinite(c.get(i, j))) << i << " " << j;
                    continue;
                }
                double sum = 0, size = 0;
                for (std::int64_t p = 0; p < 1000; ++p) {
                    sum += a.get(i, p) * b.get(p, j);
                    size += std::abs(a.get(i, p) * b.get(p, j));
                }
                ASSERT_NEAR(c.get(i, j), sum, (1.01 * u + 1002 * 0x1p-23) * size) << type_name(type) << " " << i;
            }
        }
    }
}

}  // namespace
}  // namespace heptad::test
