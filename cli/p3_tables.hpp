// What P3 measured, beside which `heptad bench p3` prints.
#pragma once

#include <cstdint>
#include <span>

namespace heptad::cli {

/// A line of P3's table 13: seconds on a DGX-1 with eight V100, operands in host memory, the right one transposed and
/// both in the right basis beforehand (not timed there).
struct P3Line {
    std::int64_t n;
    double cubic_s, boolean_s, winograd_s, self_inverse_s, chaining_s;
};
std::span<const P3Line> p3_table_13();
/// Null where the table has no such n.
const P3Line* p3_line(std::int64_t n);

}  // namespace heptad::cli
