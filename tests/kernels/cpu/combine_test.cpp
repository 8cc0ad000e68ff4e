// Combine passes, copies and scalings of the cpu against the reference, for every instruction set of the machine.
#include <gtest/gtest.h>

#include <limits>

#include "base/types.hpp"
#include "base/view_copy.hpp"
#include "kernels/cpu/cpu_kernels.hpp"
#include "kernels/cpu/instruction_sets.hpp"
#include "kernels/guarded_matrix.hpp"
#include "kernels/reference/reference_backend.hpp"

namespace heptad::cpu {
namespace {

using test::all_layouts;
using test::GuardedMatrix;
using test::Layout;

constexpr Type all_types[] = {Type::f64, Type::f32, Type::tf32, Type::bf16,   Type::f16,
                              Type::i32, Type::i64, Type::gf2,  Type::boolean};

/// Slots of given layouts (scratch where `scratch` says so) with random entries, twice: for us and for the reference.
struct Blocks {
    std::vector<GuardedMatrix> ours, expected;
    std::vector<bool> scratch;

    Blocks(Type type, std::int64_t rows, std::int64_t cols, const std::vector<Layout>& layouts,
           const std::vector<bool>& is_scratch, std::mt19937& random)
        : scratch(is_scratch) {
        for (const Layout layout : layouts) {
            ours.emplace_back(type, rows, cols, layout);
            ours.back().fill_random(random);
            expected.push_back(ours.back());
        }
    }
    static std::vector<View> views(const std::vector<GuardedMatrix>& blocks, const std::vector<bool>& is_scratch) {
        std::vector<View> result;
        for (std::size_t s = 0; s < blocks.size(); ++s) {
            result.push_back(blocks[s].view());
            if (is_scratch[s]) {
                result.back().data = nullptr;
            }
        }
        return result;
    }
    bool agree_after(const std::vector<CombineStatement>& statements, std::int64_t task_bytes, InstructionSet set) {
        ReferenceBackend().combine({views(expected, scratch), statements});
        const CombineTasks tasks({views(ours, scratch), statements}, task_bytes, set);
        for (std::int64_t task = tasks.count() - 1; task >= 0; --task) {  // any order
            tasks.run(task);
        }
        for (std::size_t s = 0; s < ours.size(); ++s) {
            if (!ours[s].equals(expected[s])) {
                return false;
            }
        }
        return true;
    }
};

// Winograd's sums of A, in place and with scratch: s1 = a2 + a3, s2 = s1 - a0, a1 = a1 - s2, a2 = a0 - a2.
const std::vector<CombineStatement> in_place_statements = {
    {4, {{2, 1}, {3, 1}}}, {5, {{4, 1}, {0, -1}}}, {1, {{1, 1}, {5, -1}}}, {2, {{0, 1}, {2, -1}}}, {3, {{5, 1}}}};

class combine_kernels : public testing::TestWithParam<InstructionSet> {
protected:
    std::mt19937 random_{11};
};

TEST_P(combine_kernels, in_place_statements_with_scratch_equal_reference_for_every_type_and_shape) {
    for (const Type type : all_types) {
        for (const auto& [rows, cols] :
             {std::pair{0, 3}, {3, 0}, {1, 1}, {1, 5}, {7, 3}, {13, 33}, {3, 1030}, {2, 5000}}) {
            for (const Layout layout : all_layouts) {
                Blocks blocks(type, rows, cols, std::vector<Layout>(6, layout),
                              {false, false, false, false, true, true}, random_);
                EXPECT_TRUE(blocks.agree_after(in_place_statements, 4096, GetParam()))
                    << type_name(type) << " " << rows << "x" << cols << " layout " << static_cast<int>(layout);
            }
        }
    }
}

TEST_P(combine_kernels, mixed_layouts_equal_reference) {
    const std::vector<Layout> mixed = {Layout::rows,    Layout::columns,        Layout::rows_padded,
                                       Layout::general, Layout::columns_padded, Layout::reversed};
    for (const Type type : all_types) {
        Blocks blocks(type, 19, 37, mixed, std::vector<bool>(6, false), random_);
        EXPECT_TRUE(blocks.agree_after(in_place_statements, 1000, GetParam())) << type_name(type);
    }
}

TEST_P(combine_kernels, every_number_of_terms_equals_reference) {
    for (const Type type : all_types) {
        for (int terms = 0; terms <= 12; ++terms) {
            for (const std::int64_t cols : {1, 15, 16, 17, 64, 77, 300}) {
                CombineStatement statement{terms / 2, {}};
                for (int t = 0; t < terms; ++t) {
                    statement.terms.push_back({t, t % 3 == 0 ? 1.0 : t % 3 == 1 ? -1.0 : 2.0});
                }
                Blocks blocks(type, 3, cols, std::vector<Layout>(13, Layout::rows_padded), std::vector<bool>(13, false),
                              random_);
                EXPECT_TRUE(blocks.agree_after({statement}, 1 << 20, GetParam()))
                    << type_name(type) << " " << terms << " terms " << cols;
            }
        }
    }
}

TEST_P(combine_kernels, passes_beyond_the_caches_equal_reference) {
    // Sums that are stored past the caches (targets 3, 4 and 6), one that is read again (5), rows on and off the
    // boundaries of vectors.
    const std::vector<CombineStatement> statements = {{3, {{0, 1}, {1, -1}}},
                                                      {5, {{1, 1}, {2, 1}}},
                                                      {4, {{5, 1}, {0, 2}, {2, -1}}},
                                                      {6, {{0, 1}, {1, 1}, {2, 1}, {5, -1}, {5, 0.5}}}};
    for (const Type type : {Type::f32, Type::f64, Type::i32, Type::i64}) {
        for (const auto& [rows, cols] : {std::pair{600, 1024}, {611, 1029}}) {
            for (const Layout layout : {Layout::rows, Layout::rows_padded}) {
                std::vector<CombineStatement> asked = statements;
                asked[3].terms.back().coefficient = is_integer(type) ? 3 : 0.5;
                Blocks blocks(type, rows, cols, std::vector<Layout>(7, layout), std::vector<bool>(7, false), random_);
                EXPECT_TRUE(blocks.agree_after(asked, 1 << 20, GetParam())) << type_name(type) << " " << cols;
            }
        }
    }
}

TEST_P(combine_kernels, fractions_and_large_coefficients_equal_reference) {
    for (const Type type : {Type::f64, Type::f32, Type::tf32, Type::bf16, Type::f16}) {
        Blocks blocks(type, 5, 100, std::vector<Layout>(3, Layout::rows), std::vector<bool>(3, false), random_);
        EXPECT_TRUE(
            blocks.agree_after({{0, {{1, 0.5}, {2, -0.125}}}, {1, {{0, 1.0 / 3}, {1, 0.7}}}}, 1 << 20, GetParam()));
    }
    Blocks integers(Type::i32, 5, 100, std::vector<Layout>(3, Layout::rows), std::vector<bool>(3, false), random_);
    EXPECT_TRUE(integers.agree_after({{0, {{1, 4294967299.0}, {2, -2147483648.0}}}}, 1 << 20, GetParam()));
}

TEST_P(combine_kernels, equal_views_are_one_value) {
    for (const Type type : {Type::f32, Type::bf16}) {
        GuardedMatrix x(type, 3, 50, Layout::rows), y = x;
        x.fill(3);
        combine({{x.view(), x.view(), y.view()}, {{0, {{0, 2}}}, {2, {{1, 1}}}}}, GetParam());
        EXPECT_EQ(x.get(2, 49), 6);
        EXPECT_EQ(y.get(2, 49), 6);
    }
}

TEST_P(combine_kernels, unread_target_is_not_read_even_if_nan) {
    for (const Type type : {Type::f32, Type::f64, Type::f16, Type::bf16}) {
        GuardedMatrix x(type, 3, 50, Layout::rows), y = x;
        x.fill(3);
        y.fill(std::numeric_limits<double>::quiet_NaN());
        combine({{x.view(), y.view()}, {{1, {{0, -1}}}}}, GetParam());
        EXPECT_EQ(y.get(2, 49), -3);
    }
}

TEST_P(combine_kernels, every_half_converts_as_base_does) {
    for (const Type type : {Type::bf16, Type::f16}) {
        GuardedMatrix x(type, 256, 256, Layout::rows), expected = x;
        auto* bits = static_cast<std::uint16_t*>(x.view().data);
        auto* expected_bits = static_cast<std::uint16_t*>(expected.view().data);
        for (std::uint32_t i = 0; i < 65536; ++i) {
            bits[i] = expected_bits[i] = static_cast<std::uint16_t>(i);
        }
        for (const double factor : {1.0, 0.37}) {
            combine({{x.view()}, {{0, {{0, factor}}}}}, GetParam());
            ReferenceBackend().combine({{expected.view()}, {{0, {{0, factor}}}}});
            for (std::uint32_t i = 0; i < 65536; ++i) {
                const double ours = test::get_element(type, reinterpret_cast<const std::byte*>(bits + i));
                const double theirs = test::get_element(type, reinterpret_cast<const std::byte*>(expected_bits + i));
                ASSERT_TRUE(ours == theirs || (ours != ours && theirs != theirs)) << i;
            }
        }
    }
}

TEST_P(combine_kernels, scale_view_equals_reference_and_beta_zero_does_not_read) {
    for (const Type type : all_types) {
        for (const double beta : {0.0, 1.0, -1.0, 2.0}) {
            GuardedMatrix c(type, 9, 21, Layout::columns_padded);
            if (beta == 0 && !is_integer(type)) {
                c.fill(std::numeric_limits<float>::infinity() > 0 && element_bytes(type) > 1
                           ? std::numeric_limits<double>::quiet_NaN()
                           : 1);
            } else {
                c.fill_random(random_);
            }
            GuardedMatrix expected = c;
            const Product nothing{1, {nullptr, type, 9, 0, 0, 1}, {nullptr, type, 0, 21, 21, 1}, beta, expected.view()};
            ReferenceBackend().multiply({&nothing, 1}, "");
            scale_view(beta, c.view(), GetParam());
            EXPECT_TRUE(c.equals(expected)) << type_name(type) << " " << beta;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(every_set, combine_kernels, testing::ValuesIn(test::sets_with_tables_of_their_own()),
                         [](const auto& set) { return std::string(instruction_set_name(set.param)); });

TEST(copy_view, every_pair_of_layouts_equals_reference) {
    std::mt19937 random(3);
    for (const Type type : all_types) {
        for (const Layout from : all_layouts) {
            for (const Layout to : all_layouts) {
                for (const auto& [rows, cols] : {std::pair{0, 5}, {5, 0}, {1, 9}, {9, 1}, {40, 70}}) {
                    GuardedMatrix source(type, rows, cols, from), target(type, rows, cols, to);
                    source.fill_random(random);
                    GuardedMatrix expected = target;
                    ReferenceBackend().copy(source.view(), expected.view());
                    copy_view(source.view(), target.view());
                    EXPECT_TRUE(target.equals_byte_for_byte(expected));
                }
            }
        }
    }
}

}  // namespace
}  // namespace heptad::cpu
