#include "io/generate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/half.hpp"
#include "base/types.hpp"
#include "io/element_value.hpp"

namespace heptad {
namespace {

const std::vector<Type> kAllTypes{Type::f64, Type::f32, Type::tf32, Type::bf16,   Type::f16,
                                  Type::i32, Type::i64, Type::gf2,  Type::boolean};

struct Moments {
    double mean, deviation, lowest, highest;
};
Moments moments(const Matrix& m) {
    double sum = 0, squares = 0, lowest = INFINITY, highest = -INFINITY;
    for (std::int64_t i = 0; i < m.rows(); ++i) {
        for (std::int64_t j = 0; j < m.cols(); ++j) {
            const double x = value_at(m.view(), i, j);
            sum += x;
            squares += x * x;
            lowest = std::min(lowest, x);
            highest = std::max(highest, x);
        }
    }
    const auto count = static_cast<double>(m.rows() * m.cols());
    const double mean = sum / count;
    return {mean, std::sqrt(squares / count - mean * mean), lowest, highest};
}

bool fits(const std::string& kind, Type type) {
    const bool bits = type == Type::gf2 || type == Type::boolean;
    if (kind == "normal" || kind == "hilbert" || kind == "kaporin") {
        return !bits && !is_integer(type);
    }
    return !bits || (kind != "uniform" && kind != "positive" && kind != "integer");
}

TEST(Generate, every_kind_goes_with_the_types_that_the_interface_says_and_refuses_the_others) {
    for (const std::string kind : {"uniform", "positive", "normal", "integer", "bits", "identity", "ones", "zeros",
                                   "graph", "hilbert", "kaporin"}) {
        EXPECT_NE(generate_kinds().find(kind), std::string::npos);
        for (const Type type : kAllTypes) {
            if (fits(kind, type)) {
                EXPECT_EQ(generate(kind, 5, 5, type, 1).type(), type);
            } else {
                try {
                    generate(kind, 5, 5, type, 1);
                    FAIL() << kind << " " << type_name(type);
                } catch (const Error& error) {
                    EXPECT_EQ(error.code(), ErrorCode::usage);
                    EXPECT_NE(std::string(error.what()).find(type_name(type)), std::string::npos);
                }
            }
        }
    }
}

TEST(Generate, positive_lies_evenly_between_0_and_1) {
    for (const Type type : {Type::f64, Type::f32, Type::bf16, Type::f16}) {
        const Moments found = moments(generate("positive", 300, 400, type, 3));
        EXPECT_GE(found.lowest, 0) << type_name(type);
        EXPECT_LT(found.highest, 1) << type_name(type);
        EXPECT_NEAR(found.mean, 0.5, 0.01) << type_name(type);
        EXPECT_NEAR(found.deviation, std::sqrt(1.0 / 12), 0.01) << type_name(type);
    }
    const Moments integers = moments(generate("positive", 300, 400, Type::i32, 3));
    EXPECT_GE(integers.lowest, 0);
    EXPECT_NEAR(integers.mean, 0x1p30, 0x1p30 / 50);
    const Moments longs = moments(generate("positive", 300, 400, Type::i64, 3));
    EXPECT_GE(longs.lowest, 0);
    EXPECT_NEAR(longs.mean, 0x1p62, 0x1p62 / 50);
}

TEST(Generate, kaporin_is_uniform_divided_by_the_distance_from_the_diagonal) {
    const Matrix uniform = generate("uniform", 40, 30, Type::f32, 5),
                 falling = generate("kaporin", 40, 30, Type::f32, 5);
    for (std::int64_t i = 0; i < 40; ++i) {
        for (std::int64_t j = 0; j < 30; ++j) {
            const auto distance = static_cast<double>(std::abs(i - j));
            EXPECT_EQ(value_at(falling.view(), i, j),
                      static_cast<float>(value_at(uniform.view(), i, j) / (1 + distance)));
        }
    }
}

TEST(Generate, unknown_kind_is_a_usage_error_that_lists_the_kinds) {
    try {
        generate("unifrom", 5, 5, Type::f32, 1);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::usage);
        EXPECT_NE(std::string(error.what()).find(generate_kinds()), std::string::npos);
    }
}

TEST(Generate, options_out_of_range_are_usage_errors) {
    const auto code = [](const std::string& kind, std::int64_t rows, Type type, const GenerateOptions& options) {
        try {
            generate(kind, rows, 5, type, 1, options);
        } catch (const Error& error) {
            return error.code();
        }
        return ErrorCode::internal;
    };
    GenerateOptions options;
    EXPECT_EQ(code("graph", 4, Type::boolean, options), ErrorCode::usage);
    options.density = 1.5;
    EXPECT_EQ(code("bits", 5, Type::gf2, options), ErrorCode::usage);
    options.density = NAN;
    EXPECT_EQ(code("bits", 5, Type::gf2, options), ErrorCode::usage);
    options.average_degree = -1;
    EXPECT_EQ(code("graph", 5, Type::boolean, options), ErrorCode::usage);
    options.low = 3;
    options.high = 2;
    EXPECT_EQ(code("integer", 5, Type::f32, options), ErrorCode::usage);
    options.low = 0;
    options.high = 300;  // not every integer up to 300 is a bf16
    EXPECT_EQ(code("integer", 5, Type::bf16, options), ErrorCode::usage);
    EXPECT_EQ(code("integer", -5, Type::f32, options), ErrorCode::input);
}

TEST(Generate, content_is_the_same_for_any_number_of_threads_and_any_shape_around_it) {
    for (const char* const kind : {"uniform", "normal", "integer", "bits"}) {
        FileHooks one, four;
        one.threads = 1;
        four.threads = 4;
        const Matrix x = generate(kind, 300, 701, Type::f32, 42, {}, one);
        const Matrix y = generate(kind, 300, 701, Type::f32, 42, {}, four);
        EXPECT_EQ(std::memcmp(x.data(), y.data(), static_cast<std::size_t>(x.size_bytes())), 0) << kind;
        const Matrix corner = generate(kind, 17, 31, Type::f32, 42);
        for (std::int64_t i = 0; i < 17; ++i) {
            for (std::int64_t j = 0; j < 31; ++j) {
                ASSERT_EQ(value_at(corner.view(), i, j), value_at(x.view(), i, j)) << kind;
            }
        }
    }
}

TEST(Generate, seeds_rows_and_columns_differ) {
    const Matrix x = generate("uniform", 64, 64, Type::f64, 1), y = generate("uniform", 64, 64, Type::f64, 2);
    std::map<double, int> seen;
    for (std::int64_t i = 0; i < 64; ++i) {
        for (std::int64_t j = 0; j < 64; ++j) {
            ++seen[value_at(x.view(), i, j)];
            ++seen[value_at(y.view(), i, j)];
        }
    }
    EXPECT_EQ(seen.size(), 2U * 64 * 64);
}

/// The bits are a promise: the same on every machine and in every version.
TEST(Generate, first_elements_have_the_bits_they_always_had) {
    EXPECT_EQ(value_at(generate("uniform", 1, 1, Type::f64, 0).view(), 0, 0), -0x1.4bab27a72eap-2);
    EXPECT_EQ(value_at(generate("normal", 1, 1, Type::f64, 0).view(), 0, 0), -0x1.6f500e75d11e2p+0);
    EXPECT_EQ(value_at(generate("uniform", 1, 1, Type::i32, 0).view(), 0, 0), 1451924235);
}

TEST(Generate, uniform_has_the_moments_of_the_uniform_distribution_and_stays_below_one) {
    for (const Type type : {Type::f64, Type::f32, Type::tf32, Type::f16, Type::bf16}) {
        const Moments m = moments(generate("uniform", 300, 400, type, 3));
        const double grid = type == Type::bf16 ? 0x1p-8 : 0;  // the mean of [-1, 1) cut down to a coarse grid
        EXPECT_NEAR(m.mean, -grid, 0.01) << type_name(type);
        EXPECT_NEAR(m.deviation, std::sqrt(1.0 / 3), 0.01);
        EXPECT_GE(m.lowest, -1);
        EXPECT_LT(m.highest, 1);
    }
    const Moments words = moments(generate("uniform", 300, 400, Type::i32, 3));
    EXPECT_NEAR(words.mean / 0x1p31, 0, 0.01);
    EXPECT_NEAR(words.deviation / 0x1p31, std::sqrt(1.0 / 3), 0.01);
    const Matrix longs = generate("uniform", 300, 400, Type::i64, 3);
    const Moments of_longs = moments(longs);
    EXPECT_NEAR(of_longs.mean / 0x1p63, 0, 0.01);
    EXPECT_NEAR(of_longs.deviation / 0x1p63, std::sqrt(1.0 / 3), 0.01);
    const auto* const first = static_cast<const std::int64_t*>(longs.data());
    std::int64_t odd = 0;  // the lowest bits are as random as the others
    for (std::int64_t i = 0; i < 120000; ++i) {
        odd += first[i] & 1;
    }
    EXPECT_NEAR(static_cast<double>(odd), 60000, 1000);
}

TEST(Generate, complex_entries_have_two_random_parts_or_a_real_one) {
    const Matrix pairs = generate("uniform", 30, 40, Type::c64, 3), reals = generate("uniform", 30, 80, Type::f32, 3);
    EXPECT_EQ(std::memcmp(pairs.data(), reals.data(), static_cast<std::size_t>(pairs.size_bytes())), 0);
    const Matrix identity = generate("identity", 3, 3, Type::c128, 1);
    const auto* const parts = static_cast<const double*>(identity.data());
    for (int i = 0; i < 18; ++i) {
        EXPECT_EQ(parts[i], i % 8 == 0 ? 1 : 0);
    }
}

TEST(Generate, normal_has_the_moments_and_tails_of_the_normal_distribution) {
    const Matrix x = generate("normal", 400, 500, Type::f64, 4);
    const Moments m = moments(x);
    EXPECT_NEAR(m.mean, 0, 0.012);
    EXPECT_NEAR(m.deviation, 1, 0.01);
    std::map<int, int> beyond;
    for (std::int64_t i = 0; i < x.rows(); ++i) {
        for (std::int64_t j = 0; j < x.cols(); ++j) {
            for (const int sigma : {1, 2, 3}) {
                beyond[sigma] += std::fabs(value_at(x.view(), i, j)) > sigma ? 1 : 0;
            }
        }
    }
    EXPECT_NEAR(beyond[1], 0.317311 * 200000, 1100);
    EXPECT_NEAR(beyond[2], 0.045500 * 200000, 500);
    EXPECT_NEAR(beyond[3], 0.002700 * 200000, 120);
}

TEST(Generate, integers_are_every_value_of_the_range_about_as_often) {
    for (const Type type : {Type::f32, Type::bf16, Type::i32, Type::i64}) {
        const Matrix x = generate("integer", 170, 100, type, 5);
        std::map<double, int> seen;
        for (std::int64_t i = 0; i < x.rows(); ++i) {
            for (std::int64_t j = 0; j < x.cols(); ++j) {
                ++seen[value_at(x.view(), i, j)];
            }
        }
        ASSERT_EQ(seen.size(), 17U);
        EXPECT_EQ(seen.begin()->first, -8);
        EXPECT_EQ(seen.rbegin()->first, 8);
        for (const auto& [value, count] : seen) {
            EXPECT_NEAR(count, 1000, 200) << value;
        }
    }
}

TEST(Generate, bits_have_the_density_asked_for_and_zero_and_one_are_certain) {
    for (const double density : {0.0, 0.01, 0.5, 0.9, 1.0}) {
        GenerateOptions options;
        options.density = density;
        const Moments m = moments(generate("bits", 300, 300, Type::gf2, 6, options));
        EXPECT_NEAR(m.mean, density, density == 0 || density == 1 ? 0 : 0.01);
    }
}

TEST(Generate, graph_has_the_average_degree_and_no_loops) {
    GenerateOptions options;
    options.average_degree = 5;
    const Matrix g = generate("graph", 400, 400, Type::boolean, 7, options);
    EXPECT_NEAR(moments(g).mean * 400, 5, 0.6);
    for (std::int64_t i = 0; i < 400; ++i) {
        EXPECT_EQ(value_at(g.view(), i, i), 0);
    }
    options.average_degree = 1e9;  // more than there are vertices: all edges
    EXPECT_EQ(moments(generate("graph", 10, 10, Type::boolean, 7, options)).mean, 0.9);
}

TEST(Generate, identity_ones_zeros_and_hilbert_are_what_they_are_called) {
    for (const Type type : kAllTypes) {
        const Matrix identity = generate("identity", 4, 6, type, 0);
        const Matrix ones = generate("ones", 4, 6, type, 0);
        const Matrix zeros = generate("zeros", 4, 6, type, 0);
        for (std::int64_t i = 0; i < 4; ++i) {
            for (std::int64_t j = 0; j < 6; ++j) {
                EXPECT_EQ(value_at(identity.view(), i, j), i == j ? 1 : 0);
                EXPECT_EQ(value_at(ones.view(), i, j), 1);
                EXPECT_EQ(value_at(zeros.view(), i, j), 0);
            }
        }
    }
    EXPECT_EQ(value_at(generate("hilbert", 4, 6, Type::f64, 0).view(), 2, 4), 1.0 / 7);
}

TEST(Generate, cancelled_generation_ends_with_cancelled) {
    const FileHooks hooks;
    hooks.cancel.cancel();
    try {
        generate("uniform", 5, 5, Type::f32, 1, {}, hooks);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::cancelled);
    }
}

TEST(Generate, packed_bits_are_the_elements_of_the_dense_matrix) {
    for (const char* kind : {"bits", "graph", "identity", "ones", "zeros"}) {
        for (const std::int64_t n : {1, 63, 64, 65, 200}) {
            for (const double density : {0.0, 0.3, 1.0}) {
                GenerateOptions options;
                options.density = density;
                options.average_degree = density * static_cast<double>(n - 1);
                const Matrix dense = generate(kind, n, n, Type::gf2, 9, options);
                const BitMatrix packed = generate_bits(kind, n, n, 9, options);
                const auto* const bytes = static_cast<const std::uint8_t*>(dense.data());
                for (std::int64_t i = 0; i < n; ++i) {
                    for (std::int64_t j = 0; j < n; ++j) {
                        ASSERT_EQ(packed(i, j), bytes[i * n + j] != 0) << kind << " " << n << " " << density;
                    }
                }
            }
        }
    }
    EXPECT_EQ(generate_bits("bits", 0, 5, 1).rows(), 0);
    EXPECT_THROW(generate_bits("uniform", 5, 5, 1), Error);
    EXPECT_THROW(generate_bits("graph", 5, 6, 1), Error);
}

}  // namespace
}  // namespace heptad
