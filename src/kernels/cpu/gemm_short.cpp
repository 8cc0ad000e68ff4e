// Products of floats that are shorter than f32: bf16, f16 and tf32. Sums are f32 and rounded once, when C is written.
//
//   for each block of C, for each block of depth:    sums += block of A * block of B
//   C = alpha * sums + beta * C
//
// Blocks of A and B are widened to f32, whose kernel adds their products up; widening an element serves hundreds of
// multiplications, so that it costs little beside them. Blocks of bf16 are multiplied as they are where the processor
// has instructions for that.
#include <algorithm>
#include <array>
#include <optional>

#include "base/size.hpp"
#include "kernels/cpu/combine_arithmetic.hpp"
#include "kernels/cpu/cpu_features.hpp"
#include "kernels/cpu/thread_scratch.hpp"

namespace heptad::cpu {
namespace {

struct Sides {
    std::int64_t rows, depth, cols;
};
constexpr Sides kBlocks{512, 1024, 1024};        // the largest that are widened
constexpr std::int64_t kLeastDepthOfPairs = 32;  // below, filling up the depth costs more than the instructions gain
constexpr std::int64_t kRun = 512;               // elements that go through the stack

/// Between `count` elements at `data`, so many apart, and f32.
void widen_run(const KernelTable& table, Type type, const void* data, std::int64_t stride, std::int64_t count,
               float* to) {
    if (element_bytes(type) == 4) {
        const auto* from = static_cast<const float*>(data);
        if (stride != 1) {
            gather_same(table, data, stride, to, count);
            from = to;
        }
        if (type == Type::tf32) {
            table.round_tf32(from, to, count);
        } else if (from != to) {
            std::copy_n(from, count, to);
        }
        return;
    }
    (type == Type::bf16 ? gather_half<&KernelTable::widen_bf16>
                        : gather_half<&KernelTable::widen_f16>)(table, data, stride, to, count);
}

void narrow_run(const KernelTable& table, Type type, const float* from, void* data, std::int64_t stride,
                std::int64_t count) {
    const auto scatter = element_bytes(type) == 4 ? scatter_same<float>
                         : type == Type::bf16     ? scatter_half<&KernelTable::narrow_bf16>
                                                  : scatter_half<&KernelTable::narrow_f16>;
    scatter(table, from, data, stride, count);
}

/// A block in f32 at `to`, row by row or column by column as it lies.
ConstView widened(const KernelTable& table, const ConstView& block, float* to) {
    if (!is_row_contiguous(block) && is_column_contiguous(block)) {
        return transposed(widened(table, transposed(block), to));
    }
    for (std::int64_t i = 0; i < block.rows; ++i) {
        for (std::int64_t j = 0; j < block.cols; j += kRun) {
            widen_run(table, block.type, element_pointer(block, i, j), block.col_stride, std::min(kRun, block.cols - j),
                      to + i * block.cols + j);
        }
    }
    return {to, Type::f32, block.rows, block.cols, block.cols, 1};
}

/// c = alpha * sums + beta * c, each element rounded once.
void write_sums(const KernelTable& table, const float* sums, std::int64_t row_stride, float alpha, float beta,
                const View& c) {
    // What is read of C is not rounded to tf32: only factors of products are.
    const Type read_as = element_bytes(c.type) == 4 ? Type::f32 : c.type;
    std::array<float, kRun> values, before;
    for (std::int64_t i = 0; i < c.rows; ++i) {
        for (std::int64_t j = 0; j < c.cols; j += kRun) {
            const std::int64_t count = std::min(kRun, c.cols - j);
            void* const target = element_pointer(c, i, j);
            for (std::int64_t q = 0; q < count; ++q) {
                values[static_cast<std::size_t>(q)] = alpha * sums[i * row_stride + j + q];
            }
            if (beta != 0) {
                widen_run(table, read_as, target, c.col_stride, count, before.data());
                for (std::size_t q = 0; q < static_cast<std::size_t>(count); ++q) {
                    values[q] += beta * before[q];
                }
            }
            narrow_run(table, c.type, values.data(), target, c.col_stride, count);
        }
    }
}

/// Whole tiles of sums, `row_stride` apart: a * b, or (`add`) that more. `may_be_tiny` says that numbers in the sums
/// may be too small for the fast tile, and is set where that begins.
void multiply_pairs(const Bf16Kernels& kernels, const ConstView& a, const ConstView& b, bool add, std::uint16_t* left,
                    std::uint16_t* right, float* sums, std::int64_t row_stride, bool& may_be_tiny) {
    const std::int64_t chunks = ceil_div(a.cols, Bf16Kernels::chunk), depth = chunks * Bf16Kernels::chunk;
    kernels.pack_a(a.rows, a.cols, static_cast<const std::uint16_t*>(a.data), a.row_stride, a.col_stride, left);
    kernels.pack_b(b.cols, b.rows, static_cast<const std::uint16_t*>(b.data), b.col_stride, b.row_stride, right);
    // Products are 2^(left + right - 254) or more, and these, their sums and what is rounded from them are multiples of
    // 2^-14 of that; from 2^-126 on nothing is taken for zero.
    const int left_exponent = kernels.least_exponent(left, round_up(a.rows, kernels.tile_rows) * depth);
    const int right_exponent = kernels.least_exponent(right, round_up(b.cols, kernels.tile_cols) * depth);
    may_be_tiny =
        may_be_tiny || left_exponent == 0 || right_exponent == 0 || left_exponent + right_exponent - 254 - 14 < -126;
    const Bf16Kernels::Tile tile = may_be_tiny ? kernels.tile_of_any_numbers : kernels.tile;
    for (std::int64_t j = 0; j < b.cols; j += kernels.tile_cols) {
        for (std::int64_t i = 0; i < a.rows; i += kernels.tile_rows) {
            tile(chunks, left + i * depth, right + j * depth, add, sums + i * row_stride + j, row_stride);
        }
    }
}

}  // namespace

void gemm_short(const Product& product, InstructionSet set) {
    const auto alpha = static_cast<float>(product.alpha), beta = static_cast<float>(product.beta);
    const std::int64_t m = product.c.rows, k = product.a.cols, n = product.c.cols;
    if (k == 0 || alpha == 0) {
        scale_view(static_cast<double>(beta), product.c, set);
        return;
    }
    if (!is_row_contiguous(product.c) && is_column_contiguous(product.c)) {
        gemm_short({product.alpha, transposed(product.b), transposed(product.a), product.beta, transposed(product.c)},
                   set);
        return;
    }
    const Bf16Kernels* const pairs =
        product.a.type == Type::bf16 && k >= kLeastDepthOfPairs ? bf16_kernels_of(set) : nullptr;
    const Sides largest = pairs != nullptr ? Sides{pairs->block_rows, pairs->block_depth, pairs->block_cols} : kBlocks;
    const Sides unit =
        pairs != nullptr ? Sides{pairs->tile_rows, Bf16Kernels::chunk, pairs->tile_cols} : Sides{1, 1, 1};
    // Blocks of equal size: no thin last one. Those of k depend on k alone, and so does the order of every sum.
    const auto even = [](std::int64_t size, std::int64_t block, std::int64_t of) {
        return round_up(ceil_div(size, ceil_div(size, block)), of);
    };
    const std::int64_t rows = even(m, largest.rows, unit.rows), cols = even(n, largest.cols, unit.cols),
                       depth = even(k, largest.depth, unit.depth);
    // Rows of a tile of sums that lie a power of two apart would share few places of the caches: with pairs a fifth of
    // the time at n = 2048 on a Sapphire Rapids.
    const std::int64_t row_stride = cols + (pairs != nullptr ? pairs->tile_cols : 0);
    const KernelTable& table = kernel_table_of(set);
    struct Blocks;
    const auto factor_bytes = static_cast<std::int64_t>(pairs != nullptr ? sizeof(std::uint16_t) : sizeof(float));
    std::byte* const scratch = thread_scratch<Blocks>(static_cast<std::int64_t>(sizeof(float)) * rows * row_stride +
                                                      factor_bytes * (rows * depth + depth * cols));
    auto* const sums = reinterpret_cast<float*>(scratch);
    auto* const left = reinterpret_cast<std::byte*>(sums + rows * row_stride);
    std::byte* const right = left + factor_bytes * rows * depth;
    std::optional<TileUse> use;
    if (pairs != nullptr) {
        use.emplace(*pairs);
    }
    for (std::int64_t col = 0; col < n; col += cols) {
        const std::int64_t here_cols = std::min(cols, n - col);
        for (std::int64_t row = 0; row < m; row += rows) {
            const std::int64_t here_rows = std::min(rows, m - row);
            const View sum(sums, Type::f32, here_rows, here_cols, row_stride, 1);
            bool may_be_tiny = false;
            for (std::int64_t p = 0; p < k; p += depth) {
                const std::int64_t here_depth = std::min(depth, k - p);
                const ConstView a = block(product.a, row, p, here_rows, here_depth);
                const ConstView b = block(product.b, p, col, here_depth, here_cols);
                if (pairs != nullptr) {
                    multiply_pairs(*pairs, a, b, p > 0, reinterpret_cast<std::uint16_t*>(left),
                                   reinterpret_cast<std::uint16_t*>(right), sums, row_stride, may_be_tiny);
                } else {
                    gemm({1, widened(table, a, reinterpret_cast<float*>(left)),
                          widened(table, b, reinterpret_cast<float*>(right)), p == 0 ? 0.0 : 1.0, sum},
                         set);
                }
            }
            write_sums(table, sums, row_stride, alpha, beta, block(product.c, row, col, here_rows, here_cols));
        }
    }
}

}  // namespace heptad::cpu
