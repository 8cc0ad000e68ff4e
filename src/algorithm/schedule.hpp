// A schedule is a straight-line program for one level of an algorithm over block symbols:
//
//   T1 = A21 + A22              a combine: one block from a sum of blocks
//   (C12, C11) = (C11 + C12 + T1, C11 + C21 + T1)    a combine with several outputs; all right sides are read first
//   C22 = T1 * T2               a product; also C22 += T1 * T2 and C22 -= T1 * T2
//
// Blocks are numbered from 1 as in the papers: A21 is row 2, column 1 (A_10_2 beyond nine). Terms may have
// coefficients (`-2*A11`, `1/2*T1`), `T1 += A11` is short for `T1 = T1 + A11`, and ` @mulIncInc` at the end of a line
// says which fused kernel of a paper the line belongs to: neighbours with the same word are one kernel
// (`@mulIncInc#2` where it follows itself). `#` at the start of a line or after a blank opens a comment.
//
// The text (.sched) opens with a header, one entry a line, then come the steps:
//
//   schedule NAME              algorithm NAME             size m k n            source where it is from
//   ring Z | Z[1/2] | Q | GF(2)      the ring it holds over; Z, valid over every ring, unless told
//   temporaries T1 T2          accumulates                overwrites A B
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "algorithm/algorithm.hpp"
#include "algorithm/linear_program.hpp"

namespace heptad {

enum class SymbolKind : std::uint8_t { a, b, c, temporary };

struct Symbol {
    SymbolKind kind = SymbolKind::temporary;
    int index = 0;  // block number, row by row, from 0; or the temporary's number
    bool operator==(const Symbol&) const = default;
    auto operator<=>(const Symbol&) const = default;
};

/// What a block holds decides its shape: A-like blocks are (m/M x k/K), B-like (k/K x n/N), C-like (m/M x n/N).
enum class Shape : std::uint8_t { a, b, c };

struct ScheduleTerm {
    Symbol symbol;
    Rational coefficient = 1;
};

struct CombineOutput {
    Symbol target;
    std::vector<ScheduleTerm> terms;  // empty: zero
};

struct ScheduleStep {
    enum class Kind : std::uint8_t { combine, product } kind = Kind::combine;
    std::string kernel;  // fused kernel of the paper that this step belongs to, e.g. "mulIncInc"; may be empty
    int line = 0;        // of the text, for messages
    // combine: all outputs are computed from the values before the step
    std::vector<CombineOutput> outputs;
    // product: target (=, +=, -=) left * right
    Symbol target, left, right;
    enum class Update : std::uint8_t { store, add, subtract } update = Update::store;
    // product, filled in by prove_schedule: nothing reads this operand's value after the step and the schedule may
    // write its block, so a recursive product may destroy it
    bool left_dies = false, right_dies = false;
};

struct Temporary {
    std::string name;
    std::vector<Shape> holds;  // every shape it holds at some time, sorted, without repeats (filled in by the prover)
};

struct Schedule {
    std::string name;
    std::string algorithm;  // name of the algorithm it carries out
    std::string source;
    Ring ring = Ring::integers;
    int m = 2, k = 2, n = 2;
    bool accumulates = false;        // computes C = C + A*B; otherwise C = A*B and C is never read before it is written
    bool overwrites_inputs = false;  // may write blocks of A (overwrites_a) or B (overwrites_b)
    bool overwrites_a = false, overwrites_b = false;
    std::vector<Temporary> temporaries;
    std::vector<ScheduleStep> steps;
    // filled in by prove_schedule:
    bool square_blocks_only = false;  // a block of A, B or C holds a value of another shape, or a product is in place
    bool operands_die = false;        // every product may destroy both operands: the recursion may overwrite them too
};

/// "A21", "A_10_2", or the name of the temporary.
std::string symbol_name(const Schedule& schedule, Symbol symbol);
/// One step in the notation of the text format.
std::string print_step(const Schedule& schedule, const ScheduleStep& step);

/// Reads .sched text. Errors are Error(input) and start with "FILE:LINE: ".
Schedule parse_schedule(const std::string& text, const std::string& file_name);

/// Runs the schedule over block symbols: every block of C must end as its polynomial of A*B (plus C where it
/// accumulates). Also checks shapes and that a product's target is neither operand unless the product is in place,
/// in which case both operands count as destroyed. Fills in the derived fields. Empty when it holds, otherwise a
/// sentence.
std::string prove_schedule(Schedule& schedule, Ring ring);
/// The same against what U, V and W of the algorithm compute, its changes of basis left aside: the core of an
/// alternative basis is no matrix product by itself.
std::string prove_schedule_of(Schedule& schedule, const Algorithm& algorithm);

/// A low-memory schedule for any algorithm in the standard basis, right for blocks of any shape: products one after
/// another, shared sums, temporaries used again. Deterministic. What `sums` compute need not be the matrix product: the
/// core of an alternative basis can be scheduled too, once its `basis` is reset. `accumulate`: C = C + A*B. Throws
/// Error(usage) for an algorithm with changes of basis (use flattened()).
Schedule make_schedule(const Algorithm& algorithm, const LevelSums& sums, bool accumulate);

/// Shipped schedules, proven when first asked for.
const Schedule& find_schedule(const std::string& name);
std::vector<std::string> schedule_names();

}  // namespace heptad
