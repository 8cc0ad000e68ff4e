// P2's performance model (section 5) of  M = (sum of W_A blocks)(sum of W_B blocks), added to W_C blocks,  equation by
// equation. One thread block makes m_S x n_S of M in steps of k_S; one thread m_R x n_R of it. Counts are words and
// flops of one thread block.
//
//   N_gmop = m_S k W_A + n_S k W_B + m_S n_S W_C                                       (8), (10), (12)
//   N_smop = t_x t_y (m_R + n_R) k + (m_S + n_S) k                                     (8), (9), (14)
//   N_flop = 2 m_S n_S k + (W_A - 1) m_S k + (W_B - 1) n_S k + (W_C - 1) m_S n_S       (11)
//   T = max(T_flop, T_smop, T_gmop)                                                    (19) to (22)
#pragma once

#include <cstdint>

#include "base/fused.hpp"
#include "plan/search/fused_instances.hpp"

namespace heptad {

/// One of P2's block shapes, figure 3.
struct BlockShape {
    FusedTile tile = FusedTile::huge;
    int m_s = 128, n_s = 128, k_s = 8, m_r = 8, n_r = 8;
    int threads() const { return m_s / m_r * (n_s / n_r); }
};
const BlockShape& p2_shape(FusedTile tile);

/// What the model knows of a chip.
struct ModelDevice {
    double flops_per_s = 0;         // tau_flop
    double memory_bytes_per_s = 0;  // of global memory itself
    double l2_factor = 0;           // lambda: what the L2 cache adds to that; tau_gmop = memory * (1 + lambda)
    double shared_bytes_per_s = 0;  // tau_smop, all multiprocessors together
    int multiprocessors = 0;
    int registers = 65536;  // of a multiprocessor, in four parts
    std::int64_t shared_bytes = 0;
    int most_warps = 64, most_blocks = 32;
    int most_registers_of_thread = 255;

    double global_bytes_per_s() const { return memory_bytes_per_s * (1 + l2_factor); }
};
/// The Tesla V100 of P2: sections 2.2 and 5.2. (Its text has two values of tau_smop, 15.30 and 15.67; the second is the
/// product in its footnote 13.)
ModelDevice p2_v100();

struct BlockWork {
    double flops = 0, global_words = 0, shared_words = 0;
};
BlockWork block_work(const BlockShape& shape, const OperandCounts& counts, std::int64_t k);

/// When the terms are added: late, when they go to shared memory, so that all loads overlap with the products (P2's
/// kernels); or early, when each is loaded (section 5.4): a second register per element then serves all further terms,
/// but the cores wait for those.
enum class SumTime : std::uint8_t { late, early };
/// Registers of a thread by the left side of (16).
int registers_of_thread(const BlockShape& shape, const OperandCounts& counts, SumTime sums = SumTime::late);

/// Which of the bounds on block shapes hold.
struct ShapeBounds {
    bool global_bandwidth = false;  // (13)
    bool shared_bandwidth = false;  // (15)
    bool registers = false;         // (16)
    bool shared_memory = false;     // (17)
    bool prefetching = false;       // (18)
    bool all() const { return global_bandwidth && shared_bandwidth && registers && shared_memory && prefetching; }
};
ShapeBounds shape_bounds(const ModelDevice& device, const BlockShape& shape, const OperandCounts& counts,
                         std::int64_t k, int element_bytes);
/// Bytes from global memory that the chip's flops take with them, from (13).
double global_bytes_per_s_needed(const ModelDevice& device, const BlockShape& shape, const OperandCounts& counts,
                                 std::int64_t k, int element_bytes);

/// Thread blocks that a multiprocessor holds: by registers (each of its four parts takes whole warps, in units of 256
/// registers), shared memory, warps and blocks.
int active_blocks(const ModelDevice& device, int threads, int registers_of_each_thread, std::int64_t shared_bytes);

struct InstanceTime {
    double flop_s = 0, shared_s = 0, global_s = 0;
    double waiting_s = 0;  // early sums: loads that nothing overlaps with
    double seconds() const;
};
/// One instance of m x k by k x n alone on the chip, with so many active blocks on each multiprocessor.
InstanceTime instance_time(const ModelDevice& device, const BlockShape& shape, const OperandCounts& counts,
                           std::int64_t m, std::int64_t k, std::int64_t n, int blocks_of_multiprocessor,
                           int element_bytes, SumTime sums = SumTime::late);

}  // namespace heptad
