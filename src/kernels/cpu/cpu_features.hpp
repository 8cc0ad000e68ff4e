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
/// Those of the table, or by tiles of bf16, with smaller errors. The same answer for the life of the process.
const GemmKernels<float>& f32_kernels_of(InstructionSet set);

/// Kernels for products of residues that this process can use, best first. The same answer for its life.
const std::vector<const ByteKernels*>& usable_byte_kernels();

/// Lets this thread call their tiles.
class TileUse {
public:
    template <class Kernels>
    explicit TileUse(const Kernels& kernels) : end_(kernels.end) {
        if (kernels.begin != nullptr) {
            kernels.begin();
        }
    }
    ~TileUse() {
        if (end_ != nullptr) {
            end_();
        }
    }
    TileUse(const TileUse&) = delete;
    TileUse& operator=(const TileUse&) = delete;

private:
    void (*end_)();
};

}  // namespace heptad::cpu
