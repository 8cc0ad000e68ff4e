#include "plan/search/cluster_caps.hpp"

#include <algorithm>

#include "base/size.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kProducts = 7;

/// Windows of rows x cols of every block, cut off at the end of a height x width matrix.
std::vector<Window> rows_of_blocks(const CapsShape& shape, std::int64_t rank, std::int64_t block_rows,
                                   std::int64_t block_cols, std::int64_t rows, std::int64_t height,
                                   std::int64_t width) {
    std::vector<Window> windows;
    for (std::int64_t i = 0; i < shape.side; ++i) {
        for (std::int64_t j = 0; j < shape.side; ++j) {
            const std::int64_t row = std::min(height, i * block_rows + rank * rows),
                               col = std::min(width, j * block_cols);
            windows.push_back({row, col, std::min(rows, height - row), std::min(block_cols, width - col)});
        }
    }
    return windows;
}

}  // namespace

int most_caps_steps(std::int64_t ranks) {
    int steps = 0;
    for (; ranks >= kProducts; ranks /= kProducts) {
        ++steps;
    }
    return steps;
}

CapsShape caps_shape(const ProductPlan& plan) {
    CapsShape shape;
    for (int step = 0; step < plan.rank->steps; ++step) {
        shape.ranks *= kProducts;
        shape.side *= 2;
    }
    shape.rows_a = ceil_div(ceil_div(plan.m, shape.side), shape.ranks);
    shape.rows_b = ceil_div(ceil_div(plan.k, shape.side), shape.ranks);
    shape.block_m = shape.rows_a * shape.ranks;
    shape.block_k = shape.rows_b * shape.ranks;
    shape.block_n = ceil_div(plan.n, shape.side);
    return shape;
}

HeldWindows held_by_caps(const ProductPlan& plan, std::int64_t rank) {
    const CapsShape shape = caps_shape(plan);
    if (rank >= shape.ranks) {
        return {};
    }
    return {rows_of_blocks(shape, rank, shape.block_m, shape.block_k, shape.rows_a, plan.m, plan.k),
            rows_of_blocks(shape, rank, shape.block_k, shape.block_n, shape.rows_b, plan.k, plan.n)};
}

std::vector<Window> results_of_caps(const ProductPlan& plan, std::int64_t rank) {
    const CapsShape shape = caps_shape(plan);
    if (rank >= shape.ranks) {
        return {};
    }
    return rows_of_blocks(shape, rank, shape.block_m, shape.block_n, shape.rows_a, plan.m, plan.n);
}

CapsRound caps_round(std::int64_t size, std::int64_t rank, std::int64_t round) {
    // In every round the one that a rank sends to receives from it: its place among seven, then whose sum, add up to
    // the round.
    const std::int64_t part = size / kProducts;
    const std::int64_t sum = (rank % kProducts + round) % kProducts;
    const std::int64_t place = (rank / part - round + kProducts) % kProducts;
    return {sum * part + rank / kProducts, sum, rank % part * kProducts + place, place};
}

std::int64_t received_by_caps(const ProductPlan& plan, std::int64_t rank) {
    const CapsShape shape = caps_shape(plan);
    if (rank >= shape.ranks) {
        return 0;
    }
    std::int64_t received = 0, grown = 1;  // rows of a block that a rank holds, over those at the beginning
    std::int64_t blocks = shape.side * shape.side;
    for (std::int64_t size = shape.ranks; size > 1; size /= kProducts) {
        blocks /= 4;
        const std::int64_t own = rank % size;
        for (std::int64_t round = 0; round < kProducts; ++round) {
            const CapsRound messages = caps_round(size, own, round);
            if (messages.from != own) {
                received += blocks * grown * (shape.rows_a * shape.block_k + shape.rows_b * shape.block_n);
            }
            if (messages.to != own) {  // the results come back
                received += blocks * grown * shape.rows_a * shape.block_n;
            }
        }
        grown *= kProducts;
    }
    return received;
}

}  // namespace heptad
