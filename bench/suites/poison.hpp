// Something that is not the result, where one is to be made.
#pragma once

#include <cstdint>

#include <heptad/bits.hpp>

namespace heptad::cli {

/// By all cores: one takes seconds for what a device multiplies in as many.
void poison_bytes(void* memory, std::int64_t bytes);
inline void poison(BitMatrix& c) {
    poison_bytes(c.view().words, c.rows() * c.stride() * 8);
}

}  // namespace heptad::cli
