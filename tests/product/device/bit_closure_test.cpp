// The closure by bands and squaring, with products of the processor in place of a device's, against Warshall's method.
#include "product/device/bit_closure.hpp"

#include <gtest/gtest.h>

#include <random>

#include "run/bits/bit_graph.hpp"
#include "run/bits/bit_product.hpp"

namespace heptad::test {
namespace {

class HostSteps final : public ClosureSteps {
public:
    void copy(const ConstBitView& from, const BitView& to) override { bits::copy(from, to); }
    void add_product(const ConstBitView& a, const ConstBitView& b, const BitView& c) override {
        bits::multiply_bits(Type::boolean, a, b, c, true, {}, {1});
        ++products;
    }
    void finish_band(double share) override {
        EXPECT_GT(share, last_share);
        last_share = share;
    }
    int products = 0;
    double last_share = 0;
};

BitMatrix closed(const BitMatrix& graph, std::int64_t band, HostSteps& steps) {
    BitMatrix result = graph;
    const std::int64_t n = graph.rows();
    BitMatrix inside(band, band), next(band, band), rows(band, n), columns(n, band);
    close_in_bands(result.view(), {inside.view(), next.view(), rows.view(), columns.view()}, band, steps);
    return result;
}

TEST(BitClosure, bands_of_any_size_equal_warshalls_method) {
    for (const std::int64_t n : {1, 2, 64, 65, 130, 200, 257}) {
        for (const double degree : {0.5, 1.0, 3.0}) {
            const BitMatrix graph =
                BitMatrix::random(n, n, static_cast<std::uint64_t>(n), std::min(1.0, degree / static_cast<double>(n)));
            BitMatrix expected = graph;
            bits::close_transitively(expected.view(), {1});
            for (const std::int64_t band : {std::int64_t{64}, std::int64_t{128}, n}) {
                HostSteps steps;
                EXPECT_TRUE(closed(graph, std::min(band, n), steps) == expected) << n << " " << degree << " " << band;
                EXPECT_EQ(steps.last_share, 1.0);
            }
        }
    }
}

TEST(BitClosure, long_path_through_scattered_bands_is_followed_to_its_end) {
    const std::int64_t n = 640;
    BitMatrix path(n, n);
    for (std::int64_t i = 0; i + 1 < n; ++i) {
        path.set((i * 237) % n, ((i + 1) * 237) % n, true);
    }
    HostSteps steps;
    const BitMatrix result = closed(path, 128, steps);
    EXPECT_EQ(bits::count_ones(result), n * (n - 1) / 2);
    EXPECT_EQ(steps.products, 5 * (7 + 2));  // five bands: seven squarings, and two products each
}

}  // namespace
}  // namespace heptad::test
