// Which calls are taken over: a table of sizes, so that the others cost one comparison.
//
// A fast product pays from a size on that depends on the type and on the processor's kernel, and needs more levels the
// larger it is. The sizes were measured (docs/drop-in.md); what they count is the smallest of m, k and n.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "api/drop_in/knobs.hpp"
#include "api/drop_in/pass_on.hpp"
#include "base/types.hpp"
#include "base/view.hpp"

namespace heptad::blas {

using drop_in::Knobs;
using drop_in::knobs;
using drop_in::PassOn;

/// The four types that there are entries for, in a row: f32, f64, c64, c128.
constexpr std::size_t type_index(Type type) {
    return (type == Type::f64 || type == Type::c128 ? 1U : 0U) + (is_complex(type) ? 2U : 0U);
}
inline constexpr std::size_t kTypes = 4;
using Limits = std::array<std::atomic<std::int64_t>, kTypes>;

/// Calls whose smallest size is below go to the real function, wrong arguments among them.
extern constinit Limits smallest_sides;

/// The one question that every call is asked.
template <class T>
bool is_small(std::int64_t m, std::int64_t n, std::int64_t k) {
    const std::int64_t limit = smallest_sides[type_index(TypeOf<T>::value)].load(std::memory_order_relaxed);
    return m < limit || n < limit || k < limit;
}

/// The same for the product inside of a triangle (triangle.hpp), which is half of the work at most.
extern constinit Limits smallest_sides_in_triangles;

template <class T>
bool is_small_in_triangle(std::int64_t side, std::int64_t k) {
    const std::int64_t limit =
        smallest_sides_in_triangles[type_index(TypeOf<T>::value)].load(std::memory_order_relaxed);
    return side < limit || k < limit;
}

/// From the environment and the table; costs nothing the second time.
void set_smallest_sides();

/// On this processor our classical product is faster than libraries', for all that is not small.
bool classical_leads(Type type);

/// How many levels of a * b are worth while. Of real types; 0: none, and unless classical_leads(), the real function is
/// faster.
int levels_for(const ConstView& a, const ConstView& b, int threads);

/// Of complex types: three real products in place of one complex one, with or without levels.
bool three_products_pay(const ConstView& a, const ConstView& b, int threads);

}  // namespace heptad::blas
