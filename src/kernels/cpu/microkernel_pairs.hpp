// Numbers out of pairs of bf16, for the tiles that stand in where an instruction would take a number for zero.
// Only for microkernel_<set>.cpp.
#pragma once

#include "kernels/cpu/microkernel_vector.hpp"

namespace heptad::cpu {
namespace {

/// The first (even depth) and the second (odd depth) numbers of pairs.
struct Halves {
    Vector<float> even, odd;
};
HEPTAD_INLINE Halves halves(Vector<std::uint32_t> pairs) {
    return {reinterpret_cast<Vector<float>>(pairs << 16), reinterpret_cast<Vector<float>>(pairs & 0xffff0000U)};
}
HEPTAD_INLINE Vector<std::uint32_t> load_pairs(const std::uint16_t* from) {
    return load_as<Vector<std::uint32_t>>(from);
}
/// One pair in all places.
HEPTAD_INLINE Vector<std::uint32_t> repeat_pair(const std::uint16_t* from) {
    return broadcast(load_as<std::uint32_t>(from));
}

}  // namespace
}  // namespace heptad::cpu
