// What a stream keeps of the residues of one operand from product to product, as launches take it.
#pragma once

#include <algorithm>

#include "base/device_layout.hpp"
#include "kernels/cuda/residue/residue_kept.hpp"

namespace heptad::cuda {

/// And where the operand of the product at hand begins in it.
struct KeptOperand : KeptResidues {
    std::int64_t first = 0, measured = 0;  // line of the operand's first; lines from the first of all on that are known

    std::uint8_t* at(std::int64_t bytes) const { return static_cast<std::uint8_t*>(memory) + bytes; }
    MadeLines made(std::int64_t line) const {
        return {reinterpret_cast<std::int32_t*>(at(0)) + line,
                reinterpret_cast<std::int32_t*>(at(made_bytes())) + line};
    }
    MeasuredLines measured_lines(std::int64_t count) const {
        return {at(2 * made_bytes() + first * kNormPartBytes), lines,
                std::clamp<std::int64_t>(measured - first, 0, count)};
    }
    BytePlanes planes(std::int64_t line, BytePlanes like) const {
        like.data = at(notes_bytes() + line * line_bytes());
        like.plane_bytes = plane_bytes();
        return like;
    }
};

/// Of the product under way: planes that were made among those that are kept, in place of the workspace's.
class PlanesInPlace {
public:
    void put(int operand, const void* place, const BytePlanes& planes) { all_[operand] = {place, planes}; }
    /// The place has planes of its own from now on.
    void forget(const void* place) {
        for (Pair& one : all_) {
            one = one.place == place ? Pair{} : one;
        }
    }
    /// Those in place of these, or these.
    BytePlanes found(const BytePlanes& planes) const {
        for (const Pair& one : all_) {
            if (one.place != nullptr && one.place == planes.data) {
                return one.planes;
            }
        }
        return planes;
    }

private:
    struct Pair {
        const void* place = nullptr;
        BytePlanes planes;
    } all_[2];
};

}  // namespace heptad::cuda
