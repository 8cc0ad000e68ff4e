// Products of floats that are shorter than f32: bf16, f16 and tf32. Blocks of A and B are widened to f32, whose kernel
// adds their products up; the sums are rounded once, when C is written.
//
// Widening an element serves hundreds of multiplications, so that it costs little beside them.
#include <algorithm>
#include <array>

#include "base/size.hpp"
#include "kernels/cpu/cpu_features.hpp"
#include "kernels/cpu/thread_scratch.hpp"

namespace heptad::cpu {
namespace {

/// The largest blocks: of C, which is where the sums are, and along k.
constexpr std::int64_t kBlockRows = 512, kBlockCols = 1024, kBlockDepth = 1024;
constexpr std::int64_t kRun = 512;  // elements that go through the stack

/// Between `count` elements at `data`, so many apart, and f32.
void widen_run(const KernelTable& table, Type type, const void* data, std::int64_t stride, std::int64_t count,
               float* to) {
    if (element_bytes(type) == 4) {
        const auto* from = static_cast<const float*>(data);
        if (stride != 1) {
            for (std::int64_t i = 0; i < count; ++i) {
                to[i] = from[i * stride];
            }
            from = to;
        }
        if (type == Type::tf32) {
            table.round_tf32(from, to, count);
        } else if (from != to) {
            std::copy_n(from, count, to);
        }
        return;
    }
    const auto* from = static_cast<const std::uint16_t*>(data);
    std::array<std::uint16_t, kRun> side_by_side;
    if (stride != 1) {
        for (std::int64_t i = 0; i < count; ++i) {
            side_by_side[static_cast<std::size_t>(i)] = from[i * stride];
        }
        from = side_by_side.data();
    }
    (type == Type::bf16 ? table.widen_bf16 : table.widen_f16)(from, to, count);
}
void narrow_run(const KernelTable& table, Type type, const float* from, void* data, std::int64_t stride,
                std::int64_t count) {
    if (element_bytes(type) == 4) {
        for (std::int64_t i = 0; i < count; ++i) {
            static_cast<float*>(data)[i * stride] = from[i];
        }
        return;
    }
    auto* to = static_cast<std::uint16_t*>(data);
    std::array<std::uint16_t, kRun> side_by_side;
    (type == Type::bf16 ? table.narrow_bf16 : table.narrow_f16)(from, stride == 1 ? to : side_by_side.data(), count);
    for (std::int64_t i = 0; stride != 1 && i < count; ++i) {
        to[i * stride] = side_by_side[static_cast<std::size_t>(i)];
    }
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
void write_sums(const KernelTable& table, const float* sums, float alpha, float beta, const View& c) {
    // What is read of C is not rounded to tf32: only factors of products are.
    const Type read_as = element_bytes(c.type) == 4 ? Type::f32 : c.type;
    std::array<float, kRun> values, before;
    for (std::int64_t i = 0; i < c.rows; ++i) {
        for (std::int64_t j = 0; j < c.cols; j += kRun) {
            const std::int64_t count = std::min(kRun, c.cols - j);
            void* const target = element_pointer(c, i, j);
            for (std::int64_t q = 0; q < count; ++q) {
                values[static_cast<std::size_t>(q)] = alpha * sums[i * c.cols + j + q];
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
    // Blocks of equal size: no thin last one. Those of k depend on k alone, and so does the order of every sum.
    const auto even = [](std::int64_t size, std::int64_t block) { return ceil_div(size, ceil_div(size, block)); };
    const std::int64_t rows = even(m, kBlockRows), cols = even(n, kBlockCols), depth = even(k, kBlockDepth);
    const KernelTable& table = kernel_table_of(set);
    struct Blocks;
    auto* const sums = reinterpret_cast<float*>(
        thread_scratch<Blocks>(static_cast<std::int64_t>(sizeof(float)) * (rows * cols + rows * depth + depth * cols)));
    float* const left = sums + rows * cols;
    float* const right = left + rows * depth;
    for (std::int64_t col = 0; col < n; col += cols) {
        const std::int64_t here_cols = std::min(cols, n - col);
        for (std::int64_t row = 0; row < m; row += rows) {
            const std::int64_t here_rows = std::min(rows, m - row);
            const View sum(sums, Type::f32, here_rows, here_cols, here_cols, 1);
            for (std::int64_t p = 0; p < k; p += depth) {
                const std::int64_t here_depth = std::min(depth, k - p);
                gemm({1, widened(table, block(product.a, row, p, here_rows, here_depth), left),
                      widened(table, block(product.b, p, col, here_depth, here_cols), right), p == 0 ? 0.0 : 1.0, sum},
                     set);
            }
            write_sums(table, sums, alpha, beta, block(product.c, row, col, here_rows, here_cols));
        }
    }
}

}  // namespace heptad::cpu
