// Which instruction sets this processor (and its operating system) can run.
#include "kernels/cpu/cpu_features.hpp"

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
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
#endif

const char* instruction_set_name(InstructionSet set) noexcept {
    static constexpr Names<InstructionSet, 5> names{{"scalar", "neon", "i8mm", "avx2", "avx512"}};
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
            found.push_back(InstructionSet::avx512);
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
            return kernels_avx512();
#endif
        default:
            return kernels_scalar();
    }
}

}  // namespace heptad::cpu
