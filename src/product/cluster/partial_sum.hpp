// to += from in the type's arithmetic: how partial results of C are added.
#pragma once

#include <cstdint>

#include <heptad/heptad.hpp>

namespace heptad {

/// `count` elements side by side, on that many threads. Precondition: a type in memory (stored_elements.hpp).
void add_partial_sum(Type type, void* to, const void* from, std::int64_t count, int threads);
/// to += factor * from. Precondition: likewise, and not bool, which has no factors.
void add_multiple(Type type, void* to, const void* from, std::int64_t count, int factor, int threads);

}  // namespace heptad
