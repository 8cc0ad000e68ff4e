// Fused levels by the reference loops against the definition, bit for bit on small integers: all sizes around the edges
// of blocks, layouts, alpha and beta, guard bytes around C.
#include "run/dense/fused_products.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "kernels/guarded_matrix.hpp"
#include "kernels/reference/reference_backend.hpp"
#include "plan/search/planner.hpp"
#include "run/dense/runner.hpp"

namespace heptad::test {
namespace {

struct Size {
    std::int64_t m, k, n;
};

std::vector<FusedProduct> fused_products(const char* algorithm, double alpha, const GuardedMatrix& a,
                                         const GuardedMatrix& b, double beta, GuardedMatrix& c) {
    std::vector<FusedProduct> all;
    for_each_launch({algorithm, LevelMode::fused, ""}, {{{alpha, a.view(), b.view(), beta, c.view()}}},
                    [&](const std::vector<FusedProduct>& some) { all.insert(all.end(), some.begin(), some.end()); });
    return all;
}

/// c = alpha * a * b + beta * c by the instances of an algorithm and by the definition.
void compare(const char* algorithm, Type type, const Size& size, Layout layout, double alpha, double beta,
             std::mt19937& random) {
    GuardedMatrix a(type, size.m, size.k, layout), b(type, size.k, size.n, layout), c(type, size.m, size.n, layout);
    a.fill_random(random);
    b.fill_random(random);
    if (beta != 0 || type == Type::i32) {
        c.fill_random(random);
    } else {
        c.fill(std::numeric_limits<double>::quiet_NaN());  // beta = 0: C is not read
    }
    const GuardedMatrix old_a = a, old_b = b;
    GuardedMatrix expected = c;
    ReferenceBackend backend;
    backend.multiply(std::vector<Product>{{alpha, a.view(), b.view(), beta, expected.view()}}, "");
    const std::vector<FusedProduct> products = fused_products(algorithm, alpha, a, b, beta, c);
    backend.multiply_fused(products, FusedOrder::serial, FusedTile::automatic);
    ASSERT_TRUE(c.equals(expected)) << algorithm << " " << type_name(type) << " " << size.m << "x" << size.k << "x"
                                    << size.n << " layout " << static_cast<int>(layout) << " alpha " << alpha
                                    << " beta " << beta;
    ASSERT_TRUE(a.equals_byte_for_byte(old_a) && b.equals_byte_for_byte(old_b));
}

TEST(fused_products, all_sizes_up_to_9_of_one_and_two_levels_equal_the_definition) {
    std::mt19937 random(1);
    for (const char* algorithm : {"strassen", "winograd", "strassen*strassen", "2x2x3-11"}) {
        for (std::int64_t m = 1; m <= 9; ++m) {
            for (std::int64_t k = 1; k <= 9; ++k) {
                for (std::int64_t n = 1; n <= 9; ++n) {
                    const Layout layout = all_layouts[static_cast<std::size_t>(m + k + n) % 6];
                    compare(algorithm, Type::f32, {m, k, n}, layout, 1, (m + n) % 2 == 0 ? 0 : -2, random);
                }
            }
        }
    }
}

TEST(fused_products, every_layout_type_and_scalar_equals_the_definition) {
    std::mt19937 random(2);
    for (const Type type : {Type::f64, Type::f32, Type::i32}) {
        for (const Layout layout : all_layouts) {
            for (const double alpha : {1.0, -2.0}) {
                for (const double beta : {0.0, 1.0, 3.0}) {
                    compare("strassen", type, {13, 7, 10}, layout, alpha, beta, random);
                    compare("3x3x3-23", type, {11, 10, 13}, layout, alpha, beta, random);
                    compare("4x3x4-38", type, {10, 11, 9}, layout, alpha, beta, random);  // with coefficients of 2
                }
            }
        }
    }
}

TEST(fused_products, sizes_whose_blocks_are_rounded_up_to_whole_words_equal_the_definition) {
    std::mt19937 random(3);
    compare("strassen", Type::f32, {515, 3, 2}, Layout::rows, 1, 1, random);
    compare("strassen", Type::f64, {2, 517, 3}, Layout::columns, 1, 0, random);
    compare("strassen", Type::i32, {3, 2, 519}, Layout::rows_padded, 1, 1, random);
}

TEST(fused_products, the_first_product_on_each_block_applies_beta_and_the_others_add) {
    GuardedMatrix a(Type::f32, 4, 4, Layout::rows), b(Type::f32, 4, 4, Layout::rows), c(Type::f32, 4, 4, Layout::rows);
    const std::vector<FusedProduct> products = fused_products("strassen", 1, a, b, 0, c);
    ASSERT_EQ(products.size(), 7U);
    std::vector<const void*> seen;
    int stores = 0;
    for (const FusedProduct& product : products) {
        for (const FusedTarget& target : product.targets) {
            const bool is_first = std::find(seen.begin(), seen.end(), target.block.data) == seen.end();
            EXPECT_EQ(target.beta, is_first ? 0 : 1);
            stores += is_first ? 1 : 0;
            seen.push_back(target.block.data);
        }
    }
    EXPECT_EQ(stores, 4);
    EXPECT_EQ(seen.size(), 12U);
}

TEST(fused_products, a_single_row_leaves_out_what_lies_below_it) {
    GuardedMatrix a(Type::f32, 1, 4, Layout::rows), b(Type::f32, 4, 4, Layout::rows), c(Type::f32, 1, 4, Layout::rows);
    for (const FusedProduct& product : fused_products("strassen", 1, a, b, 1, c)) {
        EXPECT_FALSE(product.left.empty());
        EXPECT_FALSE(product.targets.empty());
        for (const FusedTerm& term : product.left) {
            EXPECT_EQ(term.block.rows, 1);
            EXPECT_EQ(term.block.cols, 2);
        }
    }
}

TEST(fused_verb, a_backend_without_it_says_what_to_do_instead) {
    class Bare final : public Backend {
    public:
        std::string name() const override { return "bare"; }
        void combine(const CombinePass&) override {}
        void multiply(std::span<const Product>, const std::string&) override {}
        ScanResult scan(const ConstView&) override { return {}; }
        void copy(const ConstView&, const View&) override {}
        std::vector<std::string> leaves(Type) const override { return {}; }
    };
    Bare bare;
    EXPECT_FALSE(bare.fuses(Type::f32, 1, 1, 1));
    try {
        bare.multiply_fused({}, FusedOrder::serial);
        FAIL() << "it was carried out";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::usage);
        EXPECT_NE(std::string(error.what()).find("bare"), std::string::npos);
    }
}

/// The reference loops, with a note of how many fused products come at a time.
class CountingBackend final : public Backend {
public:
    std::string name() const override { return loops_.name(); }
    void combine(const CombinePass& pass) override { loops_.combine(pass); }
    void multiply(std::span<const Product> batch, const std::string& leaf) override { loops_.multiply(batch, leaf); }
    bool fuses(Type, int, int, int) const override { return true; }
    void multiply_fused(std::span<const FusedProduct> products, FusedOrder order, FusedTile tile) override {
        counts.push_back(products.size());
        loops_.multiply_fused(products, order, tile);
    }
    ScanResult scan(const ConstView& view) override { return loops_.scan(view); }
    void copy(const ConstView& from, const View& to) override { loops_.copy(from, to); }
    std::vector<std::string> leaves(Type type) const override { return loops_.leaves(type); }

    std::vector<std::size_t> counts;

private:
    ReferenceBackend loops_;
};

TEST(fused_products, below_49_products_a_launch_takes_all_of_nine_levels_and_the_result_is_right) {
    std::mt19937 random(4);
    constexpr std::int64_t kSide = 24;
    for (const FusedOrder order : fused_orders) {
        GuardedMatrix a(Type::f64, kSide, kSide, Layout::rows), b(Type::f64, kSide, kSide, Layout::rows),
            c(Type::f64, kSide, kSide, Layout::rows);
        a.fill_random(random);
        b.fill_random(random);
        c.fill(std::numeric_limits<double>::quiet_NaN());
        Problem problem{kSide, kSide, kSide, Type::f64, 1, {}};
        problem.options.device = "cuda";  // where all sums lie alike, also of one block
        problem.options.accuracy = Accuracy::fast;
        const ProductPlan plan = plan_with_levels(
            problem, Machine{},
            {{"winograd*winograd", LevelMode::parallel, ""}, {"strassen", LevelMode::fused, "", order}});
        ASSERT_EQ(plan.levels.size(), 2U) << to_string(plan);
        GuardedMatrix expected = c;
        CountingBackend backend;
        backend.multiply(std::vector<Product>{{1, a.view(), b.view(), 0, expected.view()}}, "");
        std::vector<std::byte> workspace(static_cast<std::size_t>(plan.workspace_bytes));
        run_plan(plan, backend, 1, a.view(), b.view(), 0, c.view(), workspace.data(), {});
        EXPECT_TRUE(c.equals(expected)) << to_string(plan);
        const bool together = order == FusedOrder::persistent || order == FusedOrder::atomic;
        EXPECT_EQ(backend.counts, together ? (std::vector<std::size_t>{63, 63, 63, 63, 63, 28})
                                           : (std::vector<std::size_t>{64, 64, 64, 64, 64, 23}));
    }
}

}  // namespace
}  // namespace heptad::test
