// Fills in the kernels for products of residues of one instruction set. Only for microkernel_<set>.cpp.
#pragma once

#include "kernels/cpu/microkernel.hpp"
#include "kernels/cpu/residue_bytes.hpp"
#include "kernels/cpu/residue_entries.hpp"

namespace heptad::cpu {
namespace {

constexpr ByteKernels byte_kernels(const char* name, decltype(ByteKernels::tile) tile) {
    ByteKernels kernels{};
    kernels.name = name;
    kernels.tile = tile;
    kernels.remainders = sum_remainders;
    kernels.integers_f32 = chunk_integers<float>;
    kernels.integers_f64 = chunk_integers<double>;
    kernels.residues_of_a = residues_of_chunk<false>;
    kernels.residues_of_b = residues_of_chunk<true>;
    kernels.entries = entries_of_tile;
    return kernels;
}

}  // namespace
}  // namespace heptad::cpu
