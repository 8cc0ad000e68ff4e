// The kernels of an instruction set.
#pragma once

#include "kernels/cpu/cpu_kernels.hpp"
#include "kernels/cpu/microkernel.hpp"

namespace heptad::cpu {

/// Precondition: the set is available here.
const KernelTable& kernel_table_of(InstructionSet set);
/// nullptr: products of bf16 go through the f32 kernel of the table, for want of instructions or because the system
/// does not let this process use them. The same answer for the life of the process.
const Bf16Kernels* bf16_kernels_of(InstructionSet set);

/// Lets this thread call their tiles.
class Bf16Use {
public:
    explicit Bf16Use(const Bf16Kernels& kernels) : end_(kernels.end) {
        if (kernels.begin != nullptr) {
            kernels.begin();
        }
    }
    ~Bf16Use() {
        if (end_ != nullptr) {
            end_();
        }
    }
    Bf16Use(const Bf16Use&) = delete;
    Bf16Use& operator=(const Bf16Use&) = delete;

private:
    void (*end_)();
};

}  // namespace heptad::cpu
