// The instruction sets that tests run with.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/cpu/cpu_features.hpp"

namespace heptad::test {

/// Those of this machine that differ in more than products of bf16: the same kernels are tested once.
inline std::vector<cpu::InstructionSet> sets_with_tables_of_their_own() {
    std::vector<cpu::InstructionSet> sets;
    for (const cpu::InstructionSet set : cpu::available_instruction_sets()) {
        const auto has_same_table = [&](cpu::InstructionSet other) {
            return &cpu::kernel_table_of(other) == &cpu::kernel_table_of(set) &&
                   &cpu::f32_kernels_of(other) == &cpu::f32_kernels_of(set);
        };
        if (std::none_of(sets.begin(), sets.end(), has_same_table)) {
            sets.push_back(set);
        }
    }
    return sets;
}

}  // namespace heptad::test
