// What P3 measured, beside which `heptad bench p3` prints.
#pragma once

#include <cstdint>
#include <span>

namespace heptad::cli {

/// A line of P3's table 13: seconds on a DGX-1 with up to eight V100, operands in host memory, the right one transposed
/// and both in the right basis beforehand (not timed there). Then picojoules per bit operation from its tables 9 and
/// 11, which P3 computed from the rated power of processors and GPUs.
struct P3Line {
    std::int64_t n;
    double cubic_s, boolean_s, winograd_s, self_inverse_s, chaining_s;
    double boolean_pj, self_inverse_pj;
};
std::span<const P3Line> p3_table_13();
/// Null where the table has no such n.
const P3Line* p3_line(std::int64_t n);

/// Lines of P3's tables 6 and 7: seconds on the processors of a DGX-1 for turning all 64 x 64 submatrices, and for the
/// changes of basis of the self-inverse algorithm.
struct P3Passes {
    std::int64_t n;
    double transpose_s, forward_s, inverse_s;
};
/// Null where the tables have no such n.
const P3Passes* p3_passes(std::int64_t n);

}  // namespace heptad::cli
