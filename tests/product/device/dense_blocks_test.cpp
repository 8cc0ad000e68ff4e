// Updates of several parts by one product: each as if it were alone, in one pass or in several.
#include "product/device/dense_blocks.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "kernels/reference/reference_backend.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kSide = 6;

View part_of(std::vector<float>& matrix, std::int64_t row, std::int64_t col, std::int64_t rows, std::int64_t cols) {
    return block(View(matrix.data(), Type::f32, kSide, kSide, kSide, 1), row, col, rows, cols);
}

struct Update {
    std::int64_t row, col, rows, cols;
    double coefficient, beta;
};

void expect_like_one_by_one(const std::vector<Update>& updates) {
    std::vector<float> from(9), together(kSide * kSide), alone;
    for (std::size_t i = 0; i < from.size(); ++i) {
        from[i] = static_cast<float>(i) - 4;
    }
    for (std::size_t i = 0; i < together.size(); ++i) {
        together[i] = static_cast<float>(i % 7);
    }
    for (const Update& u : updates) {
        for (std::int64_t i = 0; u.beta == 0 && i < u.rows * u.cols; ++i) {  // is not read there
            together[static_cast<std::size_t>((u.row + i / u.cols) * kSide + u.col + i % u.cols)] =
                std::numeric_limits<float>::quiet_NaN();
        }
    }
    alone = together;
    ReferenceBackend backend;
    const ConstView source(from.data(), Type::f32, 3, 3, 3, 1);
    std::vector<PartUpdate> parts;
    for (const Update& u : updates) {
        parts.push_back({part_of(together, u.row, u.col, u.rows, u.cols), u.coefficient, u.beta});
        update_part(backend, part_of(alone, u.row, u.col, u.rows, u.cols), u.coefficient, u.beta, source);
    }
    update_parts(backend, parts, source);
    EXPECT_EQ(together, alone);
}

TEST(DenseBlocks, parts_of_one_size_are_updated_like_one_by_one) {
    expect_like_one_by_one({});
    expect_like_one_by_one({{0, 0, 3, 3, -1, 1}});
    expect_like_one_by_one({{0, 0, 3, 3, 1, 0}, {0, 3, 3, 3, 1, 0}, {3, 0, 3, 3, 1, 0}, {3, 3, 3, 3, 1, 0}});
    expect_like_one_by_one({{0, 3, 3, 3, 1, 1}, {3, 0, 3, 3, -1, 0}, {3, 3, 3, 3, 2, 3}});
}

TEST(DenseBlocks, parts_at_the_edge_take_a_corner) {
    expect_like_one_by_one({{0, 0, 3, 3, 1, 1}, {3, 0, 2, 3, -1, 1}, {3, 3, 2, 2, 1, 0}});
}

}  // namespace
}  // namespace heptad
