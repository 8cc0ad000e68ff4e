// A guess at the machine, for those who never ran `heptad tune`:
//   rate = flops per cycle and core * clock * threads * efficiency of the leaf * s / (s + h),  s the smallest size,
// h the size where the leaf reaches half of that; bounded by what memory delivers. Products that take a few
// microseconds run on one thread.
#include <algorithm>

#include "base/thread_pool.hpp"
#include "io/machine_file.hpp"
#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/cpu/cpu_info.hpp"
#include "kernels/cpu/cpu_kernels.hpp"

namespace heptad {
namespace {

/// Two fused multiply-adds per cycle in the widest registers (four in the 128-bit ones of large Arm cores).
double flops_per_cycle(const cpu::CpuInfo& info, Type type) {
    double f32 = 8;
    if (info.has_avx512()) {
        f32 = 64;
    } else if (info.has_avx2_fma() || info.has("asimd")) {
        f32 = 32;
    }
    switch (type) {
        case Type::f64:
            return f32 / 2;
        case Type::i32:
            return f32 / 4;
        case Type::i64:
            return f32 / 8;
        case Type::bf16:  // tiles do 4.6 to 5.6 times what goes through f32 (n from 512 to 4096, Sapphire Rapids)
            return cpu::best_instruction_set() == cpu::InstructionSet::amx ? 5 * f32 : f32;
        default:
            return f32;  // tf32 and f16 go through its kernel
    }
}

/// Our kernel for f32 takes tiles of bf16.
bool has_tiles_for(Type type) {
    return type == Type::f32 && cpu::best_instruction_set() == cpu::InstructionSet::amx;
}

/// Part of the peak of vectors that large products reach. On Arm cores without SVE the libraries of today lag behind
/// our kernel; tiles are 1.3 times as fast as libraries (n from 256 to 4096, Sapphire Rapids).
double efficiency(const cpu::CpuInfo& info, const std::string& leaf, Type type) {
    const bool own_leads = info.architecture == "aarch64" && !info.has("sve");
    if (leaf != "heptad") {
        return own_leads ? 0.75 : 0.85;
    }
    return has_tiles_for(type) ? 1.12 : own_leads ? 0.88 : 0.75;
}

/// Vendor calls cost more before they start; where that was measured, our kernel wins below 100 or so. Tiles win from
/// 64 on.
double half_speed_size(const cpu::CpuInfo& info, const std::string& leaf, Type type) {
    if (leaf == "heptad") {
        return has_tiles_for(type) ? 80 : info.architecture == "aarch64" ? 12 : 48;
    }
    return 48;
}

double guessed_seconds(double core_rate, double half, int threads, double bytes_per_s, Type type, std::int64_t m,
                       std::int64_t k, std::int64_t n) {
    const auto x = static_cast<double>(m), y = static_cast<double>(k), z = static_cast<double>(n);
    const double smallest = std::min({x, y, z});
    const double rate = core_rate * smallest / (smallest + half);
    double seconds = 2 * x * y * z / rate;
    if (seconds > 2e-5) {
        seconds = std::max(seconds / threads, 1e-5);
    }
    const double bytes = (x * y + y * z + 2 * x * z) * static_cast<double>(element_bytes(type));
    return 5e-8 + std::max(seconds, bytes / bytes_per_s);
}

}  // namespace

Machine default_machine(int threads) {
    const cpu::CpuInfo& info = cpu::cpu_info();
    Machine machine;
    machine.cpu = info.brand;
    machine.threads = std::max(1, threads);
    machine.measured = false;
    machine.combine_bytes_per_s = std::min(8e9 * machine.threads, 80e9);
    machine.scan_bytes_per_s = machine.combine_bytes_per_s;
    machine.call_s = machine.threads == 1 ? 1e-7 : 4e-6;
    const cpu::CpuBackend backend(shared_pool(machine.threads));
    const double clock = info.max_mhz > 500 ? info.max_mhz * 1e6 : 2.5e9;
    for (const Type type : {Type::f32, Type::f64, Type::i32, Type::i64, Type::tf32, Type::bf16, Type::f16}) {
        for (const std::string& leaf : backend.leaves(type)) {
            // A library with its own threads is guessed to be as fast as on ours. Then whole products go to it: what
            // its users call cannot lose against them.
            LeafProfile profile{leaf, type, machine.threads, {}};
            const double rate = flops_per_cycle(info, type) * clock * efficiency(info, leaf, type);
            const double half = half_speed_size(info, leaf, type);
            const auto add = [&](std::int64_t m, std::int64_t k, std::int64_t n) {
                profile.samples.push_back(
                    {m, k, n,
                     guessed_seconds(rate, half, machine.threads, machine.combine_bytes_per_s, type, m, k, n)});
            };
            for (std::int64_t size = 1; size <= 4096; size *= 2) {
                add(size, size, size);
            }
            for (const std::int64_t large : {512, 2048}) {
                for (const std::int64_t thin : {1, 4, 16, 64}) {
                    add(thin, large, large);
                    add(large, thin, large);
                    add(large, large, thin);
                }
            }
            machine.leaves.push_back(std::move(profile));
        }
    }
    return machine;
}

}  // namespace heptad
