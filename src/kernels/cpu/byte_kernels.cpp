// Which kernels multiply residues in this process.
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>

#include "base/shared_state.hpp"
#include "kernels/cpu/cpu_features.hpp"

namespace heptad::cpu {
namespace {

#if defined(__x86_64__)
bool has_amx_int8() {
    constexpr unsigned amx_int8 = 1U << 25;  // leaf 7, edx
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (edx & amx_int8) != 0;
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
        if (set == InstructionSet::amx && has_amx_int8()) {
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

const std::vector<const ByteKernels*>& usable_byte_kernels() {
    static constinit Once<std::vector<const ByteKernels*>> kernels;
    return kernels.get(find_byte_kernels);
}

}  // namespace heptad::cpu
