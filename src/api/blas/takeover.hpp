// Which calls are taken over: a table of sizes, so that the others cost one comparison.
//
// A fast product pays from a size on that depends on the type and on the processor's kernel, and needs more levels the
// larger it is. The sizes were measured (docs/drop-in.md); what they count is the smallest of m, k and n.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>

#include "api/drop_in/knobs.hpp"
#include "api/drop_in/pass_on.hpp"
#include "base/view.hpp"

namespace heptad::blas {

using drop_in::Knobs;
using drop_in::knobs;
using drop_in::PassOn;

/// By type: 0 f32, 1 f64. Calls whose smallest size is below go to the real function, wrong arguments among them.
extern constinit std::array<std::atomic<std::int64_t>, 2> smallest_sides;

template <class T>
inline constexpr std::size_t type_index = sizeof(T) == sizeof(double) ? 1 : 0;

/// The one question that every call is asked.
template <class T>
bool is_small(std::int64_t m, std::int64_t n, std::int64_t k) {
    const std::int64_t limit = smallest_sides[type_index<T>].load(std::memory_order_relaxed);
    return m < limit || n < limit || k < limit;
}

/// The same for the product inside of a triangle (triangle.hpp). It is half of the work at most, so that it is worth
/// its while from two levels on.
extern constinit std::array<std::atomic<std::int64_t>, 2> smallest_sides_in_triangles;

template <class T>
bool is_small_in_triangle(std::int64_t side, std::int64_t k) {
    const std::int64_t limit = smallest_sides_in_triangles[type_index<T>].load(std::memory_order_relaxed);
    return side < limit || k < limit;
}

/// From the environment and the table; costs nothing the second time.
void set_smallest_sides();

/// How many levels of a * b are worth while; 0: none, the real function is faster.
int levels_for(const ConstView& a, const ConstView& b, int threads);

}  // namespace heptad::blas
