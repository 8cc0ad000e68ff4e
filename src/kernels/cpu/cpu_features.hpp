// The kernel table of an instruction set.
#pragma once

#include "kernels/cpu/cpu_kernels.hpp"
#include "kernels/cpu/microkernel.hpp"

namespace heptad::cpu {

/// Precondition: the set is available here.
const KernelTable& kernel_table_of(InstructionSet set);

}  // namespace heptad::cpu
