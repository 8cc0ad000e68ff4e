// Which instruction sets this processor (and its operating system) can run, and which kernels for residues.
#include "kernels/cpu/cpu_features.hpp"

#if defined(__aarch64__)
#include <sys/auxv.h>
#elif defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <algorithm>

#include "base/names.hpp"
#include "base/shared_state.hpp"

namespace heptad::cpu {
namespace {

#if defined(__aarch64__)
bool has_i8mm() {
    constexpr unsigned long hwcap2_i8mm = 1UL << 13;  // HWCAP2_I8MM, which older headers do not have
    return (getauxval(AT_HWCAP2) & hwcap2_i8mm) != 0;
}
#elif defined(__x86_64__)
/// All of some features by the bits of leaf 7, edx.
bool has_features(unsigned bits) {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (edx & bits) == bits;
}

/// Tiles of bf16, in a processor that has them and a system that would save them. Asks for nothing yet: signal frames
/// grow in processes that use tiles.
bool has_amx() {
    constexpr unsigned amx_bf16 = 1U << 22, amx_tile = 1U << 24;
    constexpr long get_supported = 0x1021, tile_states = (1L << 17) | (1L << 18);  // ARCH_GET_XCOMP_SUPP
    std::uint64_t supported = 0;
    return has_features(amx_bf16 | amx_tile) && syscall(SYS_arch_prctl, get_supported, &supported) == 0 &&
           (supported & tile_states) == tile_states;
}
#endif

std::vector<const ByteKernels*> find_byte_kernels() {
    std::vector<const ByteKernels*> found;
    const auto add = [&](const ByteKernels& kernels) {
        if (std::ranges::find(found, &kernels) == found.end() && (kernels.may_use == nullptr || kernels.may_use())) {
            found.push_back(&kernels);
        }
    };
    for (const InstructionSet set : available_instruction_sets()) {
#if defined(__x86_64__)
        constexpr unsigned amx_int8 = 1U << 25;
        if (set == InstructionSet::amx && has_features(amx_int8)) {
            add(kernels_amx_int8());
        }
        if (&kernel_table_of(set) == &kernels_avx512() && __builtin_cpu_supports("avx512vnni")) {
            add(kernels_avx512vnni());
        }
#endif
        add(kernel_table_of(set).bytes);
    }
    return found;
}

}  // namespace

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

const std::vector<const ByteKernels*>& usable_byte_kernels() {
    static constinit Once<std::vector<const ByteKernels*>> kernels;
    return kernels.get(find_byte_kernels);
}

}  // namespace heptad::cpu
