// to += from in the type's arithmetic: how partial results of C are added.
#pragma once

#include <cstdint>

#include <heptad/heptad.hpp>

namespace heptad {

/// May partial results of this type be kept and added? Not the 16-bit floats, which would round every one of them.
bool has_partial_sums(Type type);

/// `count` elements side by side, on that many threads. Precondition: has_partial_sums(type).
void add_partial_sum(Type type, void* to, const void* from, std::int64_t count, int threads);
/// to += factor * from. Precondition: has_partial_sums(type), and not bool, which has no factors.
void add_multiple(Type type, void* to, const void* from, std::int64_t count, int factor, int threads);

}  // namespace heptad
