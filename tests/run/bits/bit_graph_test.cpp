// Closure against a plain search, triangles against three loops.
#include <gtest/gtest.h>

#include "kernels/bits/bit_test_matrices.hpp"
#include "run/bits/bit_graph.hpp"

namespace {

using namespace heptad;
using namespace heptad::bits;

/// What a search from every vertex reaches by one edge or more.
BitMatrix reached_by_search(const ConstBitView& graph) {
    BitMatrix reached(graph.rows, graph.rows);
    for (std::int64_t start = 0; start < graph.rows; ++start) {
        std::vector<std::int64_t> waiting{start};
        while (!waiting.empty()) {
            const std::int64_t from = waiting.back();
            waiting.pop_back();
            for (std::int64_t to = 0; to < graph.rows; ++to) {
                if (graph(from, to) && !reached(start, to)) {
                    reached.set(start, to, true);
                    waiting.push_back(to);
                }
            }
        }
    }
    return reached;
}

TEST(Closure, equals_a_search_on_random_graphs) {
    std::mt19937_64 random(1);
    for (const std::int64_t n : {1, 2, 63, 64, 65, 131, 300}) {
        for (const double degree : {0.5, 1.0, 2.0, 8.0}) {
            const test::BitWindow graph(n, n, random, std::min(1.0, degree / static_cast<double>(n)));
            const BitMatrix expected = reached_by_search(graph.view());
            close_transitively(graph.view(), {2});
            ASSERT_TRUE(graph.view() == expected.view()) << n << " " << degree;
            ASSERT_TRUE(graph.outside_untouched());
        }
    }
}

TEST(Closure, long_paths_over_several_bands) {
    const std::int64_t n = 2600;
    BitMatrix path(n, n);
    for (std::int64_t i = 0; i + 1 < n; ++i) {
        path.set((i * 1237) % n, ((i + 1) * 1237) % n, true);  // a path in scattered order
    }
    double last = 0;
    close_transitively(path.view(), {2, {nullptr, [&](const Progress& progress) { last = progress.fraction; }}});
    EXPECT_EQ(last, 1.0);
    EXPECT_EQ(count_ones(path), n * (n - 1) / 2);
    for (std::int64_t i = 0; i + 1 < n; i += 37) {
        EXPECT_TRUE(path(0, (i + 1) * 1237 % n));
        EXPECT_FALSE(path((i + 1) * 1237 % n, 0));
    }
}

TEST(Closure, of_nothing_and_of_what_is_no_graph) {
    BitMatrix none(0, 0), flat(3, 4);
    close_transitively(none.view(), {1});
    EXPECT_THROW(close_transitively(flat.view(), {1}), Error);
}

TEST(Closure, every_leaf_gives_the_same_and_an_unknown_one_is_refused) {
    const BitMatrix graph = BitMatrix::random(200, 200, 1, 0.02), expected = reached_by_search(graph);
    for (const std::string& leaf : leaf_names(Type::boolean)) {
        BitMatrix closed = graph;
        close_transitively(closed.view(), {2}, leaf);
        EXPECT_TRUE(closed == expected) << leaf;
    }
    BitMatrix none(0, 0), same = graph;
    EXPECT_THROW(close_transitively(same.view(), {1}, "nobody"), Error);
    EXPECT_THROW(close_transitively(none.view(), {1}, "nobody"), Error);
    EXPECT_TRUE(same == graph);
}

TEST(Triangles, equal_three_loops) {
    std::mt19937_64 random(2);
    for (const std::int64_t n : {1, 3, 64, 70, 150}) {
        const test::BitWindow graph(n, n, random, 0.3);
        std::int64_t expected = 0;
        for (std::int64_t i = 0; i < n; ++i) {
            for (std::int64_t j = i + 1; j < n; ++j) {
                for (std::int64_t k = j + 1; k < n; ++k) {
                    expected += graph.view()(i, j) && graph.view()(i, k) && graph.view()(j, k) ? 1 : 0;
                }
            }
        }
        EXPECT_EQ(triangles(graph.view(), {2}), expected) << n;
    }
    EXPECT_THROW(triangles(BitMatrix(3, 4), {1}), Error);
}

}  // namespace
