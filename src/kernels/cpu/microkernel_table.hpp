// Fills in the table of one instruction set. Only for microkernel_<set>.cpp.
#pragma once

#include "kernels/cpu/combine_halves.hpp"
#include "kernels/cpu/combine_powers.hpp"
#include "kernels/cpu/combine_sums.hpp"
#include "kernels/cpu/microkernel.hpp"
#include "kernels/cpu/microkernel_bytes.hpp"
#include "kernels/cpu/microkernel_gemm.hpp"
#include "kernels/cpu/pack_panels.hpp"
#include "kernels/cpu/plain_byte_tile.hpp"
#include "kernels/cpu/scan_bits.hpp"

namespace heptad::cpu {
namespace {

struct CacheBlocks {
    std::int64_t rows, depth, cols;
    std::int64_t panels_in_l1 = 1;
    std::int64_t small_side = 32;  // up to there packing costs more than it brings, if it was not measured
};

template <class T, int rows, int column_vectors>
constexpr GemmKernels<T> gemm_kernels(CacheBlocks blocks) {
    constexpr int cols = column_vectors * lanes<T>;
    GemmKernels<T> kernels{};
    kernels.tile_rows = rows;
    kernels.tile_cols = cols;
    kernels.block_rows = (blocks.rows + rows - 1) / rows * rows;
    kernels.block_depth = blocks.depth;
    kernels.block_cols = (blocks.cols + cols - 1) / cols * cols;
    kernels.panels_in_l1 = blocks.panels_in_l1;
    kernels.tile = gemm_tile<T, rows, column_vectors>;
    kernels.pack_a = pack_panels<T, rows>;
    kernels.pack_b = pack_panels<T, cols>;
    kernels.small = gemm_small<T>;
    kernels.vector_elements = lanes<T>;
    kernels.small_side = blocks.small_side;
    return kernels;
}

constexpr KernelTable kernel_table(const char* name, const GemmKernels<float>& f32, const GemmKernels<double>& f64,
                                   const GemmKernels<std::uint32_t>& i32, const GemmKernels<std::uint64_t>& i64) {
    KernelTable table{};
    table.gemm_f32 = f32;
    table.gemm_f64 = f64;
    table.gemm_i32 = i32;
    table.gemm_i64 = i64;
    table.sum_f32 = choose_ring_sum<float>;
    table.sum_f64 = choose_ring_sum<double>;
    table.sum_i32 = choose_ring_sum<std::uint32_t>;
    table.sum_i64 = choose_ring_sum<std::uint64_t>;
    table.sum_xor = choose_bit_sum<XorSum>;
    table.sum_or = choose_bit_sum<OrSum>;
    table.finish_streams = finish_streams;
    table.widen_bf16 = widen_bf16;
    table.narrow_bf16 = narrow_bf16;
    table.widen_f16 = widen_f16;
    table.narrow_f16 = narrow_f16;
    table.round_tf32 = round_tf32;
    table.times_powers_f32 = times_powers<float, std::int32_t>;
    table.times_powers_f64 = times_powers<double, std::int64_t>;
    table.scan_f64 = scan_with_sums<double, std::int64_t>;
    table.scan_f32 = scan_with_sums<float, std::int32_t>;
    table.bytes = byte_kernels(name, plain_tile);
    return table;
}

}  // namespace
}  // namespace heptad::cpu
