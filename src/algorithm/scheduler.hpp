// How make_schedule works, in three steps that share these types:
//
//   SchedulerGraph   the algorithm as values: sums of A, sums of B, products, and accumulators for sums of products
//   search_orders    orders of the products that keep few values alive (beam search)
//   record, allocate the operations of one order, and a slot (block of C or temporary) for every value
#pragma once

#include <cstdint>
#include <vector>

#include "algorithm/linear_program.hpp"
#include "algorithm/schedule.hpp"

namespace heptad {

/// Sums of the blocks of one operand. Values 0 .. inputs-1 are the blocks, then one per statement.
struct OperandGraph {
    int inputs = 0;
    std::vector<LinearStatement> statements;
    std::vector<int> operand;                 // the value that product s takes
    std::vector<int> uses;                    // per value: products and statements that read it
    std::vector<std::vector<int>> consumers;  // per value: the statements that read it
};

/// A sum of products. Values 0 .. rank-1 are the products, then one per accumulator.
struct Accumulator {
    std::vector<LinearTerm> terms;
    int output = -1;  // block of C that it is; -1: only read by other accumulators
};

struct SchedulerGraph {
    int m = 1, k = 1, n = 1, rank = 0;
    bool accumulates = false;  // C = C + A*B
    OperandGraph a, b;
    std::vector<Accumulator> accumulators;
    std::vector<int> first_term;              // per accumulator: number of its first term, all terms counted through
    std::vector<int> uses;                    // per value: accumulators that read it
    std::vector<std::vector<int>> consumers;  // per value: which accumulators

    int additions() const;
};

/// The same values up to factors, each with coprime integer coefficients. As no program cancels, every coefficient is
/// then in the ring of the matrix: sharing may have divided (x + 1/3 y), which Z[1/2] does not allow.
LinearProgram with_coprime_coefficients(const LinearProgram& program);
/// Precondition: the programs compute U, V and the transpose of W. Throws Error(input) on an empty row.
SchedulerGraph make_graph(const Algorithm& algorithm, const LinearProgram& sums_a, const LinearProgram& sums_b,
                          const LinearProgram& sums_c, bool accumulate);

/// What an order of products has to do, before slots are known. Registers are written once, except by `+=` products.
struct RecordedOp {
    bool product = false;
    int target = -1;  // register
    struct Term {
        Symbol symbol;  // an input block where reg < 0
        int reg = -1;
        Rational coefficient = 1;
    };
    std::vector<Term> terms;  // combine: the sum; product: left, right
    ScheduleStep::Update update = ScheduleStep::Update::store;
};

struct Recording {
    std::vector<RecordedOp> ops;
    std::vector<Shape> shapes;         // of every register
    std::vector<int> old_c;            // register that holds the old C_l; empty unless accumulating
    std::vector<int> final_registers;  // register that ends as C_l
};

struct ProductOrder {
    std::vector<int> products;
    int temporaries = 0;  // lower bound: more may be needed because the blocks of C must end with their own values
};

/// Orders that need at most `limit` temporaries, fewest first; deterministic.
std::vector<ProductOrder> search_orders(const SchedulerGraph& graph, int limit);
Recording record_order(const SchedulerGraph& graph, const std::vector<int>& order);
/// Where a value goes when several free slots would do.
enum class SlotPreference : std::uint8_t {
    in_place,  // the block of C it will end in, or the place of a value that dies
    best_fit,  // the block of C that is needed soonest after the value's end
};
/// Gives every register a slot and writes steps and temporaries; the header is left to the caller.
Schedule allocate_slots(const SchedulerGraph& graph, const Recording& recording, SlotPreference preference);

}  // namespace heptad
