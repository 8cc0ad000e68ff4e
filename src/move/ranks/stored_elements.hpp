// The 16-bit floats of files. Ranks multiply, send and add them as f32, which holds each of them exactly: partial
// results of 16 bits would be rounded one by one, and so every element of C is rounded once, when it is written.
#pragma once

#include <cstdint>

#include <heptad/heptad.hpp>

namespace heptad {

/// What the elements of a file are in memory: f32 for bf16 and f16, the same type for all others.
Type type_in_memory(Type stored);

/// `count` elements of bf16 or f16 as f32.
void widen(Type stored, const void* from, std::int64_t count, float* to);
/// The other way, each rounded to the nearest.
void narrow(Type stored, const float* from, std::int64_t count, void* to);

}  // namespace heptad
