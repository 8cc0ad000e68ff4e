// Slots of a combine pass that are the same memory. Shared by all backends, like the meaning of the coefficients.
#pragma once

#include <cstddef>
#include <vector>

#include "base/view.hpp"

namespace heptad {

/// For every slot the first slot with the same memory: equal views are one value of the pass. Scratch stays apart.
inline std::vector<std::size_t> first_equal_slots(const std::vector<View>& slots) {
    std::vector<std::size_t> first(slots.size());
    for (std::size_t s = 0; s < slots.size(); ++s) {
        first[s] = s;
        for (std::size_t t = 0; t < s && slots[s].data != nullptr; ++t) {
            if (slots[t].data == slots[s].data) {
                first[s] = t;
                break;
            }
        }
    }
    return first;
}

}  // namespace heptad
