// Which instruction sets this processor (and its operating system) can run.
#include "kernels/cpu/cpu_features.hpp"

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#elif defined(__x86_64__)
#include <cpuid.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#endif

#include "base/names.hpp"
#include "base/shared_state.hpp"

namespace heptad::cpu {
#if defined(__aarch64__)
namespace {

/// Only Linux is asked; elsewhere NEON, which every such processor has, will do.
bool has_i8mm() {
#if defined(__linux__)
    constexpr unsigned long hwcap2_i8mm = 1UL << 13;  // HWCAP2_I8MM, which older headers do not have
    return (getauxval(AT_HWCAP2) & hwcap2_i8mm) != 0;
#else
    return false;
#endif
}

}  // namespace
#elif defined(__x86_64__)
namespace {

/// Tiles of bf16, in a processor that has them and a system that would save them. Asks for nothing yet: signal frames
/// grow in processes that use tiles.
bool has_amx() {
#if defined(__linux__)
    constexpr unsigned amx_bf16 = 1U << 22, amx_tile = 1U << 24;                   // leaf 7, edx
    constexpr long get_supported = 0x1021, tile_states = (1L << 17) | (1L << 18);  // ARCH_GET_XCOMP_SUPP
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    std::uint64_t supported = 0;
    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (edx & amx_bf16) != 0 && (edx & amx_tile) != 0 &&
           syscall(SYS_arch_prctl, get_supported, &supported) == 0 && (supported & tile_states) == tile_states;
#else
    return false;
#endif
}

}  // namespace
#endif

const char* instruction_set_name(InstructionSet set) noexcept {
    static constexpr Names<InstructionSet, instruction_set_count> names{
        {"scalar", "neon", "i8mm", "avx2", "avx512", "avx512bf16", "amx"}};
    return names.of(set);
}

const std::vector<InstructionSet>& available_instruction_sets() {
    static constinit Once<std::vector<InstructionSet>> sets;
    return sets.get([] {
        std::vector<InstructionSet> found;
#if defined(__aarch64__)
        if (has_i8mm()) {
            found.push_back(InstructionSet::i8mm);
        }
        found.push_back(InstructionSet::neon);
#endif
#if defined(__x86_64__)
        __builtin_cpu_init();
        const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
        if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) {
            if (has_amx()) {
                found.push_back(InstructionSet::amx);
            }
            // Zen processors start as many instructions on pairs of bf16 as fused multiply-adds of f32, which do half
            // as much; a Sapphire Rapids does 92 GFLOP/s with the first and 152 with the second.
            const bool has_pairs = __builtin_cpu_supports("avx512bf16"), pairs_lead = __builtin_cpu_is("amd");
            if (has_pairs && pairs_lead) {
                found.push_back(InstructionSet::avx512bf16);
            }
            found.push_back(InstructionSet::avx512);
            if (has_pairs && !pairs_lead) {
                found.push_back(InstructionSet::avx512bf16);
            }
        }
        if (avx2) {
            found.push_back(InstructionSet::avx2);
        }
#endif
        found.push_back(InstructionSet::scalar);
        return found;
    });
}

const KernelTable& kernel_table_of(InstructionSet set) {
    switch (set) {
#if defined(__aarch64__)
        case InstructionSet::neon:
            return kernels_neon();
        case InstructionSet::i8mm:
            return kernels_i8mm();
#endif
#if defined(__x86_64__)
        case InstructionSet::avx2:
            return kernels_avx2();
        case InstructionSet::avx512:
        case InstructionSet::avx512bf16:
        case InstructionSet::amx:
            return kernels_avx512();
#endif
        default:
            return kernels_scalar();
    }
}

}  // namespace heptad::cpu
