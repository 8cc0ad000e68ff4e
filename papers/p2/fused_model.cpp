#include "papers/p2/fused_model.hpp"

#include <algorithm>
#include <cmath>

namespace heptad {
namespace {

constexpr BlockShape kShapes[] = {{FusedTile::small, 16, 16, 16, 2, 2}, {FusedTile::medium, 32, 32, 8, 4, 4},
                                  {FusedTile::large, 64, 64, 8, 8, 8},  {FusedTile::tall, 128, 32, 8, 8, 4},
                                  {FusedTile::wide, 32, 128, 8, 4, 8},  {FusedTile::huge, 128, 128, 8, 8, 8}};

double blocks_of(std::int64_t size, int side) {
    return static_cast<double>((size + side - 1) / side);
}

}  // namespace

const BlockShape& p2_shape(FusedTile tile) {
    const auto* const found =
        std::find_if(std::begin(kShapes), std::end(kShapes), [&](const BlockShape& s) { return s.tile == tile; });
    return found != std::end(kShapes) ? *found : kShapes[std::size(kShapes) - 1];
}

ModelDevice p2_v100() {
    ModelDevice device;
    device.flops_per_s = 15.67e12;
    device.memory_bytes_per_s = 900e9;
    device.l2_factor = 0.2;
    device.shared_bytes_per_s = 80.0 * 32 * 4 * 1530e6;
    device.multiprocessors = 80;
    device.shared_bytes = std::int64_t{96} << 10;
    return device;
}

BlockWork block_work(const BlockShape& shape, const OperandCounts& counts, std::int64_t k) {
    const double m = shape.m_s, n = shape.n_s, depth = static_cast<double>(k), threads = shape.threads();
    const double a_global = m * depth, b_global = n * depth, c_global = m * n;  // (8), (10)
    const double fragments = threads * (shape.m_r + shape.n_r) * depth;         // (9)
    return {2 * m * n * depth + (counts.a - 1) * m * depth + (counts.b - 1) * n * depth + (counts.c - 1) * m * n,
            a_global * counts.a + b_global * counts.b + c_global * counts.c, fragments + a_global + b_global};
}

int registers_of_thread(const BlockShape& shape, const OperandCounts& counts, SumTime sums) {
    const auto held = [&](int terms) { return sums == SumTime::early ? std::min(terms, 2) : terms; };
    return shape.m_r * shape.n_r + (2 + held(counts.a)) * shape.m_r + (2 + held(counts.b)) * shape.n_r;
}

double global_bytes_per_s_needed(const ModelDevice& device, const BlockShape& shape, const OperandCounts& counts,
                                 std::int64_t k, int element_bytes) {
    const BlockWork work = block_work(shape, counts, k);
    return work.global_words * element_bytes / work.flops * device.flops_per_s;
}

ShapeBounds shape_bounds(const ModelDevice& device, const BlockShape& shape, const OperandCounts& counts,
                         std::int64_t k, int element_bytes) {
    const BlockWork work = block_work(shape, counts, k);
    ShapeBounds bounds;
    bounds.global_bandwidth =
        global_bytes_per_s_needed(device, shape, counts, k, element_bytes) <= device.global_bytes_per_s();
    bounds.shared_bandwidth =
        work.shared_words * element_bytes / work.flops * device.flops_per_s <= device.shared_bytes_per_s;
    bounds.registers = registers_of_thread(shape, counts) < device.most_registers_of_thread;
    bounds.shared_memory = std::int64_t{element_bytes} * (shape.m_s + shape.n_s) * shape.k_s < device.shared_bytes;
    bounds.prefetching =
        shape.m_r * shape.threads() >= shape.m_s * shape.k_s && shape.n_r * shape.threads() >= shape.n_s * shape.k_s;
    return bounds;
}

int active_blocks(const ModelDevice& device, int threads, int registers_of_each_thread, std::int64_t shared_bytes) {
    constexpr int kWarp = 32, kParts = 4, kUnit = 256;
    const int warps = (threads + kWarp - 1) / kWarp;
    const int registers_of_warp = (registers_of_each_thread * kWarp + kUnit - 1) / kUnit * kUnit;
    const int warps_by_registers = device.registers / kParts / registers_of_warp * kParts;
    int blocks = std::min({device.most_blocks, device.most_warps / warps, warps_by_registers / warps});
    if (shared_bytes > 0) {
        blocks = static_cast<int>(std::min<std::int64_t>(blocks, device.shared_bytes / shared_bytes));
    }
    return blocks;
}

double InstanceTime::seconds() const {
    return std::max({flop_s, shared_s, global_s}) + waiting_s;
}

InstanceTime instance_time(const ModelDevice& device, const BlockShape& shape, const OperandCounts& counts,
                           std::int64_t m, std::int64_t k, std::int64_t n, int blocks_of_multiprocessor,
                           int element_bytes, SumTime sums) {
    const double tiles = blocks_of(m, shape.m_s) * blocks_of(n, shape.n_s);
    const double at_once = static_cast<double>(device.multiprocessors) * blocks_of_multiprocessor;  // (19)
    const double waves = std::ceil(tiles / at_once);
    const OperandCounts overlapped{sums == SumTime::early ? 1 : counts.a, sums == SumTime::early ? 1 : counts.b,
                                   counts.c};
    const BlockWork work = block_work(shape, counts, k);
    const BlockWork hidden = block_work(shape, overlapped, k);
    InstanceTime time;
    time.flop_s = waves * at_once * work.flops / device.flops_per_s;                                  // (20)
    time.shared_s = waves * at_once * element_bytes * work.shared_words / device.shared_bytes_per_s;  // (21)
    time.global_s = tiles * element_bytes * hidden.global_words / device.global_bytes_per_s();        // (22)
    time.waiting_s = tiles * element_bytes * (work.global_words - hidden.global_words) / device.global_bytes_per_s();
    return time;
}

}  // namespace heptad
