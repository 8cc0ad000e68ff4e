// One level of a product over GF(2) as straight-line programs over quarters: what is added, multiplied and added again,
// in an order that needs one sum of A (T), one of B (S) and at most two products (Q and P) at a time. Quarters are
// numbered 0 1 / 2 3. Read from algorithms/schedules/bits-*.sched, which are proven.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "algorithm/level_terms.hpp"

namespace heptad::bits {

/// Where a product goes: a quarter of C (0 to 3) or a temporary.
inline constexpr int kTemporaryQ = 4, kTemporaryP = 5;

/// to ^= from, where `to` is a quarter of C or Q, and `from` is Q, P or another quarter of C. The first one into a
/// quarter assigns. Where C held something before the level began, what a quarter held must not go to another: it is
/// added to that one twice, once before the quarter's first such product.
struct Addition {
    int to, from;
};

/// One product and the additions that follow it.
struct Step {
    unsigned a, b;  // quarters that are summed, one bit each
    int target;
    bool adds;  // to what the temporary holds; a quarter of C is always added to
    std::vector<Addition> additions;
};

/// X[to] ^= X[from].
struct Change {
    int to, from;
    bool operator==(const Change&) const = default;
};

struct LevelProgram {
    std::string name;
    std::vector<Step> steps;
    /// Into the basis of the program, for A and B alike, and out of it, for C. Empty: the standard basis.
    std::vector<Change> into, out_of;
    /// The result comes in the basis that the operands are wanted in.
    bool chains = false;
    /// An order of the steps in which what C held can be added beforehand while products are under way: the first
    /// step's quarter after it, the other quarters beside it. Empty: no step adds a quarter to another.
    std::vector<std::size_t> order_onto_c = {};
};

/// One of each schedule, in the order of their names.
std::span<const LevelProgram> level_programs();
/// Of a schedule, or of any algorithm that halves the sides and takes seven products over GF(2), also from a file.
/// Throws Error(usage), listing the names of the first. The reference stays valid.
const LevelProgram& find_level_program(const std::string& name);

/// The program that "auto" takes: one whose products go straight to quarters of C rather than one that holds them, and
/// then the one with the fewest additions.
const LevelProgram& usual_level_program();

/// Does a product wait in a temporary for its quarters of C?
bool holds_products(const LevelProgram& program);

/// The quarters of C that product number `step` is part of, one bit each.
unsigned destinations(const LevelProgram& program, std::size_t step);
/// The products of the program in the order of its steps: as sums of quarters in its own basis, or of standard ones.
enum class ProgramBasis : std::uint8_t { own, standard };
LevelTerms level_terms(const LevelProgram& program, ProgramBasis basis);

/// How the next sum is made in a temporary that holds the sum `held` (0: nothing) already.
struct SumStep {
    unsigned terms;  // quarters to read
    bool adds;       // to what is held
};
SumStep sum_step(unsigned wanted, unsigned held);

/// Additions and multiplications of single bits, carried out down to 1 x 1 (n = 2^levels).
struct OperationCount {
    std::int64_t additions = 0, multiplications = 0;
};
OperationCount count_operations(const LevelProgram& program, int levels);

}  // namespace heptad::bits
