// Products of packed bits, closures, powers and chains, and the C interface, whose i-th allocation fails, for every i.
#include <heptad/heptad.h>

#include <cstring>
#include <heptad/bits.hpp>

#include "citizen/short_of_memory.hpp"

namespace heptad::citizen {
namespace {

#ifdef HEPTAD_REDUCED_TESTS
constexpr std::int64_t kMost = 12;
#else
constexpr std::int64_t kMost = 300;
#endif

BitMatrix by_definition(Type algebra, const BitMatrix& a, const BitMatrix& b) {
    BitMatrix c(a.rows(), b.cols());
    for (std::int64_t i = 0; i < a.rows(); ++i) {
        for (std::int64_t j = 0; j < b.cols(); ++j) {
            int ones = 0;
            for (std::int64_t l = 0; l < a.cols(); ++l) {
                ones += a(i, l) && b(l, j) ? 1 : 0;
            }
            c.set(i, j, algebra == Type::gf2 ? ones % 2 == 1 : ones > 0);
        }
    }
    return c;
}

/// By Warshall's loops.
BitMatrix closed(const BitMatrix& graph) {
    BitMatrix c = graph;
    for (std::int64_t l = 0; l < c.rows(); ++l) {
        for (std::int64_t i = 0; i < c.rows(); ++i) {
            for (std::int64_t j = 0; c(i, l) && j < c.cols(); ++j) {
                c.set(i, j, c(i, j) || c(l, j));
            }
        }
    }
    return c;
}

Context on_threads(int threads) {
    Context context;
    context.set_threads(threads);
    return context;
}

bits::BitOptions forced(int levels) {
    bits::BitOptions options;
    options.levels = levels;
    return options;
}

/// A call that makes a new matrix.
void expect_makes(const BitMatrix& expected, const std::function<BitMatrix()>& make, std::int64_t most = kMost) {
    BitMatrix made;
    expect_survives({[&] { made = BitMatrix(); }, [&] { made = make(); }, [&] { return made == expected; }}, most);
}

class Bits : public ::testing::Test {
protected:
    const BitMatrix a_ = BitMatrix::random(150, 140, 1), b_ = BitMatrix::random(140, 160, 2);
};

TEST_F(Bits, products_short_of_memory_are_right_or_say_so) {
    for (const Type algebra : {Type::gf2, Type::boolean}) {
        const BitMatrix expected = by_definition(algebra, a_, b_);
        for (const int threads : {1, 4}) {
            expect_makes(
                expected, [&] { return bits::product(algebra, a_, b_, {}, on_threads(threads)); }, kMost / 2);
        }
    }
}

TEST_F(Bits, products_on_levels_are_right_or_say_so) {
    const BitMatrix expected = by_definition(Type::gf2, a_, b_);
    for (const int levels : {1, 2}) {
        expect_makes(expected, [&] { return bits::product(Type::gf2, a_, b_, forced(levels), on_threads(3)); });
    }
}

TEST_F(Bits, product_added_to_what_is_there_is_right_or_says_so) {
    const BitMatrix before = BitMatrix::random(150, 160, 3);
    const BitMatrix product = by_definition(Type::boolean, a_, b_);
    BitMatrix expected = before;
    for (std::int64_t i = 0; i < expected.rows(); ++i) {
        for (std::int64_t j = 0; j < expected.cols(); ++j) {
            expected.set(i, j, before(i, j) || product(i, j));
        }
    }
    BitMatrix c;
    expect_survives(
        {[&] { c = before; }, [&] { bits::multiply_add(Type::boolean, a_, b_, c.view(), {}, on_threads(2)); },
         [&] { return c == expected; }},
        kMost);
}

TEST_F(Bits, over_cpu_devices_they_are_right_or_say_so) {
    const BitMatrix expected = by_definition(Type::gf2, a_, b_);
    bits::BitOptions options;
    options.device = "cpu:2";
    options.host.levels = 1;
    expect_makes(expected, [&] { return bits::product(Type::gf2, a_, b_, options); });
}

TEST_F(Bits, closure_is_right_or_says_so) {
    const BitMatrix graph = BitMatrix::random(200, 200, 4, 0.01);
    expect_makes(closed(graph), [&] { return bits::transitive_closure(graph, on_threads(2)); });
}

TEST_F(Bits, power_and_chain_are_right_or_say_so) {
    const BitMatrix square = BitMatrix::random(130, 130, 5);
    const BitMatrix second = by_definition(Type::gf2, square, square);
    const BitMatrix fifth = by_definition(Type::gf2, by_definition(Type::gf2, second, second), square);
    const std::vector<ConstBitView> factors{square.view(), square.view()};
    for (const int levels : {-1, 1}) {
        expect_makes(fifth, [&] { return bits::power(Type::gf2, square, 5, forced(levels), on_threads(2)); });
        expect_makes(second, [&] { return bits::chain_product(Type::gf2, factors, forced(levels), on_threads(2)); });
    }
}

TEST_F(Bits, new_matrix_of_many_megabytes_is_whole_or_leaves_nothing_behind) {
    const std::int64_t rows = 24000, cols = 24000;  // so large that all cores clear it
    BitMatrix made;
    expect_survives({[&] { made = BitMatrix(); }, [&] { made = BitMatrix(rows, cols); },
                     [&] { return made.rows() == rows && made.cols() == cols && !made(rows - 1, cols - 1); }},
                    4);
}

TEST(CInterface, is_a_status_and_a_sentence_at_every_allocation) {
    const double a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8};
    double c[4] = {};
    heptad_status ended = HEPTAD_INTERNAL;
    const auto multiply = [&] {
        heptad_options options;
        heptad_options_init(&options);
        heptad_context* context = nullptr;
        ended = heptad_context_create(&context);
        if (ended == HEPTAD_OK) {
            ended = heptad_context_set_threads(context, 2);
        }
        if (ended == HEPTAD_OK) {
            ended =
                heptad_multiply(HEPTAD_F64, 1, {a, 2, 2, 2, 1}, {b, 2, 2, 2, 1}, 0, {c, 2, 2, 2, 1}, &options, context);
        }
        heptad_context_destroy(context);
    };
    const auto nowhere = std::numeric_limits<std::int64_t>::max();
    let_allocation_fail(nowhere, Shortage::once);
    multiply();
    const std::int64_t allocations = serve_allocations();
    ASSERT_EQ(ended, HEPTAD_OK) << heptad_last_error();
    ASSERT_GT(allocations, 0);
    for (const Shortage shortage : {Shortage::once, Shortage::for_good}) {
        for (const std::int64_t number : chosen_allocations(allocations, kMost)) {
            std::memset(c, 0, sizeof c);
            let_allocation_fail(number, shortage);
            multiply();
            const bool has_sentence = ended == HEPTAD_OK || std::strlen(heptad_last_error()) > 0;
            serve_allocations();
            ASSERT_TRUE(ended == HEPTAD_OK || ended == HEPTAD_RESOURCE) << ended << ": " << heptad_last_error();
            ASSERT_TRUE(has_sentence);
            ASSERT_TRUE(ended == HEPTAD_RESOURCE || (c[0] == 19 && c[1] == 22 && c[2] == 43 && c[3] == 50));
        }
    }
    multiply();
    EXPECT_EQ(ended, HEPTAD_OK) << heptad_last_error();
}

}  // namespace
}  // namespace heptad::citizen
