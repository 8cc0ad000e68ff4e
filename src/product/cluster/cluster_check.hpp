// Is C = alpha * A * B + beta * C0, where each rank has parts of the matrices? With random vectors X every rank
// multiplies what it holds, and the sums of all ranks are compared at the root:
//
//   Y = sum of B parts * X                                     summed for everybody
//   D = sum of C parts * X - alpha * A parts * Y - beta * C0 parts * X       summed at the root: zero but for rounding
//
// i32, i64, gf2: 64 vectors, exact; a wrong C passes with probability at most 2^-64. Floats: 8 draws of random signs,
// times weights that keep small columns in sight, summed in a higher precision and judged by
// check/streamed_residual.hpp; complex ones by both parts (check/complex_lanes.hpp). bool has no subtraction: rows of C
// drawn at random, 512 of them, are recomputed, 64 in the bits of a word.
//
// A message of (k + m) * 64 to 256 bytes per rank; A, B and C are read once more, B twice for floats, by other ranks
// than those that multiplied: what a rank read wrongly, or from another file, it would read so again.
#pragma once

#include "check/verify.hpp"
#include "product/cluster/rank_work.hpp"

namespace heptad {

/// Who reads what for the check.
struct CheckReaders {
    std::int64_t distance = 1;          // a rank reads the parts of the rank so far from it
    bool root_reads_operands = false;   // because the others have no files
    bool all_read_own_results = false;  // because nobody else has them
};

/// What one rank reads: together the ranks read every element of each matrix once.
struct CheckedWindows {
    std::vector<Window> a, b, c;
};
CheckedWindows checked_windows(const ProductPlan& plan, std::int64_t rank, const CheckReaders& readers);

struct CheckWork {
    const ProductPlan& plan;
    Communicator& ranks;
    CheckedWindows windows;
    const MatrixWindows* a = nullptr;  // where there are windows of them
    const MatrixWindows* b = nullptr;
    const MatrixWindows* c0 = nullptr;  // where beta is not zero
    const WindowWriter* result = nullptr;
    Type stored = Type::f32;  // what the elements of C were rounded to
    const NodeSettings& node;
    StageTrace& trace;
};

/// Called by every rank after all parts of C are written. The root has the result, the others one that passed. Throws
/// Error(verification) at the root alone where C is wrong.
VerifyResult check_result(const CheckWork& work);

/// What that takes of a rank's memory at the same time, at most: the sums of all rows, those of another rank while they
/// are merged, and one part of a matrix. `adds`: there is a C0.
std::int64_t check_bytes(const ProductPlan& plan, const CheckedWindows& windows, bool adds);

}  // namespace heptad
